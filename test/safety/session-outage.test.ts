import net, { type AddressInfo, type Socket } from 'node:net'
import { ada, eventually, logIn, type Network, startNetwork, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'
import { beginFlow, type Flow, hearEvents, land, landingToken } from './session-support'

/** No page may take longer, in milliseconds: the machine of the tests is slow, the deadline of one command is 300. */
const BOUND_MS = 2500

interface Outage {
  network: Network
  /** A browser that was logged in before, where there was a store before. */
  browser: Browser
  flow: Flow
  /** Brings the store back, where it can be. */
  end?: () => Promise<void>
  close(): Promise<void>
}

let events: ReturnType<typeof hearEvents>
let warn: jest.SpyInstance
beforeAll(() => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  events = hearEvents()
})
afterAll(() => {
  events.stop()
  warn.mockRestore()
})

async function withRedis(stop: (redis: TestRedis) => Promise<void>, end?: (redis: TestRedis) => Promise<TestRedis>) {
  let redis = await startRedis()
  const network = await startNetwork({ site: { redis: redis.url } })
  const browser = network.browser()
  await eventually(async () => (await network.morning.sso.health()).store === 'ok')
  await eventually(async () => {
    await browser.visit(`${network.morning.url}/`)
    const landed = await logIn(browser, network.morning, ada)
    return landed.status === 200 && view(landed).status === 'loggedin'
  })
  const flow = await beginFlow(network)
  await stop(redis)
  const outage: Outage = {
    network,
    browser,
    flow,
    close: async () => {
      await network.close()
      await redis.stop()
    },
  }
  if (end)
    outage.end = async () => {
      redis = await end(redis)
    }
  return outage
}

/** Something listens at the address of the store, takes every connection, and never says a word. */
async function silent(): Promise<Outage> {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const network = await startNetwork({ site: { redis: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` } })
  const close = async () => {
    await network.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { network, browser: network.browser(), flow: await beginFlow(network), close }
}

const outages: [string, () => Promise<Outage>][] = [
  [
    'was killed',
    () =>
      withRedis(
        (redis) => redis.stop(),
        ({ port }) => startRedis({ port }),
      ),
  ],
  [
    'hangs',
    () =>
      withRedis(
        async (redis) => redis.hang(),
        async (redis) => {
          redis.resume()
          return redis
        },
      ),
  ],
  ['takes connections and stays silent from the start', silent],
]

describe.each(outages)('[S14] a Redis that %s', (_what, start) => {
  let outage: Outage
  const at = (path: string) => `${outage.network.morning.url}${path}`
  const identifies = () => outage.network.count('identify')

  beforeAll(async () => {
    outage = await start()
  })
  beforeEach(() => events.clear())
  afterAll(() => outage.close())

  async function inTime<T>(run: () => Promise<T>): Promise<T> {
    const started = performance.now()
    const result = await run()
    expect(performance.now() - started).toBeLessThan(BOUND_MS)
    return result
  }

  /** A session cookie of the right form, where the store was never there to give one. */
  const isKnown = () => outage.browser.cookie('sso2.sid') !== undefined

  test('leaves pages served without a session, said so, with no cookie touched and no Identify', async () => {
    const before = identifies()
    const cookie = outage.browser.cookie('sso2.sid')
    for (const path of ['/one', '/two', '/three', '/four', '/five']) {
      const visit = await inTime(() => outage.browser.visit(at(path)))
      expect(visit.status).toBe(200)
      expect(view(visit)).toMatchObject({ status: 'none', url: path })
      if (!isKnown()) continue
      expect(view(visit).degraded).toBe('store_unavailable')
      expect(visit.trail.map(({ setCookie }) => setCookie)).toEqual([[]])
    }
    expect(outage.browser.cookie('sso2.sid')).toBe(cookie)
    if (isKnown()) {
      expect(identifies()).toBe(before)
      expect(events.heard).toContain('degraded served store_unavailable')
    }
  })

  test('gives no login: a password is not sent on, and the answer is a 503 without a word about it', async () => {
    const before = outage.network.count('authenticate')
    const { status, json } = await inTime(() => outage.browser.fetchJson(at('/login'), { json: ada }))
    expect({ status, json }).toEqual({ status: 503, json: { error: 'unavailable' } })
    expect(outage.network.count('authenticate')).toBe(before)
  })

  test('takes no landing token: without a check for replay there is no login', async () => {
    const before = outage.network.count('token')
    const token = landingToken(outage.network, { sid: 'some-session', sts: 'loggedin', at: 'a-ticket' })
    const answer = await inTime(() => land(outage.network, outage.flow, token))
    expect(answer.status).toBe(303)
    expect(answer.setCookie.filter((line) => line.startsWith('sso2.sid='))).toEqual([])
    expect(events.heard).toContain('landing as_it_is store_unavailable')
    expect(outage.network.count('token')).toBe(before)
  })

  test('leaves a new visitor served after three trips at most', async () => {
    const visitor = outage.network.browser()
    const visit = await visitor.visit(at('/visitor'))
    expect(visit.status).toBe(200)
    expect(view(visit).status).toBe('none')
    expect(visit.trail.filter(({ url }) => url.includes('/sso/identify?')).length).toBeLessThanOrEqual(3)
    expect(visitor.cookie('sso2.sid')).toBeUndefined()
  })

  test('keeps guarded pages shut', async () => {
    for (const path of ['/account', '/sensitive']) {
      const { status, body } = await inTime(() => outage.browser.fetchJson(at(path)))
      expect([401, 503]).toContain(status)
      expect(body).not.toContain('ada')
    }
    const page = await outage.browser.visit(at('/account'))
    expect(page.body).not.toContain('"loggedin"')
  })

  test('is told by health(), and no visitor waits where it comes back', async () => {
    expect((await outage.network.morning.sso.health()).store).toBe('unavailable')
    if (!outage.end) return
    await outage.end()
    await eventually(async () => view(await outage.browser.visit(at('/back'))).status === 'loggedin')
    expect((await outage.network.morning.sso.health()).store).toBe('ok')
  })
})
