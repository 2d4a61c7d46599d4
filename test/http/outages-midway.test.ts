import { demoOptions } from '../../lib/emulator'
import type { Browser } from '../support/agent'
import { clientFailingAt, failingStore } from '../support/failing-store'
import { ada, eventually, healthWithStore, logInAtLast, present, startSetup, view, visitor } from '../support/setup'
import { loginsAtSso } from '../support/signed-out'

/*
 * Redis goes away in the middle of a request: at each of its commands in turn, which Redis has carried out or not. The browser gets a
 * response at once, no page shows another user, and all is well when Redis is back.
 */

/** Accounts that one browser each logs in with: what one of them ends is not the others'. */
const users = Array.from({ length: 50 }, (_, index) => ({
  accountId: `account-${index}`,
  username: `user${index}`,
  password: `password-of-user-${index}`,
}))

/** A setup of its own, and a morning site whose Redis can go away. */
async function openScene() {
  const store = failingStore()
  const accounts = [...present(demoOptions().accounts), ...users]
  const site = (name: string) => (name === 'morning' ? { redis: store.client } : {})
  const setup = await startSetup({ emulator: { accounts }, site })
  return {
    setup,
    store,
    at: (path: string) => `${setup.morning.url}${path}`,
    /** Status, user and `degraded` of a page, as soon as it is served without `degraded`: a busy machine may be late once more. */
    settled: async (browser: Browser) => {
      let seen = { status: '', degraded: undefined as string | undefined, username: undefined as string | undefined }
      const isWell = async () => {
        const { status, degraded, username } = view(await browser.visit(`${setup.morning.url}/`))
        seen = { status, degraded, username }
        return degraded === undefined
      }
      await eventually(isWell).catch(() => undefined)
      return seen
    },
    close: async () => {
      await setup.close()
      store.client.disconnect()
    },
  }
}
type Scene = Awaited<ReturnType<typeof openScene>>
type Account = (typeof users)[number]
type Act = (browser: Browser, scene: Scene, account: Account) => Promise<{ status: number }>

const logIn: Act = (browser, { setup }, account) => logInAtLast(browser, setup.morning, account)
const logOut =
  (path: string): Act =>
  (browser, { at }) =>
    browser.fetchJson(at(path), { json: {} })

/** Does something at each command, each time with another browser. The last time there is no such command. @returns browsers and statuses */
async function atEachCommand(scene: Scene, doesOneMore: boolean, prepare: Act, act: Act) {
  const { setup, store } = scene
  const told: number[] = []
  const browsers: { browser: Browser; cookie: string }[] = []
  for (let commands = 0, isOver = false; !isOver; commands += 1) {
    const browser = setup.browser()
    const account = present(users[commands])
    const isReady = () =>
      prepare(browser, scene, account).then(
        ({ status }) => status === 200, // on a busy machine Redis may be late: no form, or no login
        () => false,
      )
    await eventually(isReady)
    browsers.push({ browser, cookie: `sso2.sid=${browser.cookie('sso2.sid')}` })
    store.goAwayAfter(commands, doesOneMore)
    told.push((await act(browser, scene, account)).status)
    isOver = store.asked <= commands
    setup.emulator.faults.clear()
    await store.comeBack(setup.morning.sso)
  }
  return { browsers, told }
}

const openForm: Act = (browser, { at }) => browser.visit(at('/login'))
const submit: Act = (browser, { at }, { username, password }) =>
  browser.submit(at('/login'), { username, password, return_to: '/' })

// each row waits for its own Redis most of the time, so the rows run together
test.concurrent.each([
  ['before it does a command', false],
  ['before it answers one', true],
])('[I3] a login, and Redis goes away %s → 503 or a result, and later a page as ever', async (_way, doesOneMore) => {
  const scene = await openScene()
  const { browsers, told } = await atEachCommand(scene, doesOneMore, openForm, submit)
  scene.setup.emulator.clock.advance(10)
  for (const [commands, { browser }] of browsers.entries()) {
    const { status, degraded, username } = await scene.settled(browser)
    const user = `user${commands}`
    expect([commands, degraded, username]).toEqual([commands, undefined, status === 'loggedin' ? user : undefined])
    expect(['anon', 'loggedin', 'none']).toContain(status) // none: for a few seconds, if Redis failed between two sessions
  }
  // 409: a login that may still be under way
  expect(told.filter((status) => ![200, 401, 409, 503].includes(status))).toEqual([])
  expect(told).toContain(503)
  await scene.close()
})

test.concurrent.each<[what: string, path: string, isAtNextPage: boolean]>([
  ['a logout', '/logout', false],
  ['a logout of all', '/logout-all', false],
  ['the page after a logout of all without Redis', '/logout-all', true],
])(
  '[I5] Redis goes away during %s → over when it is back, and the old cookie opens nothing',
  async (_what, path, isAtNextPage) => {
    const scene = await openScene()
    const { setup, store, at } = scene
    const logOutWithoutRedis: Act = async (browser, own, account) => {
      const page = await logIn(browser, own, account)
      store.goAwayAfter(0, false)
      await logOut(path)(browser, own, account)
      await store.comeBack(setup.morning.sso)
      return page
    }
    const { browsers, told } = isAtNextPage
      ? await atEachCommand(scene, true, logOutWithoutRedis, (browser) => browser.visit(at('/')))
      : await atEachCommand(scene, true, logIn, logOut(path))
    expect(told).toEqual(told.map(() => 200))
    const notOver = new Map(browsers.entries())
    const look = async ([commands, { browser }]: [number, { browser: Browser }]) => {
      const { status, degraded } = view(await browser.visit(at('/')))
      if (status === 'anon' && degraded === undefined) notOver.delete(commands)
    }
    await eventually(async () => {
      setup.emulator.clock.advance(150) // longer than the longest wait for the next retry
      await Promise.all([...notOver].map(look))
      return notOver.size === 0
    }, 40).catch(() => undefined)
    expect([...notOver.keys()]).toEqual([])
    for (const [commands, { cookie }] of browsers.entries()) {
      const { json } = await setup.browser().fetchJson(at('/'), { headers: { cookie } })
      expect([commands, json.status]).not.toEqual([commands, 'loggedin'])
    }
    expect(browsers.length).toBeGreaterThan(4)
    expect(setup.emulator.sessions().filter(({ status }) => status === 'loggedin')).toEqual([])
    await scene.close()
  },
  120_000, // each row goes on until every command has been lost once
)

