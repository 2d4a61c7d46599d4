import { createHash } from 'node:crypto'
import { ada, type Network, present, startNetwork, view } from '../flows/network'

const ROUNDS = 1000
const AT_ONCE = 8

let network: Network
const at = (path: string) => `${network.morning.url}${path}`

beforeAll(async () => {
  network = await startNetwork({ site: { timeoutMs: 10_000 } })
})
afterAll(() => network.close())

type Visitor = ReturnType<Network['browser']>

/** A slow request that is under way, and will save the session's data when it is let go. */
async function slowSave(browser: Visitor) {
  const gate = network.morning.gates.add()
  const answer = browser.fetchJson(at(`/save?gate=${gate.name}`))
  await gate.arrived
  return { open: gate.open, answer }
}

/** Does another request while the save is under way: the save ends after it, or at the same time. */
async function whileSaving<T>(browser: Visitor, isAfter: boolean, act: () => Promise<T>): Promise<T> {
  const slow = await slowSave(browser)
  if (!isAfter) slow.open()
  const result = await act()
  slow.open()
  const { status, headers } = await slow.answer
  expect([status, headers['set-cookie']]).toEqual([200, undefined])
  return result
}

async function expectStranger(cookie: string): Promise<void> {
  const answer = await network.browser().fetchJson(at('/'), { headers: { cookie: `sso2.sid=${cookie}` } })
  expect(answer.json).toEqual({ status: 'none', url: '/' })
  expect(answer.headers['set-cookie']).toBeUndefined()
  const id = decodeURIComponent(cookie).replace(/^s:|\..*$/g, '')
  const key = createHash('sha256').update(id).digest('base64url')
  const [data, record] = await network.redis.mget(
    `${network.morning.prefix}sess:{${key}}`,
    `${network.morning.prefix}sso2:{${key}}`,
  )
  expect(data).toBeNull()
  expect(record).toMatch(/^(moved|ended)$/)
}

async function round(isAfter: boolean): Promise<void> {
  const browser = network.browser()
  expect(view(await browser.visit(at('/'))).status).toBe('anon')
  const anonymous = present(browser.cookie('sso2.sid'))
  const login = await whileSaving(browser, isAfter, () => browser.fetchJson(at('/login'), { json: ada }))
  expect(login.status).toBe(200)
  const known = present(browser.cookie('sso2.sid'))
  expect(known).not.toBe(anonymous)
  expect((await browser.fetchJson(at('/'))).json).toMatchObject({ status: 'loggedin', username: 'ada' })
  await expectStranger(anonymous)

  const logout = await whileSaving(browser, isAfter, () => browser.fetchJson(at('/logout'), { json: {} }))
  expect(logout.status).toBe(200)
  expect((await browser.fetchJson(at('/'))).json.status).toBe('none')
  await expectStranger(known)
}

test('[S6] a slow save by a session that renews its ID by itself sets no old cookie either', async () => {
  const browser = network.browser()
  await browser.visit(at('/'))
  const old = present(browser.cookie('sso2.sid'))
  const other = await slowSave(browser)
  network.emulator.clock.advance(361)
  const sid = present(network.emulator.sessions().at(-1)).sid
  network.emulator.terminate(sid)
  expect(view(await browser.visit(at('/'))).status).toBe('anon')
  other.open()
  expect((await other.answer).headers['set-cookie']).toBeUndefined()
  await expectStranger(old)
})

test(`[S6] ${ROUNDS} times, a slow save of req.session changes neither a login nor a logout`, async () => {
  let next = 0
  const worker = async () => {
    for (let index = next++; index < ROUNDS; index = next++) await round(index % 2 === 0)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  expect(network.count('authenticate')).toBeGreaterThan(0)
}, 120_000)
