import express, { type Express, type Request, type Response } from 'express'
import { AccessTokenExpiredError, type Sso2, Sso2Error } from '../../lib'
import type { Browser } from '../support/agent'
import { browserCalls } from '../support/calls'
import { addPages, type Gates, loggedInBrowser, useSetup, view } from '../support/setup'

/** A site with pages that ask the REST API, and say in a typed way what went wrong. */
function build(sso: Sso2, gates: Gates): Express {
  const app = express().use(sso)
  const answer = (res: Response, asked: Promise<unknown>) =>
    asked.then(
      (value) => res.json({ value }),
      (error: unknown) => {
        if (!(error instanceof Sso2Error)) throw error
        const isExpired = error instanceof AccessTokenExpiredError
        res.status(503).json({ code: error.code, name: error.name, isExpired })
      },
    )
  const me = async ({ sso2 }: Request) => sso2.api.get('/external/api/v1/me')
  app.get('/me', (req, res) => answer(res, me(req)))
  app.get('/long', async (req, res) => {
    const { api } = req.sso2
    await gates.wait(String(req.query['gate']))
    return answer(res, api.get('/external/api/v1/me'))
  })
  app.get('/thrice', (req, res) => {
    const { api } = req.sso2
    return answer(res, Promise.all([api.administrators(), api.administrators(), req.sso2.api.marketplaceGroups()]))
  })
  return addPages(app, sso, gates)
}

const TOKEN_LIFE = 3600
const setup = useSetup({ build })
let browser: Browser

beforeEach(async () => {
  setup.emulator.reset()
  browser = await loggedInBrowser(setup)
  expect(view(await browser.visit(`${setup.morning.url}/`))).toMatchObject({ status: 'loggedin', username: 'ada' })
})

const ask = (path = '/me') => browser.fetchJson(`${setup.morning.url}${path}`)
const statuses = () => browserCalls(setup.emulator, 'sessionstatus').map(({ claims }) => claims?.['lks'])

test('the check before an access token ends asks for a ticket and renews the token, unnoticed', async () => {
  const session = browser.cookie('sso2.sid')
  setup.emulator.clock.advance(400)
  await browser.visit(`${setup.morning.url}/`)
  expect(setup.countCalls('token')).toBe(1) // far from its end: no ticket is asked for
  setup.emulator.clock.advance(TOKEN_LIFE - 700)
  expect(view(await browser.visit(`${setup.morning.url}/`))).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect(statuses()).toEqual(['loggedin', 'anon'])
  expect(setup.countCalls('token')).toBe(2)
  expect(browser.cookie('sso2.sid')).toBe(session)
  setup.emulator.clock.advance(350)
  expect((await ask()).json).toMatchObject({ value: { item: { username: 'ada' } } })
  expect(statuses()).toHaveLength(2)
})

test('a token that the REST API refuses early is renewed within the call, once for parallel calls', async () => {
  setup.emulator.clock.advance(31)
  setup.emulator.faults.add({ operation: 'administrators', kind: 'status', code: 401, times: 2 })
  expect((await ask('/thrice')).status).toBe(200)
  expect(statuses()).toEqual(['anon'])
  expect(setup.countCalls('token')).toBe(2)
})

test('no new token can be had → the call says so in a typed way, the user stays logged in, and a later call tries again', async () => {
  setup.emulator.clock.advance(31)
  setup.emulator.faults.add({ operation: 'me', kind: 'status', code: 401, times: 1 })
  setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down', times: 1 })
  const isExpired = { code: 'ERR_SSO2_ACCESS_TOKEN_EXPIRED', name: 'AccessTokenExpiredError', isExpired: true }
  expect((await ask()).json).toEqual(isExpired)
  setup.emulator.faults.add({ operation: 'token', kind: 'status', code: 400, times: 1 })
  expect((await ask()).json).toEqual(isExpired)
  expect((await ask()).json).toEqual(isExpired)
  expect(setup.countCalls('token')).toBe(2) // not for every call
  expect(view(await browser.fetchJson(`${setup.morning.url}/any`))).toMatchObject({ status: 'loggedin' })
  setup.emulator.clock.advance(31)
  expect((await ask()).json).toMatchObject({ value: { item: { username: 'ada' } } })
})

test('nobody is logged in, or no more → calls say so in a typed way, and nothing is sent', async () => {
  const anybody = await setup.browser().fetchJson(`${setup.morning.url}/me`)
  expect(anybody.json).toEqual({ code: 'ERR_SSO2_NOT_LOGGED_IN', name: 'NotLoggedInError', isExpired: false })
  const gate = setup.morning.gates.add()
  const long = ask(`/long?gate=${gate.name}`)
  await gate.arrived
  setup.emulator.clock.advance(TOKEN_LIFE + 1)
  await browser.submit(`${setup.morning.url}/logout`, {})
  gate.open()
  expect((await long).json).toMatchObject({ isExpired: true })
  expect(setup.countCalls('me')).toBe(1) // that of the login
})

test('a long request uses the token that another request has renewed meanwhile', async () => {
  const gate = setup.morning.gates.add()
  const long = ask(`/long?gate=${gate.name}`)
  await gate.arrived
  setup.emulator.clock.advance(TOKEN_LIFE + 1)
  await browser.visit(`${setup.morning.url}/`)
  gate.open()
  expect((await long).json).toMatchObject({ value: { item: { username: 'ada' } } })
  expect(setup.countCalls('token')).toBe(2)
})
