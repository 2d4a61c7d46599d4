import type { Browser, ScriptAnswer } from '../support/agent'
import { browserCalls } from '../support/calls'
import { ada, behindProxy, eventually, grace, logIn, logInAtLast, useSetup, view, visitor } from '../support/setup'
import { cookieHeader } from './address-support'
import { hearEvents, untilJudged } from './session-support'

const events = hearEvents()
const at = (path: string) => `${setup.morning.url}${path}`
/** Half of the default: what is counted are multiples of it. */
const LIMIT = 5
/** For hundreds of logins on a busy machine. */
const LONG_MS = 180_000
const reasons = () => new Set(events.heard.flatMap((event) => /^login limited ?(.*)/.exec(event)?.[1] ?? []))

const forgotPassword = 'https://accounts.example/forgot'
const site = { loginLimit: { attempts: LIMIT, perSeconds: 600 }, links: { forgotPassword } }
const setup = useSetup({ build: behindProxy, site })
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
    expect(setup.countCalls('authenticate') - before).toBe(3)
    expect(setup.emulator.account('ada').view()).toMatchObject({ failedAttempts: 3, frozenUntil: null })
    expect(reasons()).toContain('held')

    const page = await untilJudged(() => logIn(owner, setup.morning, ada))
    expect(view(page)).toMatchObject({ status: 'loggedin', username: 'ada' })
  },
  LONG_MS,
)

test('[F3] an unrecognised browser stops with two attempts left, and is told for how long; afterwards the name is open again', async () => {
  const [stranger] = (await visitors(1)) as [Browser]
  for (const remaining of [2, 1, 0]) {
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

  const keys = (await setup.keys()).filter((key) => key.includes(':limit:'))
  const seconds = await Promise.all(keys.map((key) => setup.redis.ttl(key)))
  expect(Math.max(...seconds)).toBeLessThanOrEqual(900)
  await setup.redis.del(keys) // as after 15 minutes
  expect((await postSurely(stranger, ada)).status).toBe(200)
})

test('the login page says how many attempts the site will let pass, and after the last one how long to wait', async () => {
  const [stranger] = (await visitors(1)) as [Browser]
  const guess = async (index: number) => {
    const page = await stranger.submit(at('/login'), { ...wrong(index), return_to: '/' })
    return [page.status, /role="alert".*<span>(.*)<\/span>/.exec(page.body)?.[1]]
  }
  const link = `<a href="${forgotPassword}">Forgotten your password?</a>`
  const wait =
    'Too many attempts. To keep the account from being locked, please wait 15 minutes, or log in on a device on which you have logged in before.'
  expect([await guess(1), await guess(2), await guess(3), await guess(4)]).toEqual([
    [401, 'The username or password is wrong. You have 2 attempts left.'],
    [401, 'The username or password is wrong. You have one attempt left.'],
    [401, `The username or password is wrong. ${wait} ${link}`],
    [429, `${wait} ${link}`],
  ])
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

test('[F3] the cookie of a recognised browser holds no name, works for its own name only, and cannot be made or moved to another', async () => {
  const [own, other] = (await visitors(2)) as [Browser, Browser]
  await known(own)
  const cookie = own.cookie('sso2.d') ?? ''
  expect(cookie).toMatch(/^\d+\.[\w-]{22}$/)
  for (let round = 0; round < 3; round += 1)
    await postSurely(other, { username: 'grace', password: `no-${round}` }, address(round))
  own.dropCookies(({ name }) => name === 'sso2.d')
  for (const value of [cookie, `${cookie.slice(0, 12)}${'A'.repeat(21)}`, 'x', `${cookie}~${cookie}`]) {
    const headers = { cookie: `${cookieHeader(own, setup.morning.url)}; sso2.d=${value}` }
    // a browser that keeps cookies would send its own ones instead
    const forger = setup.browser({ cookies: false })
    const answer = await untilJudged(() => forger.fetchJson(at('/login'), { json: grace, headers }))
    expect(answer.status).toBe(429)
  }
})

test('[F18] eight device cookies of one name are worth one attempt', async () => {
  const browsers = await visitors(8)
  for (const browser of browsers) await known(browser)
  const before = setup.countCalls('authenticate')
  for (const [index, browser] of browsers.entries())
    for (let round = 0; round < 3; round += 1) await postSurely(browser, wrong(round), address(index))
  expect(setup.countCalls('authenticate') - before).toBe(4)
  expect(setup.emulator.account('ada').view()).toMatchObject({ failedAttempts: 4, frozenUntil: null })
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
