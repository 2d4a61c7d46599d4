import assert from 'node:assert/strict'
import { Browser } from '../support/agent'
import type { Paper } from './paper'
import { password, readerName } from './platform'

/*
 * Every flow once, against a store that is well: one line of the table each.
 */

/** What every page of the site answers. */
export interface PageView {
  readonly status?: string
  readonly degraded?: string
  /** User name of whoever is logged in. */
  readonly who?: string
  /** Whose session data it is. */
  readonly basketOf?: string
}

/** A flow: throws where it does not go as it should. */
type Flow = (setup: Setup) => Promise<void>

interface Setup {
  readonly paper: Paper
  /** An account of this flow's own. */
  readonly username: string
  browser(): Browser
  /** How often the platform was asked. */
  count(operation: string): number
}

const view = ({ body }: { body: string }): PageView => JSON.parse(body)

async function logIn({ paper: { url }, username }: Setup, browser: Browser): Promise<void> {
  await browser.visit(`${url}/login?return_to=/front`)
  const page = await browser.submit(`${url}/login`, { username, password, return_to: '/front' })
  assert.deepEqual([page.status, view(page).who], [200, username])
}

const whoSees = async ({ paper: { url } }: Setup, browser: Browser) => view(await browser.visit(`${url}/front`)).who

const flows: Readonly<Record<string, Flow>> = {
  'first visit': async ({ paper: { url }, ...setup }) => {
    const browser = setup.browser()
    const page = await browser.visit(`${url}/front?page=2`)
    assert.deepEqual([view(page), page.url], [{ status: 'anon' }, `${url}/front?page=2`])
    assert.ok(page.trail.some((hop) => hop.url.includes('/sso/identify')))
    assert.equal((await browser.visit(`${url}/front`)).trail.length, 1)
  },
  'landing, logged in elsewhere': async (setup) => {
    const browser = setup.browser()
    await logIn(setup, browser)
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    assert.equal(await whoSees(setup, browser), setup.username)
  },
  'a landing token twice': async (setup) => {
    const browser = setup.browser()
    await logIn(setup, browser)
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    const { trail } = await browser.visit(`${setup.paper.url}/front`)
    const landing = trail.find((hop) => hop.url.includes('/sso2/landing'))?.url ?? ''
    const exchanges = setup.count('token')
    assert.equal(view(await browser.visit(landing)).who, setup.username)
    assert.equal(view(await setup.browser().visit(landing)).who, undefined)
    assert.equal(setup.count('token'), exchanges)
  },
  login: async (setup) => {
    const browser = setup.browser()
    await browser.visit(`${setup.paper.url}/keep?owner=${setup.username}`)
    await logIn(setup, browser)
    const { basketOf } = view(await browser.visit(`${setup.paper.url}/front`))
    assert.equal(basketOf, setup.username)
  },
  'wrong password, form twice at once': async (setup) => {
    const { paper, username } = setup
    const browser = setup.browser()
    await browser.visit(`${paper.url}/front`)
    const send = (word: string) => browser.fetchJson(`${paper.url}/login`, { json: { username, password: word } })
    assert.deepEqual((await send('wrong')).json.error, 'invalid_credentials')
    const before = setup.count('authenticate')
    const both = await Promise.all([send(password), send(password)])
    assert.deepEqual([both.map(({ status }) => status), setup.count('authenticate')], [[200, 200], before + 1])
  },
  'six-minute check': async (setup) => {
    const browser = setup.browser()
    await logIn(setup, browser)
    await setup.paper.advance(361)
    const before = setup.count('sessionstatus')
    const pages = await Promise.all(
      Array.from({ length: 8 }, () => browser.fetchJson(`${setup.paper.url}/front`, { headers: {} })),
    )
    assert.ok(pages.every(({ json }) => json.who === setup.username))
    assert.equal(setup.count('sessionstatus'), before + 1)
  },
  'check: logged out elsewhere': async (setup) => {
    const browser = setup.browser()
    await logIn(setup, browser)
    setup.paper.platform.emulator.account(setup.username).logoutAll()
    await setup.paper.advance(361)
    assert.equal(await whoSees(setup, browser), undefined)
  },
  'fresh page': async (setup) => {
    const browser = setup.browser()
    await logIn(setup, browser)
    assert.equal(view(await browser.visit(`${setup.paper.url}/sensitive`)).who, setup.username)
  },
  logout: async (setup) => {
    const browser = setup.browser()
    await logIn(setup, browser)
    const old = browser.cookie('sso2.sid')
    const page = await browser.submit(`${setup.paper.url}/logout`, { return_to: '/front' })
    assert.equal(view(page).who, undefined)
    const stolen = await setup
      .browser()
      .fetchJson(`${setup.paper.url}/front`, { headers: { cookie: `sso2.sid=${old}` } })
    assert.equal(stolen.json.who, undefined)
  },
  'logout all': async (setup) => {
    const [phone, desk] = [setup.browser(), setup.browser()]
    await logIn(setup, phone)
    await logIn(setup, desk)
    await phone.submit(`${setup.paper.url}/logout-all`, { return_to: '/front' })
    assert.deepEqual([await whoSees(setup, phone), await whoSees(setup, desk)], [undefined, undefined])
    assert.ok(setup.count('logoutall') > 0)
  },
  "script's 401": async (setup) => {
    const browser = setup.browser()
    const ask = async () => (await browser.fetchJson(`${setup.paper.url}/account`)).status
    assert.equal(await ask(), 401)
    await logIn(setup, browser)
    assert.equal(await ask(), 200)
  },
  'ticket, kept access token': async (setup) => {
    const browser = setup.browser()
    await logIn(setup, browser)
    const answer = await browser.fetchJson(`${setup.paper.url}/user`)
    assert.deepEqual([answer.status, Array.isArray(answer.json)], [200, true])
  },
  'ticket refused, then mended': async (setup) => {
    const { paper, username } = setup
    const browser = setup.browser()
    await browser.visit(`${paper.url}/front`)
    const { faults } = paper.platform.emulator
    faults.add({ operation: 'token', kind: 'status', code: 500, times: 1 })
    const answer = await browser.fetchJson(`${paper.url}/login`, { json: { username, password } })
    assert.equal(answer.status, 503)
    const before = setup.count('authenticate')
    await paper.advance(61)
    assert.equal(await whoSees(setup, browser), username)
    assert.equal(setup.count('authenticate'), before)
  },
}

/** What became of each flow: undefined where it went as it should. */
export type FlowResults = Readonly<Record<string, string | undefined>>

/** Runs them all, one after another, at two processes that take turns. */
export async function runFlows(paper: Paper): Promise<FlowResults> {
  const sites = await paper.startAll([{}, {}])
  const results: Record<string, string | undefined> = {}
  const { platform } = paper
  for (const [index, [name, flow]] of Object.entries(flows).entries()) {
    const setup: Setup = {
      paper,
      username: readerName(index),
      browser: () => new Browser({ now: () => platform.emulator.clock.now() }),
      count: (operation) => platform.emulator.calls({ operation }).length,
    }
    results[name] = await flow(setup).then(
      () => undefined,
      (error: unknown) => String(error instanceof Error ? error.message : error),
    )
    platform.emulator.faults.clear()
  }
  await paper.endAll(sites)
  return results
}
