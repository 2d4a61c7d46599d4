import { Cluster, Redis } from 'ioredis'
import { demoOptions } from '../../lib/emulator'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'
import { ada, behindProxy, eventually, logIn, view } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite, withPages } from './support'

/** The name "ada" in full-width letters. */
const fullWidth = '\uff41\uff44\uff41'

describe('on Redis Cluster', () => {
  let node: TestRedis
  let cluster: Cluster
  beforeAll(async () => {
    node = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] })
    const redis = new Redis(node.port)
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await eventually(async () => String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok'))
    redis.disconnect()
    cluster = new Cluster([{ host: '127.0.0.1', port: node.port }])
  })
  afterAll(async () => {
    cluster.disconnect()
    await node.stop()
  })

  test.each(['morning', 'a{b', 'a}b', 'a{}b', '{morning}', 'a{b}c', '}{'])(
    '[O15] a site whose clientId is %s works, all of it',
    async (clientId) => {
      const options = { redis: cluster, loginLimit: { attempts: 20, perSeconds: 60 } }
      const setup = await startSite({ clientId, prefix: false, options })
      try {
        const browser = await loggedInBrowserAt(setup)
        const kept = await browser.fetchJson(`${setup.url}/keep`)
        expect(kept.json).toMatchObject({ status: 'loggedin', saved: 'kept' })
        setup.emulator.clock.advance(361)
        const checked = await browser.visit(`${setup.url}/sensitive`)
        expect(view(checked)).toEqual({ status: 'loggedin', username: 'ada', saved: 'kept', url: '/sensitive' })
        const other = await loggedInBrowserAt(setup)
        const page = await other.submit(`${setup.url}/logout-all`, { return_to: '/' })
        expect(view(page)).toEqual({ status: 'anon', url: '/' })
        expect((await browser.fetchJson(`${setup.url}/account`)).status).toBe(401)
      } finally {
        await setup.close()
      }
    },
  )
})

describe('[F10] X-Forwarded-For', () => {
  let setup: RunningSite
  beforeAll(async () => {
    setup = await startSite({
      options: { loginLimit: { attempts: 2, perSeconds: 60 } },
      emulator: { limits: { attemptsBeforeFreeze: 1000 } },
      build: behindProxy,
    })
  })
  afterAll(() => setup.close())

  async function attempt(forwarded: string, username: string) {
    const browser = setup.browser()
    await browser.visit(`${setup.url}/`)
    const headers = { 'x-forwarded-for': forwarded }
    return browser.fetchJson(`${setup.url}/login`, { json: { username, password: 'wrong' }, headers })
  }

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:5678', '203.0.113.9'],
    ['198.51.100.7, 203.0.113.9:80', '203.0.113.9'],
    ['10.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, evil"<b>', '0.0.0.0'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['evil', '0.0.0.0'],
    ['203.0.113.999:80', '0.0.0.0'],
    ['[2001:db8::1', '0.0.0.0'],
    ['203.0.113.9:80:80', '0.0.0.0'],
  ])('%s is the address %s', async (forwarded, address) => {
    const username = `user at ${forwarded}`
    await attempt(forwarded, username)
    const calls = setup.emulator.calls({ operation: 'authenticate' }).filter(({ claims }) => claims['usr'] === username)
    expect(calls.map(({ claims }) => claims['ipa'])).toEqual([address])
  })

  test('[F3] attempts from one address stop at the limit on all ports, and those from another address do not', async () => {
    const statuses: number[] = []
    for (const port of [1001, 1002, 1003, 1004]) statuses.push((await attempt(`203.0.113.20:${port}`, 'ada')).status)
    expect(statuses).toEqual([401, 401, 429, 429])
    expect((await attempt('203.0.113.21:1001', 'ada')).status).toBe(401)
  })
})

test.each([
  ['ada', 'ADA'],
  ['ada', fullWidth],
  [fullWidth, 'ada'],
])('[F13] a device cookie of "%s" is none of "%s"', async (known, tried) => {
  const evil = { accountId: 'account-evil', username: fullWidth, password: ada.password }
  const loginLimit = { attempts: 10, perSeconds: 60 }
  const accounts = [...(demoOptions().accounts ?? []), evil]
  const setup = await startSite({ options: { loginLimit }, emulator: { accounts } })
  let guesses = 0
  const guess = async (browser: Browser) => {
    guesses += 1
    const json = { username: tried, password: `wrong ${guesses}` }
    return (await browser.fetchJson(`${setup.url}/login`, { json })).json.error
  }
  try {
    const [browser, other] = [setup.browser(), setup.browser()]
    await logIn(browser, setup, { ...ada, username: known })
    await browser.submit(`${setup.url}/logout`, { return_to: '/' })
    await other.visit(`${setup.url}/`)
    for (let tries = 0; tries < loginLimit.attempts; tries += 1) await guess(other)
    expect(await guess(browser)).toBe('too_many_attempts')
  } finally {
    await setup.close()
  }
})

test('loadUser: its user has a field named __proto__ → the field is dropped, and no copy of the user inherits from it', async () => {
  const user = '{"accountId":"account-ada","__proto__":{"isAdmin":true},"plan":{"__proto__":{"isPaid":true}}}'
  const copies = withPages((app) => {
    app.get('/copy', (req, res) => {
      const copy = Object.assign({}, req.sso2.user, Reflect.get(req.sso2.user ?? {}, 'plan'))
      res.json([Reflect.ownKeys(req.sso2.user ?? {}), 'isAdmin' in copy, 'isPaid' in copy])
    })
  })
  const setup = await startSite({ build: copies, options: { loadUser: async () => JSON.parse(user) } })
  const browser = await loggedInBrowserAt(setup)
  const { json } = await browser.fetchJson(`${setup.url}/copy`)
  await setup.close()
  expect(json).toEqual([['accountId', 'plan'], false, false])
})
