import { ada, behindProxy, eventually, grace, logIn, logInAtLast, useSetup, view, visitor } from '../flows/setup'
import type { Browser, ScriptAnswer } from '../support/agent'
import { browserCalls } from '../support/calls'
import { cookieHeader } from './address-support'
import { hearEvents, untilJudged } from './session-support'

const events = hearEvents()
const at = (path: string) => `${setup.morning.url}${path}`
/** Half of the default: what is counted are multiples of it. */
const LIMIT = 5
/** For hundreds of logins on a busy machine. */
const LONG_MS = 180_000
const reasons = () => new Set(events.heard.flatMap((event) => /^login limited ?(.*)/.exec(event)?.[1] ?? []))

const setup = useSetup({ build: behindProxy, site: { loginLimit: { attempts: LIMIT, perSeconds: 600 } } })
afterAll(events.stop)
beforeEach(async () => {
  const left = await setup.keys() // also a logout of all sessions, which the platform's clock had moved into the future
  if (left.length > 0) await setup.redis.del(left)
})
afterEach(() => {
  events.clear()
  setup.emulator.reset()
})

const visitors = (count: number) => Promise.all(Array.from({ length: count }, () => visitor(setup)))
/** A browser that was logged in here, and has an anonymous session again. */
const known = async (browser: Browser) => {
  await logInAtLast(browser, setup.morning, ada)
  await logOut(browser)
}
const logOut = async (browser: Browser) => {
  await browser.submit(at('/logout'), { return_to: '/' })
  await eventually(async () => view(await browser.visit(at('/'))).status === 'anon')
}

const address = (index: number) => `198.51.100.${index % 200}`
const post = (browser: Browser, json: typeof ada, from = address(0)): Promise<ScriptAnswer> =>
  browser.fetchJson(at('/login'), { json, headers: { 'x-forwarded-for': from } })
/** As {@link post}; what a busy machine says "not now" to, which spends nothing, is sent again. */
const postSurely = (...args: Parameters<typeof post>) => untilJudged(() => post(...args))

