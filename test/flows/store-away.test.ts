import { Redis } from 'ioredis'
import { document } from '../safety/session-support'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually, loggedIn, type Network, present, resumeStore, startNetwork, view } from './network'

/*
 * The store goes away and comes back with its data: the server process is stopped, as in a stalled machine, and continued.
 */
let redis: TestRedis
let network: Network

beforeAll(async () => {
  redis = await startRedis()
  network = await startNetwork({ site: { redis: redis.url } })
})
afterAll(async () => {
  redis.resume()
  await network.close()
  await redis.stop()
})
afterEach(() => redis.resume())

const at = (path: string) => `${network.morning.url}${path}`
const isBack = () => resumeStore(redis, network.morning.sso)

test('a logout while the store is away ends the session at the first contact after it is back', async () => {
  const browser = await loggedIn(network)
  const cookie = `sso2.sid=${present(browser.cookie('sso2.sid'))}`
  redis.hang()
  expect(view(await browser.submit(at('/logout'), { return_to: '/news' }))).toMatchObject({ status: 'none' })
  expect(browser.cookie('sso2.sid')).toBeUndefined()
  expect(network.count('logout')).toBe(0)
  await isBack()

  let page = view(await browser.visit(at('/news')))
  await eventually(async () => {
    if (page.degraded !== 'logout_pending') return true // the process itself ends the session at the same moment
    expect(page.status).toBe('none')
    page = view(await browser.visit(at('/news')))
    return false
  })
  expect(page).toEqual({ status: 'anon', url: '/news' })
  expect(network.count('logout')).toBe(1)
  expect(browser.cookie('sso2.o')).toBeUndefined()
  const thief = await network.browser().fetchJson(at('/'), { headers: { cookie } })
  expect(thief.json).toMatchObject({ status: 'none' })
})

test('with the SSO system away as well, the logout stays pending and is never undone by Identify', async () => {
  const browser = await loggedIn(network)
  redis.hang()
  await browser.submit(at('/logout'), { return_to: '/' })
  network.emulator.faults.add({ operation: 'logout', kind: 'down' })
  await isBack()
  expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'none', degraded: 'logout_pending' })
  expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'none', degraded: 'logout_pending' })
  network.emulator.faults.clear()
  await eventually(async () => {
    const { status } = view(await browser.visit(at('/')))
    expect(status).not.toBe('loggedin')
    return status === 'anon'
  })
})

test('while the store is away pages are served without a user, no cookie is dropped, and nobody is sent to Identify', async () => {
  const browser = await loggedIn(network)
  const cookie = browser.cookie('sso2.sid')
  redis.hang()
  const page = await browser.visit(at('/'))
  expect(page.trail).toHaveLength(1)
  expect(page.headers['set-cookie']).toBeUndefined()
  expect(view(page)).toEqual({ status: 'none', degraded: 'store_unavailable', url: '/' })
  await isBack()
  expect(browser.cookie('sso2.sid')).toBe(cookie)
  expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'loggedin', username: 'ada' })
})

test('a login past its grace is not shown because the store went away after the SSO system had not answered', async () => {
  const browser = await loggedIn(network)
  const look = async () => view(await browser.fetchJson(at('/')))
  network.emulator.faults.add({ operation: 'sessionstatus', kind: 'hang' })
  const loseStoreMeanwhile = async (seconds: number) => {
    const before = network.count('sessionstatus')
    network.emulator.clock.advance(seconds)
    const seen = look()
    await eventually(async () => network.count('sessionstatus') > before)
    redis.hang()
    const { status, degraded } = await seen
    await isBack()
    return [status, degraded]
  }
  const withinGrace = await loseStoreMeanwhile(361)
  const pastGrace = await loseStoreMeanwhile(1300)
  network.emulator.faults.clear()
  expect([withinGrace, pastGrace]).toEqual([
    ['loggedin', 'store_unavailable'],
    ['none', 'store_unavailable'],
  ])
  await eventually(async () => (await look()).status === 'loggedin')
})

test('a landing that the store did not take is not tried again at once; the page heals with the store', async () => {
  const [reader, stranger] = [network.browser(), network.browser()]
  await reader.visit(at('/'))
  const takesNothing = async (isSo: boolean) => {
    const admin = new Redis(redis.url)
    await admin.config('SET', 'maxmemory', isSo ? '1' : '0')
    admin.disconnect()
  }
  await takesNothing(true) // it answers, and takes nothing: as for a reader whose shard of a Cluster is gone
  const step = async (url: string) => {
    await reader.fetchJson(at('/')) // the store is well, as far as this process can tell
    return stranger.fetchJson(url, { headers: document })
  }
  let [url, trips] = [at('/news'), 0]
  let answer = await step(url)
  for (; answer.headers.location !== undefined; answer = await step(url)) {
    url = new URL(answer.headers.location, url).href
    trips += Number(url.includes('/sso/identify'))
  }
  await takesNothing(false)
  expect([trips, view(answer).degraded]).toEqual([1, 'store_unavailable'])
  await eventually(async () => (await network.morning.sso.health()).store === 'ok')
  network.emulator.clock.advance(4)
  expect(view(await stranger.visit(at('/news')))).toEqual({ status: 'anon', url: '/news' })
})
