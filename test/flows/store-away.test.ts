import { document } from '../safety/session-support'
import { useRedis } from '../support/redis'
import { eventually, loggedIn, type Network, resumeStore, startNetwork, view } from './network'

/*
 * The store goes away and comes back with its data: the server process is stopped, as in a stalled machine, and continued.
 */
const redis = useRedis()
let network: Network
beforeEach(async () => {
  network = await startNetwork({ site: { redis: redis.url() } })
})
afterEach(() => network.close())

const at = (path: string) => `${network.morning.url}${path}`
const isBack = () => resumeStore(redis, network.morning.sso)

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
  const [user, newUser] = [network.browser(), network.browser()]
  await user.visit(at('/'))
  const limitMemory = (bytes: string) => redis.commands().config('SET', 'maxmemory', bytes)
  await limitMemory('1') // Redis responds, and takes nothing: as for a user whose shard of a Cluster is gone
  const step = async (url: string) => {
    await user.fetchJson(at('/')) // the store is well, as far as this process can tell
    return newUser.fetchJson(url, { headers: document })
  }
  let [url, redirects] = [at('/news'), 0]
  let answer = await step(url)
  for (; answer.headers.location !== undefined; answer = await step(url)) {
    url = new URL(answer.headers.location, url).href
    redirects += Number(url.includes('/sso/identify'))
  }
  await limitMemory('0')
  expect([redirects, view(answer).degraded]).toEqual([1, 'store_unavailable'])
  await eventually(async () => (await network.morning.sso.health()).store === 'ok')
  network.emulator.clock.advance(4)
  expect(view(await newUser.visit(at('/news')))).toEqual({ status: 'anon', url: '/news' })
})