/** Each visitor tries one after the other, all of them at once. */
async function attack(crowd: Browser[], tries: number, json: (index: number) => typeof ada, from = address) {
  const statuses = new Map<number, number>()
  await Promise.all(
    crowd.map(async (browser, who) => {
      for (let round = 0; round < tries; round += 1) {
        const index = round * crowd.length + who
        const { status } = await postSurely(browser, json(index), from(index))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }),
  )
  return statuses
}

/** Never more than the limit; a try or two less where a busy machine could not reach the store in time. */
function expectSpent(count = 0, limit: number, statuses: ReadonlyMap<number, number>): void {
  const isNear = count <= limit && count >= limit * 0.9
  expect({ count, isNear, statuses }).toEqual({ count, isNear: true, statuses })
}

const wrong = (index: number) => ({ username: 'ada', password: `guess-${index}` })

test(
  '[F3] 200 attempts from 200 addresses on one name freeze nothing, and the owner still logs in on a recognised browser',
  async () => {
    const [owner, ...crowd] = (await visitors(21)) as [Browser, ...Browser[]]
    await known(owner)
    const before = setup.countCalls('authenticate')

    const statuses = await attack(crowd, 10, wrong)
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(200)
    expect([...statuses.keys()].sort()).toEqual([401, 429])
    expect(setup.countCalls('authenticate') - before).toBeLessThanOrEqual(3 * LIMIT)
    expect(setup.emulator.account('ada').view()).toMatchObject({ failedAttempts: 3, frozenUntil: null })
    expect(reasons()).toContain('held')

    const page = await untilJudged(() => logIn(owner, setup.morning, ada))
    expect(view(page)).toMatchObject({ status: 'loggedin', username: 'ada' })
  },
  LONG_MS,
)

test('[F3] an unrecognised browser stops with two attempts left, and is told for how long; afterwards the name is open again', async () => {
  const [stranger] = (await visitors(1)) as [Browser]
  for (const remaining of [4, 3, 2]) {
    const answer = await postSurely(stranger, wrong(remaining)) // the same guess within a millisecond is the same form
    expect([answer.status, answer.json.remainingAttempts]).toEqual([401, remaining])
  }
  const held = await postSurely(stranger, ada)
  expect([held.status, held.json]).toEqual([429, { error: 'too_many_attempts' }])
  expect(Number(held.headers['retry-after'])).toBeGreaterThan(800)
  const headers = { 'x-forwarded-for': address(7) }
  const page = await stranger.submit(at('/login'), { ...ada, return_to: '/' }, { headers })
  expect([page.status, page.body]).toEqual([429, expect.stringContaining('please wait 15 minutes')])
  expect(setup.countCalls('authenticate')).toBe(3)
  expect(view(await stranger.visit(at('/'))).status).toBe('anon')

  setup.emulator.clock.advance(901)
  await stranger.visit(at('/'))
  const keys = (await setup.keys()).filter((key) => key.includes(':limit')) // Redis goes by the real clock
  await setup.redis.del(keys)
  expect((await postSurely(stranger, ada)).status).toBe(200)
})

const otp = (index: number) => ({ username: 'ada', password: String(index).padStart(6, '0') })

test.each<[mix: string, json: (index: number) => typeof ada]>([
  ['one-time passwords alone', otp],
  ['passwords and one-time passwords in turn', (index) => (index % 2 === 0 ? wrong(index) : otp(index))],
])('[F3] guesses at a one-time password, whose answer counts nothing down, freeze nothing: %s', async (_mix, json) => {
  setup.emulator.issueOtp('ada')
  const crowd = await visitors(12)
  for (const [index, browser] of crowd.entries()) await postSurely(browser, json(index), address(index))
  const { failedAttempts, frozenUntil } = setup.emulator.account('ada').view()
  expect(frozenUntil).toBeNull()
  expect(failedAttempts).toBeGreaterThanOrEqual(3)
  expect(reasons()).toEqual(new Set(['held']))
})

test('[F3] the cookie of a known browser holds no name, works for its own name only, and cannot be made or moved to another', async () => {
  const [own, other] = (await visitors(2)) as [Browser, Browser]
  await known(own)
  const cookie = own.cookie('sso2.d') ?? ''
  expect(cookie).toMatch(/^[\w-]{90,120}$/)
  for (let round = 0; round < 3; round += 1)
    await postSurely(other, { username: 'grace', password: `no-${round}` }, address(round))
  own.dropCookies(({ name }) => name === 'sso2.d')
  for (const value of [cookie, `${cookie.slice(0, 30)}${'A'.repeat(66)}`, 'x', `${cookie}~${cookie}`]) {
    const headers = { cookie: `${cookieHeader(own, setup.morning.url)}; sso2.d=${value}` }
    // a browser that keeps cookies would send its own ones instead
    const forger = setup.browser({ cookies: false })
    const answer = await untilJudged(() => forger.fetchJson(at('/login'), { json: grace, headers }))
    expect(answer.status).toBe(429)
  }
})

test('[F18] eight device cookies of one name have one budget', async () => {
  const browsers = await visitors(8)
  for (const browser of browsers) await known(browser)
  const cookies = browsers.map((browser) => browser.cookie('sso2.d'))
  expect(new Set(cookies).size).toBe(8)
  const before = setup.countCalls('authenticate')
  for (const [index, browser] of browsers.entries())
    for (let round = 0; round < 3; round += 1) await postSurely(browser, wrong(round), address(index))
  expect(setup.countCalls('authenticate') - before).toBe(4)
  expect(setup.emulator.account('ada').view()).toMatchObject({ failedAttempts: 4, frozenUntil: null })
})

test('[F18] a logout of all sessions ends the device cookies of the account, and of no other account', async () => {
  const [one, other, ofGrace] = (await visitors(3)) as [Browser, Browser, Browser]
  for (const browser of [one, other]) await known(browser)
  await logInAtLast(ofGrace, setup.morning, grace)
  await logOut(ofGrace)
  setup.emulator.clock.advance(1)
  await logInAtLast(other, setup.morning, ada)
  await other.submit(at('/logout-all'), { return_to: '/' })
  await eventually(async () => view(await one.visit(at('/'))).status === 'anon')
  setup.emulator.clock.advance(1)
  const judged = async (browser: Browser, username: string) => {
    const before = setup.countCalls('authenticate')
    for (let round = 0; round < 5; round += 1)
      await postSurely(browser, { username, password: `no-${round}` }, address(round))
    return setup.countCalls('authenticate') - before
  }
  expect(await judged(one, 'ada')).toBe(3) // as an unrecognised browser
  expect(await judged(ofGrace, 'grace')).toBe(4)
})

test('[F3, F4] all addresses of one IPv6 network share one budget', async () => {
  const [stranger] = (await visitors(1)) as [Browser]
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'error', code: 'otp_consumed_or_expired' })
  const statuses = []
  for (let index = 1; index <= LIMIT + 2; index += 1) {
    statuses.push((await postSurely(stranger, wrong(index), `2001:db8:0:7::${index}`)).status)
  }
  expect(statuses).toEqual([...Array(LIMIT).fill(401), 429, 429])
  expect((await postSurely(stranger, wrong(0), '2001:db8:0:8::1')).status).toBe(401)
})

