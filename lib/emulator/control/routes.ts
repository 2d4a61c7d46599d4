/** Serves the controls over HTTP, under `/_emulator`. */
import express, { type Response, Router } from 'express'
import type { Runtime } from '../runtime'
import { events } from './events'
import { sameOriginOnly } from './guard'
import { ControlError } from './request'
import { controlsOf } from './table'

/** Returns all controls as a router. */
export function controlRouter(runtime: Runtime): Router {
  const router = Router()
  router.use(sameOriginOnly(runtime), express.json({ limit: '64kb' }))
  for (const { method, path, status = 200, answer } of controlsOf(runtime)) {
    const route = router.route(path)
    const verb = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const
    route[verb[method]]((req, res) => respond(res, status, () => answer(req)))
  }
  router.get('/events', events(runtime))
  return router
}

function respond(res: Response, status: number, work: () => object): void {
  res.setHeader('cache-control', 'no-store')
  try {
    res.status(status).json(work())
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    res.status(error.httpStatus).json({ error: { code: error.code, message: error.message } })
  }
}
