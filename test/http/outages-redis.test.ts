import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import calculateSlot from 'cluster-key-slot'
import type { Cluster } from 'ioredis'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { startCluster } from '../support/cluster'
import { loggerTo } from '../support/log-lines'
import { useRedis } from '../support/redis'
import { ada, eventually, logIn, sessionIdOf, view } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'
import { timed } from '../support/wait'

/* What users see, and the log says, where Redis serves only a part: a user with few permissions, and one of three masters away. */

const documented = () => {
  const page = readFileSync(path.join(__dirname, '../../docs/deployment.md'), 'utf8')
  const [, rules = ''] = /ACL SETUSER news on >password (.+)/.exec(page) ?? []
  return rules.split(' ')
}

const server = useRedis()

test('a Redis user with the commands of docs/deployment.md: login, check, log out everywhere and health work', async () => {
  await server.commands().call('ACL', 'SETUSER', 'news', 'on', '>password', ...documented())
  const lines: string[] = []
  const redis = server.url().replace('://', '://news:password@')
  const setup = await startSite({
    options: { redis, session: { prefix: 'news:' }, logger: loggerTo(lines) },
    prefix: false,
  })
  const user = setup.browser()
  await user.visit(`${setup.url}/`)
  expect(view(await logIn(user, setup, ada))).toMatchObject({ status: 'loggedin' })
  setup.emulator.clock.advance(361)
  expect(view(await user.visit(`${setup.url}/account`))).toMatchObject({ status: 'loggedin' })
  await user.submit(`${setup.url}/logout-all`, { return_to: '/' })
  expect(view(await user.visit(`${setup.url}/`))).toMatchObject({ status: 'anon' })
  expect((await setup.sso.health()).store).toBe('ok')
  expect(lines.filter((line) => line.includes('Redis'))).toEqual([])
  await setup.close()
})

describe('one of three masters stops and stays silent', () => {
  const USERS = 24
  const lines: string[] = []
  const members: Browser[] = []
  let running: Awaited<ReturnType<typeof startCluster>>
  let cluster: Cluster
  let setup: RunningSite

  beforeAll(async () => {
    running = await startCluster()
    cluster = running.client({ disconnectTimeout: 100 })
    cluster.on('error', () => {})
    await once(cluster, 'ready')
    const loginLimit = { attempts: USERS, perSeconds: 60 }
    setup = await startSite({ options: { redis: cluster, logger: loggerTo(lines), loginLimit } })
    while (members.length < USERS) members.push(await loggedInBrowserAt(setup))
    running.masters[1]?.hang()
  }, 60_000)
  afterAll(async () => {
    running.masters[1]?.resume()
    await setup.close()
    cluster.disconnect()
    await running.stop()
  })

  /** Is the key of the session on the stopped master, the second of three? */
  function isAway(browser: Browser): boolean {
    const slot = calculateSlot(`${setup.prefix}sess:{${sessionKey(sessionIdOf(browser))}}`)
    return slot >= 5461 && slot <= 10_921
  }
  const statusOf = async (browser: Browser) => (await browser.fetchJson(`${setup.url}/`)).json.status

  test('users whose session is on another master stay logged in, and those of the stopped one get a page without a user', async () => {
    const [away, elsewhere] = [members.filter(isAway), members.filter((member) => !isAway(member))]
    expect(Math.min(away.length, elsewhere.length)).toBeGreaterThan(0)
    for (const browser of away) expect(await statusOf(browser)).toBe('none')
    for (const browser of elsewhere) expect(await statusOf(browser)).toBe('loggedin')
  })

  test('a script without a session gets 503, and the log says why', async () => {
    await eventually(async () => {
      const browser = setup.browser()
      if (view(await browser.visit(`${setup.url}/`)).status !== 'none') return false
      const { status, json } = await browser.fetchJson(`${setup.url}/login`, { json: ada })
      expect([status, json.error]).toEqual([503, 'unavailable'])
      return true
    })
    expect(lines).toContainEqual(expect.stringMatching(/Redis does not respond: no_answer/))
  })

  test('the master is back → all users are served within 5 s', async () => {
    running.masters[1]?.resume()
    const [, ms] = await timed(() =>
      eventually(async () => (await Promise.all(members.map(statusOf))).every((one) => one === 'loggedin')),
    )
    expect(ms).toBeLessThan(5300)
  })
})
