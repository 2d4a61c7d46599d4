/** Serves the admin portal: its pages, the style sheet and the script. */
import { type RequestHandler, type Response, Router } from 'express'
import { browserOfSession, flowOfBrowser, flowOfSession } from '../control/flows'
import { ownHostOnly } from '../control/guard'
import { param } from '../control/request'
import { controlsOf } from '../control/table'
import type { Runtime } from '../runtime'
import { controlSummary, controlsPage } from './controls-page'
import { flowPage } from './flow-page'
import { portalPage } from './page'
import { portalScript } from './script'
import { portalStyle } from './style'
import { portalView } from './view'

/** Allows no foreign content, no inline code and no frame. */
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

const PORTAL = { href: '/', text: 'Admin portal' }

/** Returns the portal as a router. */
export function portalRouter(runtime: Runtime): Router {
  const router = Router()
  const controls = controlsOf(runtime)
  router.get('/', ownHostOnly(runtime), (_req, res) => sendPortalPage(res, portalPage(portalView(runtime))))
  router.get('/flows/sessions/:sid', ownHostOnly(runtime), (req, res) => {
    const browser = browserOfSession(runtime, param(req, 'sid'))
    const links = browser === undefined ? [] : [{ href: `/flows/browsers/${browser}`, text: 'All of this browser' }]
    sendPortalPage(res, flowPage(flowOfSession(runtime, param(req, 'sid')), [...links, PORTAL]))
  })
  router.get('/flows/browsers/:browser', ownHostOnly(runtime), (req, res) =>
    sendPortalPage(res, flowPage(flowOfBrowser(runtime, param(req, 'browser')), [PORTAL])),
  )
  router.get('/_emulator', ownHostOnly(runtime), (req, res) => {
    // curl accepts any type and therefore gets JSON
    if (req.accepts(['json', 'html']) === 'html')
      sendPortalPage(res, controlsPage(controls, `http://${req.headers.host}`))
    else res.json({ controls: controls.map(controlSummary) })
  })
  router.get('/_emulator/portal.css', asset('css', portalStyle))
  router.get('/_emulator/portal.js', asset('js', portalScript))
  return router
}

function sendPortalPage(res: Response, page: string): void {
  res.setHeader('content-security-policy', policy)
  res.setHeader('referrer-policy', 'no-referrer')
  res.setHeader('cache-control', 'no-store')
  res.type('html').send(page)
}

function asset(type: string, text: string): RequestHandler {
  return (_req, res) => {
    res.setHeader('cache-control', 'no-cache')
    res.type(type).send(text)
  }
}