test.each([
  ['goes away before the data are removed', 1],
  ['is away', 0],
])(
  '[I5] a logout without a login while Redis %s → the browser sees the data no more, and new ones stay',
  async (...row) => {
    const [, commands] = row
    const { setup, store, at, close } = await openScene()
    const browser = setup.browser()
    const saved = async (path: string) => (await browser.fetchJson(at(path))).json['saved']
    await saved('/keep')
    expect(await saved('/')).toBe('kept')
    store.goAwayAfter(commands, false)
    expect((await browser.fetchJson(at('/logout'), { json: {} })).json['logout']).toBe('pending')
    await store.comeBack(setup.morning.sso)
    expect([await saved('/'), await saved('/keep'), await saved('/')]).toEqual([undefined, 'kept', 'kept'])
    await close()
  },
)

test('[I5] an anonymous visitor logs out while Redis is away, and first comes back by Identify → the data are gone', async () => {
  const { setup, store, at, close } = await openScene()
  const browser = await visitor(setup)
  const saved = async (path: string) => (await browser.fetchJson(at(path))).json['saved']
  expect([await saved('/keep'), await saved('/')]).toEqual(['kept', 'kept'])
  store.goAwayAfter(0, false)
  await browser.fetchJson(at('/logout'), { json: {} })
  setup.emulator.clock.advance(2)
  const { identify } = (await browser.fetchJson(at('/identify-me'))).json
  await store.comeBack(setup.morning.sso)
  await browser.visit(identify)
  expect(await saved('/')).toBeUndefined()
  await close()
})

test('a page that takes long, and puts nothing into its session, after a logout without Redis → a newer cookie stays', async () => {
  const { setup, store, at, close } = await openScene()
  const browser = setup.browser()
  await browser.fetchJson(at('/keep'))
  store.goAwayAfter(0, false)
  await browser.fetchJson(at('/logout'), { json: {} })
  await store.comeBack(setup.morning.sso)
  const gate = setup.morning.gates.add()
  const slow = browser.fetchJson(at(`/wait?gate=${gate.name}`))
  await gate.arrived
  await logInAtLast(browser, setup.morning, ada)
  gate.open()
  expect((await slow).json['saved']).toBeUndefined()
  expect((await browser.fetchJson(at('/'))).json['status']).toBe('loggedin') // a page load would log in again
  await close()
})

test('a login that a logout of all makes void, and Redis fails to remove the former session → the SSO session ends', async () => {
  let fails = false
  const client = clientFailingAt(({ name }) => fails && name === 'del')
  const setup = await startSetup({ site: (name) => (name === 'morning' ? { redis: client } : {}) })
  const { morning, emulator } = setup
  const [laptop, tablet] = [setup.browser(), await visitor(setup)]
  await logInAtLast(laptop, morning, ada)
  const [before, attempts] = [loginsAtSso(setup), setup.countCalls('authenticate')]
  emulator.faults.add({ operation: 'logoutall', kind: 'down' })
  await laptop.fetchJson(`${morning.url}/logout-all`, { json: {} })
  fails = true
  expect((await tablet.fetchJson(`${morning.url}/login`, { json: ada })).status).toBe(503)
  expect([loginsAtSso(setup), setup.countCalls('authenticate')]).toEqual([before, attempts + 1])
  await setup.close()
  client.disconnect()
})

test.each<[what: string, isIt: (key: string, value: string) => boolean]>([
  ['is to note it for a retry', (key) => key.includes(':logout:{')],
  ['is to note that it is confirmed', (key, value) => key.includes(':all:{') && value !== 'open'],
])(
  'a logout of all by a browser that never returns, and Redis fails when it %s → the account can log in',
  async (_, isIt) => {
    let fails = false
    const client = clientFailingAt(
      ({ name, args: [key, value] }) => fails && name === 'set' && isIt(String(key), String(value)),
    )
    const setup = await startSetup({ site: (name) => (name === 'morning' ? { redis: client } : {}) })
    const { morning, emulator } = setup
    const [laptop, phone] = [setup.browser(), setup.browser()]
    await logInAtLast(laptop, morning, ada)
    fails = true
    expect((await laptop.fetchJson(`${morning.url}/logout-all`, { json: {} })).json.logout).toBe('pending')
    fails = false
    await healthWithStore(morning.sso)
    emulator.clock.advance(10)
    await eventually(async () => {
      await phone.visit(`${morning.url}/`)
      return (await phone.fetchJson(`${morning.url}/login`, { json: ada })).status === 200
    })
    await setup.close()
    client.disconnect()
  },
)
