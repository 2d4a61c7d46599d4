import type { Express, Request, Response } from 'express'
import { type Sso2, Sso2Error } from '../../lib'
import { ada, type Gates, type PageView, viewOf } from './setup'
import type { Barrier } from './turnstile'

declare module 'express-session' {
  interface SessionData {
    basket?: string[]
  }
}

export type BasketView = Omit<PageView, 'url' | 'saved'> & { basket: string[] }

/** Pages that a site may have: a basket, calls of the REST API, a look at the SSO system, a long answer. */
export function addPausablePages(app: Express, sso: Sso2, gates: Gates, together: Barrier): Express {
  app.get('/basket', (req, res) => void res.json(basketOf(req)))
  app.get('/put', async (req, res) => {
    req.session.basket ??= []
    req.session.basket.push(String(req.query['item'])) // a change deep inside
    if (req.query['then'] === 'forget and check') {
      delete req.session.saved
      await req.sso2.check()
    }
    res.json(basketOf(req))
  })
  app.get('/api', (req, res) =>
    req.sso2.api.get('/external/api/v1/me').then(
      () => res.json({}),
      (error: unknown) => {
        if (!(error instanceof Sso2Error)) throw error
        res.status(503).json({ code: error.code })
      },
    ),
  )
  const gateOf = (req: Request) => gates.wait(String(req.query['gate']))
  const passed = (req: Request, res: Response) => void res.json({ passed: true, status: req.sso2.status })
  app.get('/gated-check', async (req, res) => {
    await gateOf(req)
    const check = await req.sso2.check()
    res.json({ check, ...basketOf(req) })
  })
  app.get(
    '/gated-sensitive',
    (req, _res, next) => void gateOf(req).then(next),
    sso.requireLogin({ fresh: true }),
    passed,
  )
  app.get('/together', (_req, _res, next) => void together.pass().then(next), sso.requireLogin({ fresh: true }), passed)
  app.get('/stream', async (req, res) => {
    res.setHeader('content-type', 'text/event-stream').write('data: hello\n\n')
    await gateOf(req)
    const word = await req.sso2.check().catch((error: unknown) => `threw ${String(error)}`)
    res.end(`data: ${word}\n\n`)
  })
  app.post('/enter', async (req, res) => {
    const result = await req.sso2.login(ada)
    if (req.query['gate']) await gateOf(req)
    if (req.query['then'] === 'check') await req.sso2.check()
    res.json({ result, status: req.sso2.status })
  })
  app.post('/leave-all', async (req, res) => {
    if (req.query['gate']) await gateOf(req)
    res.json({ result: await req.sso2.logoutAll() })
  })
  return app
}

function basketOf(req: Request): BasketView {
  const { url: _url, saved: _saved, ...seen } = viewOf(req)
  return { ...seen, basket: req.session.basket ?? [] }
}
