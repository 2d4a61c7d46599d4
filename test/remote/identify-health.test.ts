import { demoOptions } from '../../lib/emulator'
import { Log } from '../../lib/log/log'
import { IdentifyHealth } from '../../lib/remote/identify-health'
import { Sso2Client } from '../../lib/remote/sso2-client'
import { sharedEmulator } from '../emulator/shared'
import { type Behaviour, faultyServer, nobody } from '../support/faulty-server'
import { send } from '../support/http'
import { loggerTo } from '../support/log-lines'
import { fakeClock } from './fake-clock'
import { openInTest } from './sso-scene'

const siteUrl = 'http://morning.localhost:1'
const landingUrl = `${siteUrl}/sso2/landing`
const routes = { login: '/login', logout: '/logout', logoutAll: '/logout-all' } as const
const [clientId, clientSecret] = ['morning', 'client-secret-of-the-morning-paper-0123456789']
const organisationId = 'the-publisher'

const clients = [{ clientId, clientSecret, name: 'Morning', landingPage: landingUrl }]
const { emulator } = sharedEmulator(demoOptions({ clients, organisationId }))
const open = openInTest()
let clock: ReturnType<typeof fakeClock>

beforeEach(async () => {
  clock = fakeClock()
  await clock.pass(5000)
})

/** What the operator was told. */
const lines: string[] = []

function channel(ssoUrl = `${emulator.url}/sso`, timeoutMs = 500, isElsewhere = false) {
  lines.length = 0
  const client = new Sso2Client({ ssoUrl, clientId, clientSecret, organisationId, timeoutMs })
  const log = new Log(loggerTo(lines))
  const front = new IdentifyHealth(client, {
    siteUrl,
    routes: { ...routes, landing: isElsewhere ? false : '/sso2/landing' },
    timeoutMs,
    agent: undefined,
    log,
  })
  open.push(front, client)
  return { client, front }
}

/** An SSO system whose Identify behaves so, and whose back channel is the emulator's. */
async function server(behave: Behaviour) {
  const made = await faultyServer()
  const ask = async ({ url: path, body }: Parameters<Behaviour>[1]) => {
    const headers = { 'content-type': 'application/json' }
    return (await send({ method: 'POST', url: new URL(`${emulator.url}/sso${path}`), headers, body })).body
  }
  made.become(async (res, seen, count) =>
    seen.method === 'GET' ? behave(res, seen, count) : void res.end(await ask(seen)),
  )
  open.push(made)
  return made
}

const redirects = (front: IdentifyHealth, count: number) => {
  for (let redirect = 0; redirect < count; redirect += 1) front.noteRedirect()
}
const count = (operation: string) => emulator.calls({ operation }).length
const counts = () => [count('sessionstatus'), count('identify')]
const breakIdentify = () => emulator.faults.add({ operation: 'identify', kind: 'status', code: 503 })
const hangIdentify = () => {
  emulator.faults.add({ operation: 'identify', kind: 'hang' })
  clock.expectSilence()
}
/** So many visitors a second until none is redirected any more. @returns for how long they were, in milliseconds */
async function untilSpared(front: IdentifyHealth, perSecond: number) {
  const pauseMs = Math.max(50, 1000 / perSecond)
  for (let passed = 0; passed < 20_000; passed += pauseMs) {
    if (!front.isAvailable) return passed
    redirects(front, Math.max(1, perSecond / 20))
    await clock.pass(pauseMs)
  }
  return Number.POSITIVE_INFINITY
}

/* When no visitor is sent any more. */

const outages = [
  { how: 'answers 503', begin: breakIdentify, withinMs: 3500 },
  { how: 'never answers', begin: hangIdentify, withinMs: 6000 },
]
const rates = [0.2, 200].map((perSecond) => ({ perSecond }))
const cases = outages.flatMap((outage) => rates.map((rate) => ({ ...outage, ...rate })))
test.each(cases)('an Identify that $how gets no visitor after $withinMs ms, at $perSecond a second', async (one) => {
  const { begin, perSecond, withinMs } = one
  const { front, client } = channel()
  begin()
  if (perSecond < 1) front.noteRedirect()
  const spared = perSecond < 1 ? clock.until(() => !front.isAvailable, 9000) : untilSpared(front, perSecond)
  expect(await spared).toBeLessThanOrEqual(withinMs)
  expect(client.isAvailable).toBe(true)
})

test('visitors are redirected again 1.2 s after Identify works again, and the operator is told', async () => {
  const { front } = channel()
  breakIdentify()
  front.noteRedirect()
  await clock.until(() => !front.isAvailable, 3500)
  await clock.pass(10_000)
  emulator.faults.clear()
  expect(await clock.until(() => front.isAvailable, 5000)).toBeLessThanOrEqual(1200)
  expect(lines).toEqual([
    expect.stringMatching(/SSO system failed: identify: .*HTTP 503.*ssoUrl/s),
    'express-sso2: Identify works again.',
  ])
})

