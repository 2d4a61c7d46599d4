import type { Sso2ClientOptions } from '../../lib/remote/sso2-options'
import { fakeClock } from './fake-clock'
import { type Behaviour, faultyServer, json } from './faulty-server'
import { isWell, onlyOf, says, scene } from './sso-scene'

/* What opens the circuit of the SSO system, and what does not: as in outages, by a clock that does not take its time. */

const open: (() => Promise<void>)[] = []
async function stage(behave: Behaviour, options: Partial<Sso2ClientOptions> = {}) {
  const made = await scene(behave, { timeoutMs: 5000, ...options })
  open.push(made.close)
  return made
}
afterEach(async () => {
  jest.useRealTimers()
  jest.restoreAllMocks()
  for (const close of open.splice(0)) await close()
})

const page: Behaviour = (res) => res.end('<p>Back soon.')
const isForeign = says({}, 'another secret than that of the site: 0123456789')

test.each<[name: string, behave: Behaviour]>([
  ['a page in place of an answer', page],
  ['no answer', (res) => res.destroy()],
  ['a token of somebody else', isForeign],
  ['a refusal of our tokens', says({ err: 'invalid_token', sts: null })],
])('five times %s open it', async (_name, behave) => {
  fakeClock()
  const { client, ask, times } = await stage(behave)
  await times(4, ask)
  expect(client.isAvailable).toBe(true)
  await ask()
  expect(client.isAvailable).toBe(false)
})

test.each<[name: string, behave: Behaviour]>([
  ['a session that it does not know', isWell],
  ['a session', says({})],
])('%s, however often, does not', async (_name, behave) => {
  fakeClock()
  const { client, ask, times } = await stage(behave)
  await times(6, ask)
  expect(client.isAvailable).toBe(true)
})

test('what fails here, and not there, does not', async () => {
  let isBroken = false
  const clock = {
    now() {
      if (isBroken) throw new TypeError('no time')
      return Date.now()
    },
  }
  const { client, ask, times } = await stage(isWell, { clock })
  isBroken = true
  await times(6, ask)
  expect(client.isAvailable).toBe(true)
  expect(await ask()).toBeInstanceOf(TypeError)
})

test.each<[name: string, behave: Behaviour, error: object]>([
  ['a page', onlyOf('s1', page), { code: 'ERR_SSO2_RESPONSE', status: 200 }],
  ['HTTP 500', onlyOf('s1', (res) => json(res, 500, {})), { code: 'ERR_SSO2_RESPONSE', status: 500 }],
  ['a token of somebody else', onlyOf('s1', isForeign), { code: 'ERR_SSO2_TOKEN', reason: 'signature' }],
])(
  'a login that is answered with %s opens it for nobody, and has the SSO system asked',
  async (_name, behave, error) => {
    const { pass } = fakeClock()
    const { server, client, logIn, times } = await stage(behave)
    await times(8, logIn)
    expect(await logIn()).toMatchObject(error)
    expect(server.seen.length).toBe(9)
    await pass(1100)
    expect([client.isAvailable, server.seen.length]).toEqual([true, 10])
    expect(server.seen.at(-1)?.url).toBe('/sessionstatus')
  },
)

test('a login that is answered well asks nobody else', async () => {
  const { pass } = fakeClock()
  const { server, logIn } = await stage(says({ sts: 'loggedin', at: 'a-ticket' }))
  expect(await logIn()).toMatchObject({ sts: 'loggedin', at: 'a-ticket' })
  await pass(2000)
  expect(server.seen.length).toBe(1)
})

test('an SSO system that asks to be left alone at a login is left alone', async () => {
  const { pass } = fakeClock()
  const { server, client, logIn, times } = await stage((res) => json(res, 429, {}))
  await times(6, logIn)
  expect(await logIn()).toMatchObject({ code: 'ERR_SSO2_RESPONSE', status: 429 })
  await pass(2000)
  expect([client.isAvailable, server.seen.length]).toEqual([true, 7])
})

test('an outage that nobody meets but who logs in is found out by what is asked then', async () => {
  const { until } = fakeClock()
  const { client, logIn } = await stage((res) => json(res, 503, {}))
  await logIn()
  await until(() => !client.isAvailable, 5500)
  expect(await logIn()).toMatchObject({ code: 'ERR_SSO2_UNAVAILABLE', operation: 'authenticate', retryable: true })
})

test('logins that get no answer at all open it as any question does', async () => {
  fakeClock()
  const { client, logIn, times } = await stage((res) => res.destroy())
  await times(4, logIn)
  expect(client.isAvailable).toBe(true)
  expect(await logIn()).toMatchObject({ code: 'ERR_SSO2_UNAVAILABLE', retryable: false })
  expect(client.isAvailable).toBe(false)
})

test('a login that never left is sent once more', async () => {
  const gone = await faultyServer()
  await gone.close()
  const { client, logIn } = await stage(page, { ssoUrl: gone.url })
  const fetch = jest.spyOn(globalThis, 'fetch')
  expect(await logIn()).toMatchObject({ code: 'ERR_SSO2_UNAVAILABLE', retryable: true })
  expect(fetch).toHaveBeenCalledTimes(2)
  expect(client.isAvailable).toBe(true)
})
