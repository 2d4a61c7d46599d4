import { type Behaviour, json } from '../support/faulty-server'
import { fakeClock } from './fake-clock'
import { device, isWell, onlyOf, says, useScenes } from './sso-scene'

/* What counts as an outage of the SSO system, and what ends one. */

const setup = useScenes()

const foreign = 'another secret than that of the site: 0123456789'
const outages: [name: string, behave: Behaviour][] = [
  ['a page in place of a response', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>Back soon.')],
  ['HTTP 503', (res) => json(res, 503, {})],
  ['a token of another signer', says({}, foreign)],
  ['a response about another session', says({ sid: 's2' })],
  ['a refusal of our tokens', says({ err: 'invalid_token', sts: null })],
]

test.each(outages)('one call that meets %s is enough to notice in 2.2 s, and heals in 1.2 s', async (_name, behave) => {
  const { until } = fakeClock()
  const { server, client, ask } = await setup(behave)
  await ask()
  expect(client.isAvailable).toBe(true)
  await until(() => !client.isAvailable, 2200)
  expect([3, 4]).toContain(server.seen.length)
  server.become(isWell)
  expect(await until(() => client.isAvailable, 5000)).toBeLessThanOrEqual(1200)
  expect(server.seen.length).toBe(1)
})

test('a system that never answers is noticed in 6 s, and heals in 1.2 s', async () => {
  const { until, expectSilence } = fakeClock()
  expectSilence()
  const { server, client, ask } = await setup(() => {}, { timeoutMs: 2000 })
  const start = performance.now()
  void ask()
  await until(() => !client.isAvailable, 9000)
  expect(performance.now() - start).toBeLessThanOrEqual(6000)
  server.become(isWell)
  expect(await until(() => client.isAvailable, 5000)).toBeLessThanOrEqual(1200)
})

test.each([0, 1])(
  'a client that is closed after %i failures probes no more, nor after a later one',
  async (failures) => {
    const { pass } = fakeClock()
    const { server, client, ask, times } = await setup((res) => json(res, 503, {}))
    await times(failures, ask)
    const late = ask()
    client.close()
    await late
    await pass(3000)
    expect(server.seen).toHaveLength(failures + 1)
  },
)

test('a response about another session to one of them is none', async () => {
  const { pass } = fakeClock()
  const { client, ask } = await setup(onlyOf('s1', says({ sid: 's2' })))
  for (let asked = 0; asked < 8; asked += 1) {
    await ask() // a pause follows each check without a response
    await pass(600)
  }
  expect(client.isAvailable).toBe(true)
})

/* Logins: the response to one may be about what the user typed. */

const unreadable = { code: 'ERR_SSO2_RESPONSE', operation: 'authenticate' }
test.each<[name: string, looks: number, answer: object, behave: Behaviour]>([
  ['a wrong password', 0, { err: 'invalid_credentials' }, says({ err: 'invalid_credentials', raa: 3 })],
  ['a token error that a user name has caused', 1, { err: 'invalid_token' }, says({ err: 'invalid_token', sts: null })],
  ['a form that it fails on', 1, { ...unreadable, httpStatus: 500 }, (res) => json(res, 500, {})],
  ['a form that it answers with what is no token', 1, unreadable, (res) => res.end('<p>Sorry.')],
])('[F15] a login does not open the circuit for all: %s causes %i probes', async (_name, looks, answer, behave) => {
  const { pass } = fakeClock()
  const { server, client, logIn, times } = await setup(onlyOf('s1', behave))
  await times(8, logIn)
  expect(await Promise.all(Array.from({ length: 8 }, logIn))).toMatchObject(Array.from({ length: 8 }, () => answer))
  expect([client.isAvailable, server.seen.length]).toEqual([true, 16])
  await pass(1500)
  expect([client.isAvailable, server.seen.length]).toEqual([true, 16 + looks])
  expect(server.seen.filter(({ url }) => url === '/sessionstatus').length).toBe(looks)
})

test('Logout and Logout all that do not work stop nothing else, and cause one probe', async () => {
  const { pass } = fakeClock()
  const { server, client, times } = await setup((res, seen, count) =>
    seen.url.startsWith('/logout') ? json(res, 503, {}) : isWell(res, seen, count),
  )
  await times(4, () => client.logout({ sid: 's1', ...device }).catch(() => {}))
  await times(4, () => client.logoutAll({ aid: 'account-ada', ...device }).catch(() => {}))
  await pass(1500)
  expect([client.isAvailable, server.seen.length]).toEqual([true, 9])
})

test.each<[name: string, behave: Behaviour, error: object, withinMs: number]>([
  ['HTTP 503', (res) => json(res, 503, {}), { code: 'ERR_SSO2_RESPONSE', httpStatus: 503 }, 5500],
  ['no response', (res) => res.destroy(), { code: 'ERR_SSO2_UNAVAILABLE', retryable: false }, 3100],
])('an outage that only logins meet, with %s, is found out all the same', async (_name, behave, error, withinMs) => {
  const { until } = fakeClock()
  const { client, logIn } = await setup(behave)
  expect(await logIn()).toMatchObject(error)
  expect(client.isAvailable).toBe(true)
  await until(() => !client.isAvailable, withinMs)
  expect(await logIn()).toMatchObject({ code: 'ERR_SSO2_UNAVAILABLE', operation: 'authenticate', retryable: true })
})
