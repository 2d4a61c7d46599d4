import { inspect } from 'node:util'
import express from 'express'
import { addPages, loggedInBrowser, useSetup, view } from '../support/setup'

/* A handler that destroys req.session before it logs out, as sites of express-session do. And what a printed request shows. */

const setup = useSetup({
  build: (sso, gates) => {
    const app = express().use(sso)
    app.get('/inspect', (req, res) => void res.type('text').send(inspect(req, { depth: 12 })))
    app.get('/destroy', (req, res, next) => {
      const all = req.query['all'] !== undefined
      req.session.destroy(() => void (all ? req.sso2.logoutAll() : req.sso2.logout()).then((r) => res.json(r), next))
    })
    return addPages(app, sso, gates)
  },
})
test('destroy, then log out everywhere', async () => {
  const [one, two] = [await loggedInBrowser(setup), await loggedInBrowser(setup)]
  expect((await one.fetchJson(`${setup.morning.url}/destroy?all`)).json).toBe('confirmed')
  expect(view(await two.visit(`${setup.morning.url}/`)).status).toBe('anon')
  expect(view(await one.visit(`${setup.morning.url}/`)).status).toBe('anon')
})
test('destroy, then log out', async () => {
  const one = await loggedInBrowser(setup)
  expect((await one.fetchJson(`${setup.morning.url}/destroy`)).json).toBe('confirmed')
  expect(setup.countCalls('logout')).toBe(1)
  expect(view(await one.visit(`${setup.morning.url}/`)).status).toBe('anon')
})
test('a printed request shows no key', async () => {
  const one = await loggedInBrowser(setup)
  expect((await one.fetchJson(`${setup.morning.url}/inspect`)).body).not.toMatch(/<Buffer( [0-9a-f]{2}){32}>/)
})
