import express from 'express'
import { addPages, grace, loggedInBrowser, logInAtLast, useSetup, view, visitor } from '../support/setup'

const setup = useSetup({
  build: (sso, gates) => {
    const app = express().use(sso)
    app.get('/regenerate', (req, res, next) => {
      req.session.regenerate((error) => {
        if (error) return next(error)
        Object.assign(req.session, { saved: `of ${req.sso2.user?.accountId}` })
        res.json({})
      })
    })
    return addPages(app, sso, gates)
  },
})

test('[S20] what a handler writes for its user after regenerate() is not shown to the next user of the browser', async () => {
  const browser = await loggedInBrowser(setup)
  expect((await browser.fetchJson(`${setup.morning.url}/regenerate`)).status).toBe(200)
  await browser.visit(`${setup.evening.url}/`)
  await browser.submit(`${setup.evening.url}/logout`, { return_to: '/' })
  setup.emulator.clock.advance(2)
  await logInAtLast(browser, setup.evening, grace)
  setup.emulator.clock.advance(2)
  const page = view(await browser.visit(`${setup.morning.url}/`))
  expect([page.username, page.saved]).toEqual(['grace', undefined])
})

test('[L2] regenerate() in a request with the cookie from before a login leaves the cookie of the login', async () => {
  const browser = await visitor(setup)
  const cookie = `sso2.sid=${browser.cookie('sso2.sid')}`
  await logInAtLast(browser, setup.morning)
  const { headers } = await setup.browser().fetchJson(`${setup.morning.url}/regenerate`, { headers: { cookie } })
  expect(headers['set-cookie']).toBeUndefined()
})
