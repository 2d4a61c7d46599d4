import { document } from '../safety/session-support'
import { useRedis } from '../support/redis'
import { eventually, loggedInBrowser, resumeStore, type Setup, startSetup, view } from '../support/setup'

/*
 * The store goes away and comes back with its data: the server process is stopped, as in a stalled machine, and continued.
 */
const redis = useRedis()
let setup: Setup
beforeEach(async () => {
  setup = await startSetup({ site: { redis: redis.url() } })
})
afterEach(() => setup.close())

const at = (path: string) => `${setup.morning.url}${path}`
const isBack = () => resumeStore(redis, setup.morning.sso)

test('a login past its grace is not shown because the store went away after the SSO system had not answered', async () => {
  const browser = await loggedInBrowser(setup)
  const look = async () => view(await browser.fetchJson(at('/')))
  setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'hang' })
  const loseStoreMeanwhile = async (seconds: number) => {
    const before = setup.countCalls('sessionstatus')
    setup.emulator.clock.advance(seconds)
    const seen = look()
    await eventually(async () => setup.countCalls('sessionstatus') > before)
    redis.hang()
    const { status, degraded } = await seen
    await isBack()
    return [status, degraded]
  }
  const withinGrace = await loseStoreMeanwhile(361)
  const pastGrace = await loseStoreMeanwhile(1300)
  setup.emulator.faults.clear()
  expect([withinGrace, pastGrace]).toEqual([
    ['loggedin', 'store_unavailable'],
    ['none', 'store_unavailable'],
  ])
  await eventually(async () => (await look()).status === 'loggedin')
})

test('a landing that the store did not take is not tried again at once; the page heals with the store', async () => {
  const [user, newUser] = [setup.browser(), setup.browser()]
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
  await eventually(async () => (await setup.morning.sso.health()).store === 'ok')
  setup.emulator.clock.advance(4)
  expect(view(await newUser.visit(at('/news')))).toEqual({ status: 'anon', url: '/news' })
})
