import '../support/patient-store'
import cookieSession from 'cookie-session'
import express, { type ErrorRequestHandler } from 'express'
import { addPages, sessionSecret } from '../flows/setup'
import { startSite } from './support'

/** Each session that is not of express-session is in test/web/session-surroundings.test.ts. */
test('cookie-session in the place of a session is refused at the first request, and the error says why', async () => {
  const cookies = cookieSession({ name: 'own', secret: sessionSecret })
  const problem: ErrorRequestHandler = (error, _req, res, _next) => void res.status(500).json({ error: String(error) })
  const site = await startSite({
    build: (sso, gates) =>
      addPages(express().use(cookies, sso.session, sso.router, sso.middleware), sso, gates).use(problem),
  })
  const { status, json } = await site.browser().fetchJson(`${site.url}/`)
  await site.close()
  expect([status, json.error]).toEqual([500, expect.stringMatching(/express-sso2: .*express-session.*cookie-session/)])
})
