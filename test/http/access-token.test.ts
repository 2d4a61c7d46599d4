import express, { type Express, type Response } from 'express'
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
  app.get('/me', (req, res) => answer(res, req.sso2.api.get('/external/api/v1/me')))
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

test('a token that the REST API refuses early is renewed within the call', async () => {
  setup.emulator.faults.add({ operation: 'me', kind: 'status', code: 401, times: 1 })
  expect((await ask()).json).toMatchObject({ value: { item: { username: 'ada' } } })
  expect(statuses()).toEqual(['anon'])
  expect(setup.countCalls('token')).toBe(2)
})

test('parallel calls of parallel requests share one renewal', async () => {
  setup.emulator.faults.add({ operation: 'administrators', kind: 'status', code: 401, times: 6 })
  setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 150 })
  const answers = await Promise.all([ask('/thrice'), ask('/thrice'), ask('/thrice')])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(statuses()).toEqual(['anon'])
  expect(setup.countCalls('token')).toBe(2)
})

test('where no ticket comes the call says so in a typed way, and the next page load brings a new token through Identify', async () => {
  setup.emulator.faults.add({ operation: 'me', kind: 'status', code: 401, times: 1 })
  setup.emulator.faults.add({ operation: 'token', kind: 'status', code: 400, times: 1 })
  expect((await ask()).json).toEqual({
    code: 'ERR_SSO2_ACCESS_TOKEN',
    name: 'AccessTokenExpiredError',
    isExpired: true,
  })
  expect(view(await browser.fetchJson(`${setup.morning.url}/any`))).toMatchObject({ status: 'loggedin' })
  const page = await browser.visit(`${setup.morning.url}/page?a=1`)
  expect(page.trail.map(({ url }) => new URL(url).pathname)).toEqual([
    '/page',
    '/sso/identify',
    '/sso2/landing',
    '/page',
  ])
  expect(view(page)).toMatchObject({ status: 'loggedin', username: 'ada', url: '/page?a=1' })
  expect((await ask()).json).toMatchObject({ value: { item: { username: 'ada' } } })
  expect((await browser.visit(`${setup.morning.url}/page`)).trail).toHaveLength(1)
})

test('with the SSO system away the call says that, and the user stays logged in', async () => {
  setup.emulator.faults.add({ operation: 'me', kind: 'status', code: 401 })
  setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  expect((await ask()).json).toMatchObject({ code: 'ERR_SSO2_UNAVAILABLE', isExpired: false })
  setup.emulator.faults.clear()
  expect(view(await browser.fetchJson(`${setup.morning.url}/any`))).toMatchObject({ username: 'ada' })
})

test('a renewal that finds the session ended elsewhere ends it here', async () => {
  const [session] = setup.emulator.sessions().filter(({ status }) => status === 'loggedin')
  setup.emulator.faults.add({ operation: 'me', kind: 'status', code: 401, times: 1 })
  setup.emulator.terminate(session?.sid ?? '')
  expect((await ask()).json).toMatchObject({ isExpired: true })
  expect(view(await browser.fetchJson(`${setup.morning.url}/any`))).toMatchObject({ status: 'none' })
})
