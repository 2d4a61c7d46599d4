/** Serves the admin portal: one page, one style sheet, one script. */
import { type RequestHandler, Router } from 'express'
import { loopbackHostOnly } from '../control/guard'
import type { Runtime } from '../runtime'
import { portalPage } from './page'
import { portalScript } from './script'
import { portalStyle } from './style'
import { portalView } from './view'

/** Nothing from elsewhere, nothing inline, no frame around it. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The portal as a router. */
export function portalRouter(runtime: Runtime): Router {
  const router = Router()
  router.get('/', loopbackHostOnly, (_req, res) => {
    res.setHeader('content-security-policy', policy)
    res.setHeader('referrer-policy', 'no-referrer')
    res.setHeader('cache-control', 'no-store')
    res.type('html').send(portalPage(portalView(runtime)))
  })
  router.get('/_emulator/portal.css', asset('css', portalStyle))
  router.get('/_emulator/portal.js', asset('js', portalScript))
  return router
}

function asset(type: string, text: string): RequestHandler {
  return (_req, res) => {
    res.setHeader('cache-control', 'no-cache')
    res.type(type).send(text)
  }
}
