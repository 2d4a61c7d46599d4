import express from 'express'
import type { LoginResult, Sso2Options } from '../../lib'
import { defaultLoadUser } from '../../lib/web/actions/exchange-ticket'
import { clientFailingAt } from '../flows/failing-store'
import {
  ada,
  addPages,
  type Gates,
  grace,
  loggedInBrowser,
  logInAtLast,
  type Setup,
  sessionIdOf,
  startSetup,
  view,
  visitor,
} from '../flows/setup'
import { cookieHeader } from '../safety/address-support'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'

/*
 * The steps of a login before and after Authenticate: a session that has moved, ended or belongs to another SSO session, and a ticket or user that
 * is of no use. test/web/lost-login.test.ts has the responses that are lost.
 */

let setup: Setup
let lines: string[]
const at = (path: string) => `${setup.morning.url}${path}`

async function start(site: Partial<Sso2Options> = {}): Promise<void> {
  lines = []
  setup = await startSetup({
    site: { logger: loggerTo(lines), ...site },
    build: (sso, gates: Gates) => {
      const app = express().use(sso)
      app.post('/late', express.json(), async (req, res) => {
        res.flushHeaders()
        const result: LoginResult = await req.sso2.login(req.body)
        res.end(JSON.stringify(result))
      })
      return addPages(app, sso, gates)
    },
  })
}
afterEach(() => setup.close())

const logIn = async (browser: Browser, account: object = ada, headers = {}) => {
  const { status, json } = await browser.fetchJson(at('/login'), { json: account, headers })
  return [status, json.error]
}
const pageOf = async (browser: Browser) => view(await browser.visit(at('/')))

describe('a submit with the cookie of a session that has just moved', () => {
  /** Logs in. @returns a submit that left the browser before the response arrived */
  async function doubleClick(): Promise<[Browser, (account: object) => Promise<unknown[]>]> {
    await start()
    const browser = await visitor(setup)
    const cookie = cookieHeader(browser, setup.morning.url)
    expect(await logIn(browser)).toEqual([200, undefined])
    const second = setup.browser()
    return [second, (account) => logIn(second, account, { cookie })]
  }
  afterEach(() => jest.restoreAllMocks())

  test('gets the login of the first, without another Authenticate', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.now()) // the second form arrives within a second, however busy the machine
    const [browser, submit] = await doubleClick()
    expect(await submit(ada)).toEqual([200, undefined])
    expect(setup.countCalls('authenticate')).toBe(1)
    expect(sessionIdOf(browser)).toHaveLength(43)
    expect(await pageOf(browser)).toMatchObject({ status: 'loggedin', username: 'ada' })
  })

  test('is refused with other credentials', async () => {
    const [browser, submit] = await doubleClick()
    expect(await submit(grace)).toEqual([401, 'session_ended'])
    expect(setup.countCalls('authenticate')).toBe(1)
    expect(await pageOf(browser)).toMatchObject({ status: 'anon' })
  })
})

test('a submit whose session has ended at the SSO system is refused, without Authenticate', async () => {
  await start()
  const browser = await visitor(setup)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  setup.emulator.clock.advance(361)
  expect(await logIn(browser)).toEqual([401, 'session_ended'])
  expect(setup.countCalls('authenticate')).toBe(0)
})

test('a submit while Redis is away is refused for now', async () => {
  let isAway = false
  const redis = clientFailingAt(() => isAway)
  await start({ redis })
  const browser = await visitor(setup)
  isAway = true
  const answer = await logIn(browser).finally(() => redis.disconnect())
  expect(answer).toEqual([503, 'unavailable'])
})

test('a login of a response whose headers are sent fails, because the browser can get no cookie', async () => {
  await start()
  const browser = await visitor(setup)
  expect((await browser.fetchJson(at('/late'), { json: ada })).json).toEqual({ ok: false, error: 'session_ended' })
})

describe('a ticket that is of no use', () => {
  test('leaves a session that the next page after half a minute logs in', async () => {
    await start()
    const browser = await visitor(setup)
    setup.emulator.faults.add({ operation: 'token', kind: 'status', code: 400, times: 1 })
    expect(await logIn(browser)).toEqual([503, 'unavailable'])
    expect(await pageOf(browser)).toMatchObject({ status: 'anon', degraded: 'user_unknown' })
    setup.emulator.clock.advance(31)
    expect(await pageOf(browser)).toMatchObject({ status: 'loggedin', username: 'ada' })
  })

  test('of a session that another tab has logged out ends with that', async () => {
    let meanwhile: () => Promise<unknown> = async () => {}
    await start({
      exchangeTicket: async () => {
        await meanwhile()
        throw new Error('no luck')
      },
    })
    const browser = await visitor(setup)
    meanwhile = () => browser.fetchJson(at('/logout'), { json: {} })
    expect(await logIn(browser)).toEqual([401, 'session_ended'])
    expect(setup.countCalls('authenticate')).toBe(1)
  })

  test('of another SSO session ends the login of the first', async () => {
    await start()
    const browser = await loggedInBrowser(setup)
    browser.dropCookies(({ host }) => host === new URL(setup.emulator.url).hostname)
    await logInAtLast(browser, setup.evening, grace)
    const { identify } = (await browser.fetchJson(at('/identify-me'))).json
    setup.emulator.faults.add({ operation: 'token', kind: 'status', code: 400 })
    expect(view(await browser.visit(identify))).toMatchObject({ status: 'anon', degraded: 'user_unknown' })
  })

  test('is logged once while the authorization server is away', async () => {
    await start()
    setup.emulator.faults.add({ operation: 'token', kind: 'down' })
    for (let tries = 0; tries < 3; tries += 1) expect(await logIn(await visitor(setup))).toEqual([503, 'unavailable'])
    expect(lines.filter((line) => line.includes('exchangeTicket failed'))).toHaveLength(1)
  })
})

test.each<[what: string, user: unknown]>([
  ['nothing', undefined],
  ['a text', 'ada'],
  ['a user without accountId', { username: 'ada' }],
  ['a user with an empty accountId', { accountId: '' }],
  ['a user whose accountId is a number', { accountId: 7 }],
])('loadUser that returns %s logs nobody in, and a line names the field', async (_what, user) => {
  await start({ loadUser: async () => user as { accountId: string } })
  const browser = await visitor(setup)
  expect(await logIn(browser)).toEqual([503, 'unavailable'])
  expect(await pageOf(browser)).toMatchObject({ status: 'anon', degraded: 'user_unknown' })
  expect(lines).toContainEqual(expect.stringMatching(/loadUser failed: .*loadUser: accountId: a text is required/))
})

test.each<[what: string, body: object, user: object]>([
  ['account_id', { account_id: 'a', name: 'Ada' }, { account_id: 'a', accountId: 'a', name: 'Ada' }],
  ['accountId', { accountId: 'b' }, { accountId: 'b' }],
  ['item', { item: { account_id: 'c' }, account_id: 'd' }, { account_id: 'c', accountId: 'c' }],
  ['none', {}, {}],
])('the default loadUser reads %s', async (_what, body, user) => {
  const asked: string[] = []
  const get = async (path: string) => {
    asked.push(path)
    return body
  }
  expect(await defaultLoadUser('/me')({ api: { get } } as never)).toEqual(user)
  expect(asked).toEqual(['/me'])
})
