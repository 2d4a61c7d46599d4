import { once } from 'node:events'
import net from 'node:net'
import { Sso2Client } from '../../lib/remote/sso2'
import { type Behaviour, json } from './faulty-server'
import { claimsOf, device, isWell, now, onlyOf, says, scene, secret } from './sso-scene'

/* What counts as an outage of the SSO system, and what ends one. */

/** Polls until something is true. */
async function until(isTrue: () => boolean, most: number): Promise<number> {
  const start = performance.now()
  while (!isTrue()) {
    if (performance.now() - start > most) throw new Error(`not within ${most} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - start
}

const outages: [name: string, behave: Behaviour][] = [
  ['a page in place of an answer', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>Back soon.')],
  ['an empty answer', (res) => res.writeHead(200).end()],
  ['HTTP 404', (res) => res.writeHead(404).end('<p>Not here.')],
  ['a redirect', (res) => res.writeHead(302, { location: 'https://example.com/' }).end()],
  ['HTTP 429', (res) => json(res, 429, {})],
  ['HTTP 503', (res) => json(res, 503, {})],
  ['a token of somebody else', says({}, 'another secret than that of the site: 0123456789')],
  ['a token that is none', (res) => json(res, 200, { t: 'maintenance' })],
  ['an answer of another session', says({ sid: 's2' })],
  ['an answer that no interface knows', says({ sts: 'sleeping' })],
  ['a refusal of our tokens', says({ err: 'invalid_token', sts: null })],
]

test.concurrent.each(outages)(
  '%s is an outage, found out within five questions, and healed within 5 s',
  async (_name, behave) => {
    const { server, client, ask, times, close } = await scene(behave)
    await times(2, ask)
    await until(() => !client.isAvailable, 4500)
    expect(server.seen.length).toBe(5)
    expect(client.answeredAt).toBeUndefined()
    server.become(isWell)
    const left = now()
    await until(() => client.isAvailable, 5500)
    expect(server.seen.length).toBe(1)
    expect(client.answeredAt).toBeGreaterThan(left)
    await close()
  },
)

test.concurrent.each<[name: string, behave: Behaviour]>([
  ['an answer of another session to one of them', onlyOf('s1', says({ sid: 's2' }))],
  ['a page in place of an answer to one of them', onlyOf('s1', (res) => res.end('<p>Sorry.'))],
  ['a session that it does not know', says({ err: 'session_not_found', sts: null })],
])('%s is none', async (_name, behave) => {
  const { client, ask, close } = await scene(behave)
  for (let asked = 0; asked < 8; asked += 1) {
    await ask() // more seldom than that, for each unanswered question is followed by a pause
    await new Promise((resolve) => setTimeout(resolve, 600))
  }
  expect(client.isAvailable).toBe(true)
  await close()
})

test.concurrent.each<[name: string, behave: Behaviour]>([
  ['a wrong password', says({ err: 'invalid_credentials', raa: 3 })],
  ['a token that somebody typed his way into', says({ err: 'invalid_token', sts: null })],
  ['too many attempts', (res) => json(res, 429, {})],
  ['a form that it does not take', onlyOf('s1', (res) => json(res, 400, {}))],
  ['a form that is too long for it', onlyOf('s1', (res) => res.writeHead(413).end('<p>Too much.'))],
  ['a form that it fails on', onlyOf('s1', (res) => json(res, 500, {}))],
  ['a form that it answers with what is no token', onlyOf('s1', (res) => res.end('<p>Sorry.'))],
])('nobody opens the circuit for all by logging in: %s', async (_name, behave) => {
  const { client, logIn, times, close } = await scene(behave)
  await times(8, logIn)
  await Promise.all(Array.from({ length: 8 }, logIn))
  expect(client.isAvailable).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 1500)) // a doubt has been looked into
  expect(client.isAvailable).toBe(true)
  await close()
})

test.concurrent('an outage that nobody meets but who logs in is found out all the same', async () => {
  const { client, logIn, close } = await scene((res) => json(res, 503, {}))
  await logIn()
  expect(client.isAvailable).toBe(true)
  await until(() => !client.isAvailable, 7000)
  await close()
})

test.concurrent('a probe that is answered by another system does not close it', async () => {
  const { server, client, ask, times, close } = await scene((res) => json(res, 503, {}))
  await times(5, ask)
  server.become(says({}))
  await until(() => server.seen.length === 1, 5500)
  expect(await ask()).toMatchObject({ code: 'ERR_SSO2_UNAVAILABLE' })
  expect(client.isAvailable).toBe(false)
  expect(JSON.stringify(claimsOf(server.seen[0]?.body ?? ''))).not.toContain('"s1"')
  await close()
})

test.concurrent('the time that a 429 asks for is kept to, and the probes keep to it too', async () => {
  const { server, client, ask, times, close } = await scene((res) => json(res, 429, {}, { 'retry-after': '7' }))
  await times(2, ask)
  await until(() => !client.isAvailable, 4500)
  server.become(isWell)
  expect(await until(() => client.isAvailable, 8500)).toBeGreaterThan(6500)
  await close()
})

test('the probe goes the way that the calls go', async () => {
  const real = globalThis.fetch
  const { server, client, ask, times, close } = await scene((res) => json(res, 503, {}))
  const asked: string[] = []
  globalThis.fetch = (address, init) => {
    asked.push(String(address))
    return real(address, init)
  }
  try {
    await times(2, ask)
    await until(() => !client.isAvailable, 4500)
    expect(asked).toEqual(Array.from({ length: 5 }, () => `${server.url}/sessionstatus`))
  } finally {
    globalThis.fetch = real
    await close()
  }
})

test('kept connections that have gone silent are replaced, however many there are', async () => {
  const { server, client, ask, close } = await scene(isWell)
  client.close()
  const pairs: { from: net.Socket; to: net.Socket; isSilent: boolean }[] = []
  const proxy = net.createServer((from) => {
    const to = net.connect(Number(new URL(server.url).port), '127.0.0.1')
    const pair = { from, to, isSilent: false }
    pairs.push(pair)
    from.on('data', (data) => pair.isSilent || to.write(data))
    to.on('data', (data) => pair.isSilent || from.write(data))
    for (const one of [from, to]) one.on('error', () => {})
    from.on('close', () => to.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as net.AddressInfo
  server.become((res, seen, count) => {
    res.setHeader('keep-alive', 'timeout=60')
    isWell(res, seen, count)
  })
  const through = new Sso2Client({
    ssoUrl: `http://127.0.0.1:${port}`,
    clientId: 'the-site',
    clientSecret: secret,
    organisationId: 'the-publisher',
    timeoutMs: 500,
  })
  const question = () => through.sessionStatus({ sid: 's1', lks: 'anon', ...device })
  await Promise.all(Array.from({ length: 40 }, question))
  for (const pair of pairs) pair.isSilent = true
  const isHealed = () =>
    question().then(
      () => true,
      () => false,
    )
  const start = performance.now()
  while (!(await isHealed())) {
    if (performance.now() - start > 7000) throw new Error('not healed within 7 s')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  through.close()
  for (const { from } of pairs) from.destroy()
  proxy.close()
  expect(await ask()).toBeDefined()
  await close()
}, 20_000)
