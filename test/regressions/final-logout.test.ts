import { ada, grace, logIn, present, sessionSecret, view, visitor } from '../flows/network'
import type { Browser, ScriptAnswer } from '../support/agent'
import { expectLoginWorks, expectNobody, loginsAtSso } from './signed-out'
import { basket, document, hop, keepings, type Stage, startStage, tripsOf } from './stage'

/*
 * After `POST /logout` has answered, nothing that was under way or comes later brings the user back without a password.
 */

let stage: Stage

afterEach(() => stage.close())

const post = (browser: Browser, path = '/logout') => browser.fetchJson(stage.at(path), { json: {} })
const idOf = (browser: Browser) => browser.cookie('sso2.sid') ?? browser.cookie('connect.sid')
const dropSession = (browser: Browser) => browser.dropCookies(({ name }) => /^(sso2|connect)\.sid$/.test(name))
const nobody = (browser: Browser) => expectNobody(stage, browser)
const loginWorks = (browser: Browser) => expectLoginWorks(stage, browser)
const livingLogins = () => loginsAtSso(stage)

describe.each(keepings)('with %s, two tabs that land while the SSO session is logged in', (keeping) => {
  beforeEach(async () => {
    stage = await startStage({ keeping })
  })

  /** The browser is known to the SSO system and has no session here: two tabs are on their way to the landing. */
  async function twoTabs(browser: Browser): Promise<[string, string]> {
    dropSession(browser)
    const [one, two] = [await hop(browser, stage.at('/?tab=1')), await hop(browser, stage.at('/?tab=2'))]
    return [await hop(browser, one), await hop(browser, two)]
  }

  const slow = (browser: Browser, address: string) => browser.fetchJson(address, { headers: document })

  test.each([
    ['naming', '/logout'],
    ['exchanging', '/logout'],
    ['naming', '/logout-all'],
  ] as const)('[L13] (%s is slow, %s) the slow one does not bring the reader back', async (where, path) => {
    const browser = await stage.reader()
    const [one, two] = await twoTabs(browser)
    const held = stage[where].close()
    const landing = slow(browser, two)
    await held.arrived
    await slow(browser, one)
    expect(basket(await browser.fetchJson(stage.at('/basket')))).toMatchObject({ status: 'loggedin', username: 'ada' })
    expect((await post(browser, path)).json).toEqual({ status: 'none', logout: 'confirmed' })
    held.open()
    await landing
    await nobody(browser)
    expect(livingLogins()).toEqual([])
    await loginWorks(browser)
  })

  test('[L13] the slow one does not bring the reader back while the SSO system has not confirmed the logout', async () => {
    const browser = await stage.reader()
    const [one, two] = await twoTabs(browser)
    const held = stage.naming.close()
    const landing = slow(browser, two)
    await held.arrived
    await slow(browser, one)
    stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect((await post(browser)).json).toEqual({ status: 'none', logout: 'pending' })
    expect(browser.cookie('sso2.o')).toBeDefined()
    held.open()
    await landing
    await nobody(browser)
    expect(browser.cookie('sso2.o')).toBeDefined()
  })
})

test.each(['Redis', 'a session of its own'] as const)(
  '[L13, S17] (%s) a slow landing does not bring the reader back either after a logout that Redis had lost everything of',
  async (keeping) => {
    stage = await startStage({ keeping })
    const browser = await stage.reader()
    await stage.redis.del(await stage.keys())
    const held = stage.naming.close()
    const landing = browser.visit(stage.at('/?tab=1'))
    await held.arrived
    expect((await post(browser)).json).toEqual({ status: 'none', logout: 'pending' })
    held.open()
    await landing
    await nobody(browser)
    expect(livingLogins()).toEqual([])
    await loginWorks(browser)
  },
)

test('[L13] a slow landing at one process, a logout at another: the reader is not brought back', async () => {
  stage = await startStage()
  const other = stage.addProcess()
  const browser = await stage.reader()
  dropSession(browser)
  const [one, two] = [await hop(browser, stage.at('/?tab=1')), await hop(browser, stage.at('/?tab=2'))]
  const [fast, slow] = [await hop(browser, one), await hop(browser, two)]
  const held = stage.naming.close()
  const landing = browser.fetchJson(slow, { headers: document })
  await held.arrived
  stage.serveFrom(other)
  await browser.fetchJson(fast, { headers: document })
  expect((await post(browser)).json.logout).toBe('confirmed')
  held.open()
  await landing
  stage.serveFrom(stage.first, other)
  await nobody(browser)
  expect(livingLogins()).toEqual([])
})