test('32 visits that are not finished, over eight seconds, cost one probe, and no visitor waits', async () => {
  const { front } = channel()
  for (let visit = 0; visit < 32; visit += 1) {
    front.noteRedirect()
    await clock.pass(250)
    expect(front.isAvailable).toBe(true)
  }
  expect(counts()).toEqual([1, 1])
})

/** A visitor who is not back, and as many looks as there are to be until none is sent. */
async function lookedAt(front: IdentifyHealth) {
  front.noteRedirect()
  await clock.pass(3200)
}

/* An Identify that treats the probe and browsers differently. */

test.each([403, 429])('Identify refuses the probe (HTTP %i) → browsers are redirected on', async (status) => {
  const { url: ssoUrl, seen } = await server((res) => res.writeHead(status, { 'retry-after': '1' }).end())
  const { front } = channel(ssoUrl)
  for (let passed = 0; passed < 20_000; passed += 500) {
    front.noteRedirect()
    await clock.pass(500)
    expect([front.isAvailable, front.mayRedirect]).toEqual([true, true])
  }
  expect(lines).toEqual([])
  expect(seen.filter(({ method }) => method === 'GET')).toHaveLength(1)
})

test('Identify shows the probe a challenge → a browser may pass every five seconds, and its return lets all pass', async () => {
  const { url: ssoUrl } = await server((res) => res.writeHead(503).end('<p>Checking your browser.'))
  const { front } = channel(ssoUrl)
  front.noteRedirect() // one visit that is not finished
  await clock.until(() => !front.isAvailable, 5000)
  let passed = 0
  for (let waited = 0; waited < 20_000; waited += 100) {
    if (front.mayRedirect) {
      passed += 1
      front.noteRedirect()
    }
    await clock.pass(100)
  }
  expect(passed).toBe(4)
  expect(await clock.until(() => front.mayRedirect, 5000)).toBeGreaterThan(0)
  front.noteRedirect()
  await clock.pass(2000) // the way of a browser, and two more probes that fail
  expect([front.isAvailable, front.mayRedirect]).toEqual([false, false])
  front.noteReturn(true)
  expect([front.isAvailable, front.mayRedirect]).toEqual([true, true])
})

test('the whole SSO system is down → no browser passes', async () => {
  const { front, client } = channel(nobody)
  front.noteRedirect()
  await clock.until(() => !client.isAvailable, 5000)
  await clock.pass(10_000)
  expect([front.isAvailable, front.mayRedirect]).toEqual([false, false])
})

/* What Identify has to do. */

const isOther =
  /Identify redirects to https:\/\/status\.example\/, but the landing page of this site is http:\/\/morning.*admin portal/
const to =
  (location: string, status = 302): Behaviour =>
  (res) =>
    res.writeHead(status, { location }).end()

test.each<[name: string, line: RegExp, behave: Behaviour]>([
  [
    'shows a page',
    /failed: identify: Identify does not lead on \(HTTP 200\).*SSO2_URL/s,
    (res) => res.end('<p>Back soon.'),
  ],
  ['refuses the client', /HTTP 400.*SSO2_CLIENT_ID.*enabled for SSO2/s, (res) => res.writeHead(400).end()],
  ['leads to another site', isOther, to('https://status.example/?x=1')],
  ['leads here with a bad token', /malformed.*SSO2_URL/, to(`${landingUrl}?t=a.b.c`)],
  ['never answers', /identify: no answer within 500 ms/, () => {}],
])('an Identify that %s is none, and the operator is told so once', async (name, line, behave) => {
  if (name === 'never answers') clock.expectSilence()
  const { url: ssoUrl, seen } = await server(behave)
  const { front } = channel(ssoUrl)
  await lookedAt(front)
  await clock.pass(2500)
  expect(front.isAvailable).toBe(false)
  expect(lines).toEqual([expect.stringMatching(line)])
  const probe = seen.find(({ method }) => method === 'GET')
  expect(probe).toMatchObject({ url: expect.stringContaining('/identify?'), headers: { accept: 'text/html' } })
  expect(new URL(probe?.url ?? '', ssoUrl).searchParams.get('r')).toBe(`${siteUrl}/`)
})

test('that no browser has ever brought a cookie of ours is told, until one has', () => {
  const { front } = channel()
  front.noteReturn(false)
  front.noteReturn(false)
  expect(lines).toEqual([expect.stringMatching(/No browser returns the cookies.*siteUrl \(SSO2_SITE_URL/)])
  const other = channel()
  other.front.noteReturn(true)
  other.front.noteReturn(false)
  expect(lines).toEqual([])
})
