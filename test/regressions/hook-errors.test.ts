import type { Express, NextFunction, Request, Response } from 'express'
import { loggedInBrowserAt, type RunningSite, startSite, withPages } from './support'

/* A hook that throws something that Express does not take for an error: the error handler runs, and no page without its guard. */

let site: RunningSite
afterEach(() => site.close())

const thrownValues = [undefined, null, '', 'route', 'router']

const addErrorHandler = (app: Express) =>
  app.use((error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(500).send(error.message))

async function expectError(path: string, browser = site.browser()): Promise<void> {
  const { status, body } = await browser.visit(`${site.url}${path}`)
  expect(status).toBe(500)
  expect(body).toContain('A hook or view failed without an error')
}

test.each(thrownValues)('shouldIdentify that throws %p reaches the error handler', async (thrown) => {
  const build = withPages((app) => {
    app.get('/', (req, res) => void res.send(`served, req.sso2 is ${typeof req.sso2}`))
    addErrorHandler(app)
  })
  const shouldIdentify = () => {
    throw thrown
  }
  site = await startSite({ build, options: { shouldIdentify } })
  await expectError('/')
})

test.each(thrownValues)('allow that throws %p keeps the page closed', async (thrown) => {
  const allow = () => {
    throw thrown
  }
  const build = withPages((app, sso) => {
    app.use('/admin', sso.requireLogin({ allow }))
    app.get('/admin', (_req, res) => void res.send('the page of administrators'))
    addErrorHandler(app)
  })
  site = await startSite({ build })
  await expectError('/admin', await loggedInBrowserAt(site))
})