describe.each(['Redis', 'memory'] as const)('with %s, a logout with the cookie of just before', (keeping) => {
  beforeEach(async () => {
    stage = await startStage({ keeping })
  })

  /** The logout left the browser before the answer that moved the session came in. */
  const postWith = (id: string, path = '/logout'): Promise<ScriptAnswer> =>
    stage.browser().fetchJson(stage.at(path), { json: {}, headers: { cookie: `sso2.sid=${id}` } })

  async function expectEnded(browser: Browser, old: string, path?: string): Promise<void> {
    expect(idOf(browser)).not.toBe(old)
    expect(basket(await browser.fetchJson(stage.at('/basket')))).toMatchObject({ status: 'loggedin' })
    expect((await postWith(old, path)).json).toEqual({ status: 'none', logout: 'confirmed' })
    expect(livingLogins()).toEqual([])
    await nobody(browser)
    await loginWorks(browser)
  }

  test.each(['/logout', '/logout-all'])('[S16] the login ends the session that followed (%s)', async (path) => {
    const browser = await visitor(stage)
    const old = present(idOf(browser))
    await logIn(browser, stage.morning, ada)
    await expectEnded(browser, old, path)
  })

  test('[S16] the check that saw a login elsewhere ends the session that followed', async () => {
    const browser = await visitor(stage)
    const old = present(idOf(browser))
    await logIn(browser, stage.evening, ada)
    stage.emulator.clock.advance(361)
    await browser.visit(stage.at('/'))
    await expectEnded(browser, old)
  })

  test('[S16] the landing that saw a login elsewhere ends the session that followed', async () => {
    const browser = await visitor(stage)
    const old = present(idOf(browser))
    const kept = browser.cookies.find(({ value }) => value === old)
    await logIn(browser, stage.evening, ada)
    const landing = await hop(browser, (await browser.fetchJson(stage.at('/identify-me'))).json.identify)
    expect(browser.cookies).toContainEqual(kept)
    await browser.visit(landing)
    await expectEnded(browser, old)
  })

  test('[S16] is no way into another session: what nobody issued ends nothing', async () => {
    const browser = await stage.reader()
    const answer = await postWith(`${present(idOf(browser)).slice(0, -6)}AAAAAA`)
    expect(answer.status).toBe(200)
    expect(basket(await browser.fetchJson(stage.at('/basket')))).toMatchObject({ status: 'loggedin', username: 'ada' })
  })
})

describe('a cookie or record that this process cannot read', () => {
  const newSecret = 'the-secret-of-after-the-rotation-of-secrets-0123456789'

  test('[O21] signed with a secret that is gone: the logout is pending, and nobody is shown', async () => {
    stage = await startStage()
    const rotated = stage.addProcess({ sessionSecret: newSecret })
    const both = stage.addProcess({ sessionSecret: [newSecret, sessionSecret] })
    const browser = await stage.reader()
    stage.serveFrom(rotated)
    expect((await post(browser)).json).toEqual({ status: 'none', logout: 'pending' })
    expect(browser.cookie('sso2.o')).toBeDefined()
    stage.serveFrom(rotated, both)
    await nobody(browser)
    await loginWorks(browser)
  })

  test.each(['/logout', '/logout-all'])('[O21] sealed with a secret that is gone (%s): the same', async (path) => {
    stage = await startStage({ keeping: 'a session of its own' })
    const rotated = stage.addProcess({ sessionSecret: newSecret })
    const browser = await stage.reader()
    stage.serveFrom(rotated)
    expect((await post(browser, path)).json).toEqual({ status: 'none', logout: 'pending' })
    expect(browser.cookie('sso2.o')).toBeDefined()
    await nobody(browser)
    await loginWorks(browser)
  })

  const edits: [string, (text: string) => string][] = [
    ['of a version that nobody knows', (text) => JSON.stringify({ ...JSON.parse(text), v: 99 })],
    ['that is no JSON', () => 'garbage'],
    ['that breaks off', (text) => text.slice(0, -20)],
    ['that is an empty text', () => ''],
    ['whose sealed part cannot be opened', (text) => JSON.stringify({ ...JSON.parse(text), box: 'c2VhbGVk' })],
    ['without a status', (text) => JSON.stringify({ ...JSON.parse(text), status: undefined })],
  ]
  describe.each(['Redis', 'a session of its own'] as const)('with %s', (keeping) => {
    test.each(edits)('[O21, S15] a record %s: the logout is pending, and nobody is shown', async (_name, change) => {
      stage = await startStage({ keeping })
      const browser = await stage.reader()
      await stage.editRecords(change)
      expect((await post(browser)).json).toEqual({ status: 'none', logout: 'pending' })
      expect(browser.cookie('sso2.o')).toBeDefined()
      await nobody(browser)
      await loginWorks(browser)
    })
  })

  test('[O21] a record of the next version is logged out as any other', async () => {
    stage = await startStage()
    const browser = await stage.reader()
    await stage.editRecords((text) => JSON.stringify({ ...JSON.parse(text), v: 2, seenBy: 'another release' }))
    const page = await browser.submit(stage.at('/logout'), { return_to: '/' })
    expect(tripsOf(page)).toBe(1)
    expect(view(page).status).toBe('anon')
    expect(livingLogins()).toEqual([])
    expect(view(await logIn(browser, stage.morning, grace))).toMatchObject({ status: 'loggedin', username: 'grace' })
  })
})