test('[F4] 100 names from one address: few reach the platform, and another address is not hindered', async () => {
  const crowd = await visitors(20)
  const names = (index: number) => ({ username: `name-${index}`, password: 'spray' })
  const statuses = await attack(crowd, 5, names, () => address(0))
  expectSpent(statuses.get(401), 5 * LIMIT, statuses)
  expectSpent(statuses.get(429), 100 - 5 * LIMIT, statuses)
  expectSpent(setup.countCalls('authenticate'), 5 * LIMIT, statuses)
  expect(reasons()).toEqual(new Set(['address']))
  expect((await postSurely(crowd[0] as Browser, grace, address(99))).status).toBe(200)
})

test(
  '[F4, F20] 600 names from 200 networks: the site has a limit, of which a part is kept for networks without a failure',
  async () => {
    const [own, ...crowd] = (await visitors(21)) as [Browser, ...Browser[]]
    await known(own)
    const before = setup.countCalls('authenticate')
    const networks = (index: number) => `198.${index % 200}.100.7`
    const statuses = await attack(crowd, 30, (index) => ({ username: `name-${index}`, password: 'spray' }), networks)
    const judged = setup.countCalls('authenticate') - before
    expect({ judged, isRight: judged <= 100 * LIMIT && judged >= 70 * LIMIT, statuses }).toMatchObject({
      isRight: true,
    })
    expect(reasons()).toEqual(new Set(['site']))
    expect((await postSurely(own, ada, address(3))).status).toBe(200)
    expect((await postSurely(crowd[0] as Browser, grace, '203.0.113.200')).status).toBe(200)
  },
  LONG_MS,
)

test('[F20] a network of /56 has twice the budget of an address, and other networks are not hindered', async () => {
  const crowd = await visitors(20)
  const before = setup.countCalls('authenticate')
  const names = (index: number) => ({ username: `name-${index}`, password: 'spray' })
  const from = (index: number) => `2001:db8:77:ab${10 + (index % 20)}::1`
  const statuses = await attack(crowd, 12, names, from)
  expectSpent(setup.countCalls('authenticate') - before, 10 * LIMIT, statuses)
  expect((await postSurely(crowd[0] as Browser, grace, '198.51.100.9')).status).toBe(200)
})

test('[F5] a submit with other credentials meanwhile is told to wait', async () => {
  const [one] = (await visitors(1)) as [Browser]
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 7000, times: 1 }) // long enough for a second submit on a busy machine
  const before = await setup.keys()
  const first = post(one, ada)
  const isUnderWay = (key: string) => key.includes(':login:') && !before.includes(key)
  await eventually(async () => (await setup.keys()).some(isUnderWay))
  const second = await postSurely(one, grace)
  expect([second.status, second.json]).toEqual([409, { error: 'busy' }])
  expect((await first).status).toBe(200)
  expect(setup.countCalls('authenticate')).toBe(1)
})

test('[F5] a form that arrives after the response to another one is a new question', async () => {
  const [one] = (await visitors(1)) as [Browser]
  expect((await postSurely(one, ada)).status).toBe(200)
  const before = setup.countCalls('authenticate')
  const again = await postSurely(one, ada) // the same form, in the session that the first one has logged in
  expect([again.status, setup.countCalls('authenticate')]).toEqual([200, before + 1])
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'error', code: 'account_not_active', times: 1 })
  const refused = await postSurely(one, ada)
  expect([refused.status, refused.json.error]).toEqual([401, 'account_not_active'])
})

test('[F6] an Authenticate whose answer is lost is counted once and resolved by Session Status', async () => {
  const [one] = (await visitors(1)) as [Browser]
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'drop_after_commit' })
  const answer = await post(one, ada)
  expect([answer.status, answer.json.user?.accountId]).toEqual([200, 'account-ada'])
  expect(setup.countCalls('authenticate')).toBe(1)
  const asked = browserCalls(setup.emulator, 'sessionstatus')
  const ofVisitors = asked.filter(({ outcome }) => outcome !== 'session_not_found') // and not a probe
  expect(ofVisitors.map(({ claims }) => claims?.['lks'])).toEqual(['anon'])

  await logOut(one)
  const refused = await post(one, { ...grace, password: 'not-it' })
  expect([refused.status, refused.json]).toEqual([503, { error: 'unavailable' }])
  expect(setup.countCalls('authenticate')).toBe(2)
  expect(setup.emulator.account('grace').view().failedAttempts).toBe(1)
})
