import cookieSession from 'cookie-session'
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import { addPages, sessionSecret, view } from '../flows/network'
import { loggedInUser, type RunningSite, startSite } from './support'

const problem: express.ErrorRequestHandler = (error, _req, res, _next) => res.status(500).json({ error: String(error) })

/** A site that mounts something of its own before ours. */
const stageBehind = (handlers: readonly RequestHandler[]): Promise<RunningSite> =>
  startSite({
    build: (sso, gates) =>
      addPages(express().use(...handlers, sso.session, sso.router, sso.middleware), sso, gates).use(problem),
  })

const cookies = cookieSession({ name: 'own', secret: sessionSecret })

/** Each session that is not of express-session is in test/web/session-surroundings.test.ts. */
test('cookie-session in the place of a session is refused at the first request, and the error says why', async () => {
  const stage = await stageBehind([cookies])
  try {
    const { status, json } = await stage.browser().fetchJson(`${stage.url}/`)
    expect(status).toBe(500)
    expect(json.error).toMatch(/express-sso2: .*express-session.*cookie-session/)
    expect((await stage.browser().visit(`${stage.url}/login`)).status).toBe(500)
  } finally {
    await stage.close()
  }
})

test('a session of express-session, with a cookie-session beside it for something else, is taken', async () => {
  const own = session({ secret: sessionSecret, resave: false, saveUninitialized: false })
  const beside: RequestHandler = (req, res, next) => {
    const { session: first } = req
    cookies(req, res, () => {
      Object.defineProperty(req, 'preferences', { value: req.session })
      Object.defineProperty(req, 'session', { value: first, writable: true, configurable: true })
      next()
    })
  }
  const stage = await stageBehind([own, beside])
  try {
    const browser = await loggedInUser(stage)
    expect(view(await browser.visit(`${stage.url}/account`))).toMatchObject({ status: 'loggedin', username: 'ada' })
  } finally {
    await stage.close()
  }
})
