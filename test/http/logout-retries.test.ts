import { Redis } from 'ioredis'
import { hearEvents } from '../support/landing'
import { eventually, loggedInBrowser, present, redisUrl, useSetup, view, visitor } from '../support/setup'
import { pause } from '../support/wait'

/* The timer sends the logouts again that the SSO system has not confirmed, whether browser and process return or not. */

const client = new Redis(redisUrl())
const setup = useSetup({ site: { redis: client } })
const loadedAt = performance.now()
const events = hearEvents()
const retries = () => events.messages.filter(({ operation }) => operation === 'retry')
beforeEach(() => {
  events.messages.length = 0
})
afterEach(() => setup.emulator.faults.clear())
afterAll(() => {
  events.stop()
  client.disconnect()
})

const at = (path: string) => `${setup.morning.url}${path}`
const now = () => Math.floor(setup.emulator.clock.now() / 1000)
const queue = () => `${setup.morning.prefix}logouts`
const keyOf = (id: string) => `${setup.morning.prefix}logout:{${id}}`
const dueIn = async (id: string) => Number(present(await setup.redis.zscore(queue(), id))) - now()
const isQueued = async (id: string) => (await setup.redis.zscore(queue(), id)) !== null

/** A logout of a new browser that the SSO system does not take. @returns the hash of its SSO session, and the cookie before the logout */
async function logOutInVain(path = '/logout', user = loggedInBrowser(setup)) {
  const browser = await user
  const cookie = `sso2.sid=${browser.cookie('sso2.sid')}`
  const stored = await storedSessions()
  for (const operation of ['logout', 'logoutall'] as const) setup.emulator.faults.add({ operation, kind: 'down' })
  expect((await browser.fetchJson(at(path), { json: {} })).json.logout).toBe('pending')
  return { id: present(events.messages.at(-1)?.sidHash), cookie, stored, browser }
}

async function storedSessions() {
  const keys = (await setup.keys()).filter((key) => /:(sso2|acct):/.test(key))
  return Promise.all(keys.map(async (key) => ({ key, value: await setup.redis.dumpBuffer(key) })))
}

test.each([
  ['/logout', 'loggedin'],
  ['/logout-all', 'none'],
])(
  '%s whose process dies before it ends a session here → the retry ends it, and the phone is %s',
  async (path, phones) => {
    const phone = await loggedInBrowser(setup)
    const { id, cookie, stored, browser } = await logOutInVain(path)
    for (const { key, value } of stored) await setup.redis.restore(key, 0, present(value), 'REPLACE')
    const status = async (headers = {}) => (await setup.browser().fetchJson(at('/'), { headers })).json.status
    expect(await status({ cookie })).toBe('loggedin')
    setup.emulator.faults.clear()
    setup.emulator.clock.advance(8)
    await eventually(async () => retries().length > 0)
    const [{ durationMs = -1, ...told } = {}] = retries()
    expect(told).toEqual({ operation: 'retry', outcome: 'confirmed', sidHash: id })
    expect([durationMs >= 0, durationMs <= performance.now() - loadedAt]).toEqual([true, true])
    expect([await status({ cookie }), (await phone.fetchJson(at('/'))).json.status]).toEqual(['none', phones])
    await eventually(async () => !(await isQueued(id)), 5) // and not only when the retry after it is due
    expect(await setup.redis.exists(keyOf(id))).toBe(0)
    const page = await browser.visit(at('/'))
    expect([page.trail.length, view(page)]).toEqual([4, { status: 'anon', url: '/' }]) // by Identify
  },
)

test('a retry in vain is told as pending, and the next one waits as long as the logout is old', async () => {
  const { id } = await logOutInVain()
  setup.emulator.clock.advance(30)
  await eventually(async () => retries().length > 0)
  expect(retries()).toMatchObject([{ outcome: 'pending', sidHash: id }])
  await eventually(async () => (await dueIn(id)) > 20)
})

test('a logout without a value leaves the queue, and one that no secret opens waits for a process with its secret', async () => {
  await setup.redis.set(keyOf('unreadable'), 'of another secret')
  await setup.redis.zadd(queue(), now(), 'unreadable', now(), 'without')
  await eventually(async () => !(await isQueued('without')) && (await dueIn('unreadable')) > 100)
  expect([retries(), await setup.redis.exists(keyOf('unreadable'))]).toEqual([[], 1])
})

test('while the SSO system is known to be down nothing is retried, and afterwards all is, a logout without a login too', async () => {
  const { id } = await logOutInVain('/logout', visitor(setup))
  setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  await eventually(async () => (await setup.morning.sso.health()).sso === 'unavailable')
  setup.emulator.clock.advance(8)
  await pause(2500) // more than a pause of the timer
  expect([retries(), await dueIn(id)]).toEqual([[], expect.any(Number)])
  expect(await dueIn(id)).toBeLessThanOrEqual(0)
  setup.emulator.faults.clear()
  await eventually(async () => retries().some(({ outcome }) => outcome === 'confirmed'))
})

test('a site that is closed retries nothing, though its Redis client is open', async () => {
  await logOutInVain()
  await setup.morning.sso.close()
  setup.emulator.clock.advance(8)
  await pause(2500)
  expect(retries()).toEqual([])
})
