import { type Command, Redis } from 'ioredis'
import { failingStore } from '../flows/failing-store'
import { ada, eventually, loggedIn, type Network, present, resumeStore, startNetwork, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'

/*
 * A second logout after a logout that is not confirmed, and a confirmed logout that is not finished on this site.
 */

let network: Network
let redis: TestRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterEach(async () => {
  redis.resume()
  await network.close()
})
afterAll(() => redis.stop())

const post = (browser: Browser, path: string) => browser.fetchJson(`${network.morning.url}${path}`, { json: {} })
const loginsAtSso = () => network.emulator.sessions().filter(({ status }) => status === 'loggedin').length
const copyOf = (browser: Browser) => `sso2.sid=${present(browser.cookie('sso2.sid'))}`

/** Two browsers of an account, and a copy of the second one's session cookie. */
async function twoBrowsers(): Promise<{ first: Browser; copy: string }> {
  const [first, second] = [await loggedIn(network), await loggedIn(network)]
  return { first, copy: copyOf(second) }
}

async function opens(cookie: string): Promise<boolean> {
  const { json } = await network.browser().fetchJson(`${network.morning.url}/`, { headers: { cookie } })
  return json.status === 'loggedin'
}

describe('"log out", then "log out everywhere"', () => {
  test('[S17] while Redis hangs ends the other sessions too', async () => {
    network = await startNetwork({ site: { redis: redis.url } })
    const { first, copy } = await twoBrowsers()
    redis.hang()
    expect((await post(first, '/logout')).json.logout).toBe('pending')
    expect((await post(first, '/logout-all')).json.logout).toBe('pending')
    await resumeStore(redis, network.morning.sso)
    await eventually(async () => !(await opens(copy)) && loginsAtSso() === 0)
    expect(network.count('logoutall')).toBeGreaterThan(0)
  })

  test('[S17] is confirmed only after the other sessions have ended too', async () => {
    network = await startNetwork()
    const { first, copy } = await twoBrowsers()
    network.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect((await post(first, '/logout')).json.logout).toBe('pending')
    network.emulator.faults.clear()
    expect((await post(first, '/logout-all')).json.logout).toBe('confirmed')
    expect(await opens(copy)).toBe(false)
    expect(loginsAtSso()).toBe(0)
  })

  test('[S17] while the SSO system is down stays a logout of all', async () => {
    network = await startNetwork()
    const { first, copy } = await twoBrowsers()
    for (const operation of ['logout', 'logoutall'] as const) network.emulator.faults.add({ operation, kind: 'down' })
    expect((await post(first, '/logout')).json.logout).toBe('pending')
    expect((await post(first, '/logout-all')).json.logout).toBe('pending')
    network.emulator.faults.clear()
    await eventually(async () => loginsAtSso() === 0)
    expect(await opens(copy)).toBe(false)
  })
})

test.each(['by itself', 'when the browser returns'])(
  '[S17] a confirmed logout of all that Redis did not finish is not sent again %s, so a newer login stays',
  async (way) => {
    const store = failingStore()
    network = await startNetwork({ site: (name) => (name === 'morning' ? { redis: store.client } : {}) })
    const first = await loggedIn(network)
    const copy = copyOf(first)
    store.goAwayAfter(1, false)
    expect((await post(first, '/logout-all')).json.logout).toBe('pending')
    expect(network.count('logoutall')).toBe(1)
    const newer = await loggedIn(network, ada, network.evening)
    await store.comeBack(network.morning.sso)
    if (way === 'when the browser returns') await first.fetchJson(`${network.morning.url}/`)
    await eventually(async () => !(await opens(copy)))
    await eventually(async () => (await network.keys()).every((key) => !key.includes('logouts:')))
    network.emulator.clock.advance(361)
    expect(view(await newer.visit(`${network.evening.url}/`)).status).toBe('loggedin')
    expect(network.count('logoutall')).toBe(1)
    store.client.disconnect()
  },
)

describe('a retry in the background', () => {
  /** Rejects a command of the first retry, as if Redis did not answer. */
  function clientThatFails(fits: (command: Command) => boolean): { client: Redis; hasFailed: () => boolean } {
    const client = new Redis(redis.url, { maxRetriesPerRequest: 1 })
    const send = client.sendCommand.bind(client)
    let [hasTaken, hasFailed] = [false, false]
    client.sendCommand = (command: Command, stream) => {
      const isTake = command.name.startsWith('eval') && command.args.some((arg) => String(arg).includes('logouts:{'))
      if (isTake) command.promise.then((due) => (hasTaken ||= Array.isArray(due) && due.length > 0)).catch(() => {})
      if (hasFailed || !hasTaken || !fits(command)) return send(command, stream)
      hasFailed = true
      command.reject(new Error('Connection is closed.'))
      return command.promise
    }
    return { client, hasFailed: () => hasFailed }
  }
  const has = (command: Command, text: string) => command.args.some((arg) => String(arg).includes(text))

  test.each<[step: string, fits: (command: Command) => boolean]>([
    ['its logout', (command) => command.name === 'mget' && has(command, 'pend:')],
    ['the revocation', (command) => command.name.startsWith('eval') && has(command, 'out:{') && has(command, 'sid:{')],
  ])('[S17] is repeated within seconds if Redis does not answer at %s', async (_step, fits) => {
    const { client, hasFailed } = clientThatFails(fits)
    network = await startNetwork({ site: (name) => (name === 'morning' ? { redis: client } : {}) })
    const browser = await loggedIn(network)
    network.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect((await post(browser, '/logout')).json.logout).toBe('pending')
    network.emulator.clock.advance(400) // the logout has waited long, so a failed retry would wait long too
    network.emulator.faults.clear()
    await eventually(async () => hasFailed())
    network.emulator.clock.advance(6) // the time for which the logout belongs to the failed retry
    await eventually(async () => loginsAtSso() === 0, 10)
    client.disconnect()
  })
})
