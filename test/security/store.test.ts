import type { Redis } from 'ioredis'
import { ask, documentHeaders } from '../support/addresses'
import { beginFlow, hearEvents, land, landingToken } from '../support/landing'
import { useRedis } from '../support/redis'
import { healthWithStore, loggedInBrowser, present, type Setup, startSetup, view } from '../support/setup'

const server = useRedis()
let redis: Redis
let setup: Setup
const events = hearEvents()
const at = (path: string) => `${setup.morning.url}${path}`
const allKeys = async () => (await redis.keys('*')).sort()

beforeAll(async () => {
  redis = server.commands()
  setup = await startSetup({
    site: (name) => ({
      redis: server.url(),
      loginLimit: { attempts: 100, perSeconds: 60 },
      session: { prefix: `${name}:`, ...(name === 'evening' ? { idleSeconds: 100 } : {}) },
    }),
  })
  // or a site that connects late on a busy machine sends the commands of its start while others are counted
  for (const { sso } of [setup.morning, setup.evening]) await healthWithStore(sso)
})
beforeEach(async () => {
  await redis.flushall()
  setup.emulator.faults.clear()
  events.clear()
})
afterAll(async () => {
  await setup.close()
  events.stop()
})

test('[S8] visits without a cookie leave no key, no session and no command in Redis', async () => {
  await redis.config('RESETSTAT')
  for (const [headers, status] of [
    [documentHeaders, 302],
    [{ accept: '*/*', 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' }, 200],
  ] as const) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask(setup.morning.url, { path: '/page', headers })),
    )
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]))
  }
  const stats = await redis.info('commandstats')
  const commands = [...stats.matchAll(/cmdstat_([^:]+):calls=/g)].map(([, name = '']) => name)
  const own = ['config|resetstat', 'info', 'zrangebyscore'] // ours, and the looks at the queue of logouts
  expect(commands.filter((name) => !own.includes(name))).toEqual([])
  expect(await allKeys()).toEqual([])
})

test.each([
  ['morning', 86_400],
  ['evening', 100],
] as const)('[S8, S10] data of a visitor to the %s site live %i s after the last request', async (name, life) => {
  const browser = setup.browser()
  await browser.fetchJson(`${setup[name].url}/keep`)
  const key = present((await allKeys())[0])
  await redis.expire(key, 30)
  await browser.fetchJson(`${setup[name].url}/`)
  await setup[name].sso.health() // the connection has sent the renewal before
  expect(await redis.ttl(key)).toBeGreaterThan(30)
  expect(view(await browser.visit(`${setup[name].url}/`))).toMatchObject({ status: 'anon', saved: 'kept' })
  for (const one of await redis.keys('*:sess:*')) expect(await redis.ttl(one)).toBeLessThanOrEqual(life)
})

test('[O15] another site on the same Redis, with the same secret and cookie, shows no session of this one', async () => {
  const browser = await loggedInBrowser(setup)
  await browser.visit(at('/keep'))
  const headers = { cookie: `sso2.sid=${browser.cookie('sso2.sid')}` }
  const { json } = await setup.browser().fetchJson(`${setup.evening.url}/`, { headers })
  expect(json).toEqual({ status: 'none', url: '/' })
})

const safeKey =
  /^morning:(sso2|sess|login):\{[\w-]{43}\}$|^morning:(out|acct|all|logout):\{[\w-]{16}\}$|^morning:(used|renew|check):[\w-]{43}$|^morning:logouts(:round)?$/

test.each([
  ['512 characters', 'x'.repeat(512), true],
  ['a member of every object', '__proto__', true],
  ['CR LF and a command', 'x\r\nFLUSHALL\r\n', false],
])('[S9] an SSO session ID chosen by an attacker: %s', async (_what, sid, isTaken) => {
  const flow = await beginFlow(setup)
  events.clear()
  const answer = await land(setup, flow, landingToken(setup, { sid }))
  expect(answer.status).toBe(303)
  const keys = await allKeys()
  expect(keys.filter((key) => !safeKey.test(key))).toEqual([])
  expect(keys.filter((key) => key.includes('sso2:'))).toHaveLength(isTaken ? 1 : 0)
  if (isTaken) expect(events.heard).toContain('landing stay_anonymous')
  else {
    expect(events.heard).toContain('landing unchanged claims')
    expect(keys).toEqual([])
    expect(answer.setCookie.filter((line) => line.startsWith('sso2.sid='))).toEqual([])
  }
  const values = await Promise.all(keys.filter((key) => key.includes('sso2:')).map((key) => redis.get(key)))
  if (sid.length > 1) expect([...keys, ...values].join()).not.toContain(sid)
})

describe('[S15] where the store holds something else', () => {
  const keyOf = async (kind: string) => present((await allKeys()).find((key) => key.includes(`:${kind}:{`)))

  /** Each way that a record can be unreadable is in test/unit/record.test.ts. */
  test.each<[what: string, spoil: (key: string, good: string) => Promise<unknown>]>([
    ['a word', (key) => redis.set(key, 'garbage', 'EX', 100)],
    ['a list', async (key) => [await redis.del(key), await redis.rpush(key, '{"v":1}')]],
  ])('as record %s', async (_what, spoil) => {
    const browser = await loggedInBrowser(setup)
    await redis.flushall()
    await browser.visit(at('/')) // leaves the one record of this login
    const id = browser.cookie('sso2.sid')
    const key = await keyOf('sso2')
    await spoil(key, present(await redis.get(key)))
    expect((await browser.fetchJson(at('/script'))).json).toEqual({ status: 'none', url: '/script' })
    expect(view(await browser.visit(at('/')))).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
    expect(browser.cookie('sso2.sid')).not.toBe(id)
    expect((await browser.visit(at('/'))).trail).toHaveLength(1)
  })

  test.each([
    ['garbage', 'garbage'],
    ['nothing', 'null'],
    ['__proto__', '{"cookie":{"since":1},"__proto__":{"polluted":true},"saved":"x"}'],
  ])('as data %s', async (_what, text) => {
    const browser = await loggedInBrowser(setup)
    expect(view(await browser.visit(at('/keep'))).saved).toBe('kept')
    await redis.set(await keyOf('sess'), text, 'EX', 100)
    const visit = await browser.visit(at('/'))
    expect(visit.status).toBe(200)
    expect(view(visit)).toMatchObject({ status: 'loggedin', url: '/' })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(view(await browser.visit(at('/keep'))).saved).toBe('kept')
    expect(view(await browser.visit(at('/'))).saved).toBe('kept')
  })
})
