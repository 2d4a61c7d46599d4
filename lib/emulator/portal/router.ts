/** Serves the admin portal. */
import { Router } from 'express'
import { loopbackHostOnly } from '../guard'
import type { Runtime } from '../runtime'

/** The portal as a router. */
export function portalRouter(_runtime: Runtime): Router {
  const router = Router()
  router.get('/', loopbackHostOnly, (_req, res) => {
    res.type('text').send('SSO2 emulator')
  })
  return router
}
