/** Serves the controls over HTTP, under `/_emulator`. */
import express, { Router } from 'express'
import type { Runtime } from '../runtime'
import { events } from './events'
import { sameOriginOnly } from './guard'
import { controlsOf } from './table'

/** Returns all controls as a router. */
export function controlRouter(runtime: Runtime): Router {
  const router = Router()
  router.use(sameOriginOnly(runtime), express.json({ limit: '64kb' }))
  for (const { method, path, status = 200, answer } of controlsOf(runtime)) {
    const route = router.route(path)
    const verb = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const
    route[verb[method]]((req, res) => res.setHeader('cache-control', 'no-store').status(status).json(answer(req)))
  }
  router.get('/events', events(runtime))
  return router
}
