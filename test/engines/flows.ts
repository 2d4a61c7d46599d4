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
type Flow = (stage: Stage) => Promise<void>

interface Stage {
  readonly paper: Paper
  /** An account of this flow's own. */
  readonly username: string
  browser(): Browser
  /** How often the platform was asked. */
  count(operation: string): number
}

const view = ({ body }: { body: string }): PageView => JSON.parse(body)

async function logIn({ paper: { url }, username }: Stage, browser: Browser): Promise<void> {
  await browser.visit(`${url}/login?return_to=/front`)
  const page = await browser.submit(`${url}/login`, { username, password, return_to: '/front' })
  assert.deepEqual([page.status, view(page).who], [200, username])
}

const whoSees = async ({ paper: { url } }: Stage, browser: Browser) => view(await browser.visit(`${url}/front`)).who

const flows: Readonly<Record<string, Flow>> = {
  'first visit': async ({ paper: { url }, ...stage }) => {
    const browser = stage.browser()
    const page = await browser.visit(`${url}/front?page=2`)
    assert.deepEqual([view(page), page.url], [{ status: 'anon' }, `${url}/front?page=2`])
    assert.ok(page.trail.some((hop) => hop.url.includes('/sso/identify')))
    assert.equal((await browser.visit(`${url}/front`)).trail.length, 1)
  },
  'landing, logged in elsewhere': async (stage) => {
    const browser = stage.browser()
    await logIn(stage, browser)
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    assert.equal(await whoSees(stage, browser), stage.username)
  },
  'a landing token twice': async (stage) => {
    const browser = stage.browser()
    await logIn(stage, browser)
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    const { trail } = await browser.visit(`${stage.paper.url}/front`)
    const landing = trail.find((hop) => hop.url.includes('/sso2/landing'))?.url ?? ''
    const exchanges = stage.count('token')
    assert.equal(view(await browser.visit(landing)).who, stage.username)
    assert.equal(view(await stage.browser().visit(landing)).who, undefined)
    assert.equal(stage.count('token'), exchanges)
  },
  login: async (stage) => {
    const browser = stage.browser()
    await browser.visit(`${stage.paper.url}/keep?owner=${stage.username}`)
    await logIn(stage, browser)
    const { basketOf } = view(await browser.visit(`${stage.paper.url}/front`))
    assert.equal(basketOf, stage.username)
  },
  'wrong password, form twice at once': async (stage) => {
    const { paper, username } = stage
    const browser = stage.browser()
    await browser.visit(`${paper.url}/front`)
    const send = (word: string) => browser.fetchJson(`${paper.url}/login`, { json: { username, password: word } })
    assert.deepEqual((await send('wrong')).json.error, 'invalid_credentials')
    const before = stage.count('authenticate')
    const both = await Promise.all([send(password), send(password)])
    assert.deepEqual([both.map(({ status }) => status), stage.count('authenticate')], [[200, 200], before + 1])
  },
  'six-minute check': async (stage) => {
    const browser = stage.browser()
    await logIn(stage, browser)
    await stage.paper.advance(361)
    const before = stage.count('sessionstatus')
    const pages = await Promise.all(
      Array.from({ length: 8 }, () => browser.fetchJson(`${stage.paper.url}/front`, { headers: {} })),
    )
    assert.ok(pages.every(({ json }) => json.who === stage.username))
    assert.equal(stage.count('sessionstatus'), before + 1)
  },
  'check: logged out elsewhere': async (stage) => {
    const browser = stage.browser()
    await logIn(stage, browser)
    stage.paper.platform.emulator.account(stage.username).logoutAll()
    await stage.paper.advance(361)
    assert.equal(await whoSees(stage, browser), undefined)
  },
  'fresh page': async (stage) => {
    const browser = stage.browser()
    await logIn(stage, browser)
    assert.equal(view(await browser.visit(`${stage.paper.url}/sensitive`)).who, stage.username)
  },
  logout: async (stage) => {
    const browser = stage.browser()
    await logIn(stage, browser)
    const old = browser.cookie('sso2.sid')
    const page = await browser.submit(`${stage.paper.url}/logout`, { return_to: '/front' })
    assert.equal(view(page).who, undefined)
    const stolen = await stage
      .browser()
      .fetchJson(`${stage.paper.url}/front`, { headers: { cookie: `sso2.sid=${old}` } })
    assert.equal(stolen.json.who, undefined)
  },
  'logout all': async (stage) => {
    const [phone, desk] = [stage.browser(), stage.browser()]
    await logIn(stage, phone)
    await logIn(stage, desk)
    await phone.submit(`${stage.paper.url}/logout-all`, { return_to: '/front' })
    assert.deepEqual([await whoSees(stage, phone), await whoSees(stage, desk)], [undefined, undefined])
    assert.ok(stage.count('logoutall') > 0)
  },
  "script's 401": async (stage) => {
    const browser = stage.browser()
    const ask = async () => (await browser.fetchJson(`${stage.paper.url}/account`)).status
    assert.equal(await ask(), 401)
    await logIn(stage, browser)
    assert.equal(await ask(), 200)
  },
  'ticket, kept access token': async (stage) => {
    const browser = stage.browser()
    await logIn(stage, browser)
    const answer = await browser.fetchJson(`${stage.paper.url}/user`)
    assert.deepEqual([answer.status, Array.isArray(answer.json)], [200, true])
  },
  'ticket refused, then mended': async (stage) => {
    const { paper, username } = stage
    const browser = stage.browser()
    await browser.visit(`${paper.url}/front`)
    const { faults } = paper.platform.emulator
    faults.add({ operation: 'token', kind: 'status', code: 500, times: 1 })
    const answer = await browser.fetchJson(`${paper.url}/login`, { json: { username, password } })
    assert.equal(answer.status, 503)
    const before = stage.count('authenticate')
    await paper.advance(61)
    assert.equal(await whoSees(stage, browser), username)
    assert.equal(stage.count('authenticate'), before)
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
    const stage: Stage = {
      paper,
      username: readerName(index),
      browser: () => new Browser({ now: () => platform.emulator.clock.now() }),
      count: (operation) => platform.emulator.calls({ operation }).length,
    }
    results[name] = await flow(stage).then(
      () => undefined,
      (error: unknown) => String(error instanceof Error ? error.message : error),
    )
    platform.emulator.faults.clear()
  }
  await paper.endAll(sites)
  return results
}
