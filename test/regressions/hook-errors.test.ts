import '../support/patient-store'
import type { NextFunction, Request, Response } from 'express'
import { loggedInBrowserAt, type RunningSite, startSite, withPages } from './support'

/* A hook that throws something that Express does not take for an error: the error handler runs, and no page without its guard. */

let site: RunningSite
afterEach(() => site.close())

const thrownValues = [undefined, null, '', 'route', 'router']

test.each(thrownValues)('shouldIdentify that throws %p reaches the error handler', async (thrown) => {
  const build = withPages((app) => {
    app.get('/', (req, res) => void res.send(`served, req.sso2 is ${typeof req.sso2}`))
    app.use(
      (error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(500).send(error.message),
    )
  })
  const shouldIdentify = () => {
    throw thrown
  }
  site = await startSite({ build, options: { shouldIdentify } })
  const { status, body } = await site.browser().visit(`${site.url}/`)
  expect(status).toBe(500)
  expect(body).toContain('A hook or view failed without an error')
})

test.each(thrownValues)('allow that throws %p keeps the page closed', async (thrown) => {
  const allow = () => {
    throw thrown
  }
  const build = withPages((app, sso) => {
    app.use('/admin', sso.requireLogin({ allow }))
    app.get('/admin', (_req, res) => void res.send('the page of administrators'))
    app.use(
      (error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(500).send(error.message),
    )
  })
  site = await startSite({ build })
  const browser = await loggedInBrowserAt(site)
  const { status, body } = await browser.visit(`${site.url}/admin`)
  expect(status).toBe(500)
  expect(body).toContain('A hook or view failed without an error')
})
