import type { Express } from 'express'
import { Sso2Error, Sso2UnavailableError } from '../../lib'
import { document } from '../support/landing'
import { useRedis } from '../support/redis'
import { eventually, loggedInBrowser, resumeStore, type Setup, startSetup, view } from '../support/setup'
import { withPages } from '../support/site'

const checkPage = (app: Express) => {
  const told = (error: unknown) => ({
    isOurs: error instanceof Sso2UnavailableError,
    code: error instanceof Sso2Error && error.code,
    operation: error instanceof Sso2UnavailableError && error.operation,
  })
  app.get('/check', async (req, res) => void res.json(await req.sso2.check().then((status) => ({ status }), told)))
}

/* Redis goes away and comes back with its data: the server process is stopped, as in a stalled machine, and continued. */

describe('Redis hangs', () => {
  const redis = useRedis()
  let setup: Setup
  beforeEach(async () => {
    setup = await startSetup({ site: { redis: redis.url(), timeoutMs: 700 }, build: withPages(checkPage) as never })
  })
  afterEach(() => setup.close())

  const at = (path: string) => `${setup.morning.url}${path}`
  const isBack = () => resumeStore(redis, setup.morning.sso)

  test('during a status check that gets no answer → a login past its grace is not shown', async () => {
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
      for (const lock of await redis.commands().keys('*check:*')) await redis.commands().del(lock) // its time goes by the clock of Redis
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

  test('[S14, O17] req.sso2.check() throws a typed error, with and without a user', async () => {
    const browser = await loggedInBrowser(setup)
    expect((await browser.fetchJson(at('/check'))).json).toEqual({ status: 'loggedin' })
    redis.hang()
    const { status, json } = await browser.fetchJson(at('/check'))
    expect([status, json]).toEqual([200, { isOurs: true, code: 'ERR_SSO2_UNAVAILABLE', operation: 'store' }])
    await eventually(async () => (await setup.browser().fetchJson(at('/check'))).json['operation'] === 'store')
  })

  test('Redis does not store a landing → no second one at once; the page heals with Redis', async () => {
    const [user, newUser] = [setup.browser(), setup.browser()]
    await user.visit(at('/'))
    const limitMemory = (bytes: string) => redis.commands().config('SET', 'maxmemory', bytes)
    await limitMemory('1') // Redis responds, and takes nothing: as for a user whose shard of a Cluster is gone
    const step = async (url: string) => {
      await user.fetchJson(at('/')) // Redis is well, as far as this process can tell
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
})
