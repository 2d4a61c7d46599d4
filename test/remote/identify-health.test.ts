import { demoOptions } from '../../lib/emulator'
import { Log } from '../../lib/log/log'
import { IdentifyHealth } from '../../lib/remote/identify-health'
import { Sso2Client } from '../../lib/remote/sso2'
import { sharedEmulator } from '../emulator/shared'
import { type Behaviour, faultyServer } from '../support/faulty-server'
import { send } from '../support/http'
import { loggerTo } from '../support/log-lines'
import { fakeClock } from './fake-clock'
import { openInTest } from './sso-scene'

const siteUrl = 'http://morning.localhost:1'
const landingUrl = `${siteUrl}/sso2/landing`
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
    landingUrl: isElsewhere ? undefined : landingUrl,
    timeoutMs,
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

const breakIdentify = () => emulator.faults.add({ operation: 'identify', kind: 'status', code: 503 })
const hangIdentify = () => {
  emulator.faults.add({ operation: 'identify', kind: 'hang' })
  clock.expectSilence()
}
const outages = [
  { how: 'answers 503', begin: breakIdentify, withinMs: 3500 },
  { how: 'never answers', begin: hangIdentify, withinMs: 6000 },
]
test.each(outages)('an Identify that $how gets no visitor after $withinMs ms', async ({ begin, withinMs }) => {
  const { front, client } = channel()
  begin()
  front.noteRedirect()
  expect(await clock.until(() => !front.isAvailable, 9000)).toBeLessThanOrEqual(withinMs)
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
    expect.stringMatching(/identify failed: .*HTTP 503.*SSO system at ssoUrl/s),
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
  front.noteReturn()
  expect([front.isAvailable, front.mayRedirect]).toEqual([true, true])
})

const isOther =
  /Identify redirects to https:\/\/status\.example\/, but the landing page of this site is http:\/\/morning.*admin portal/
const to =
  (location: string, status = 302): Behaviour =>
  (res) =>
    res.writeHead(status, { location }).end()

test.each<[name: string, line: RegExp, behave: Behaviour]>([
  ['shows a page', /failed: Identify does not lead on \(HTTP 200\).*SSO2_URL/s, (res) => res.end('<p>Back soon.')],
  ['refuses the client', /HTTP 400.*SSO2_CLIENT_ID.*enabled for SSO2/s, (res) => res.writeHead(400).end()],
  ['leads to another site', isOther, to('https://status.example/?x=1')],
])('an Identify that %s is none, and the operator is told so once', async (_name, line, behave) => {
  const { url: ssoUrl, seen } = await server(behave)
  const { front } = channel(ssoUrl)
  front.noteRedirect()
  await clock.pass(5700)
  expect(front.isAvailable).toBe(false)
  expect(lines).toEqual([expect.stringMatching(line)])
  const probe = seen.find(({ method }) => method === 'GET')
  expect(probe).toMatchObject({ url: expect.stringContaining('/identify?'), headers: { accept: 'text/html' } })
  expect(new URL(probe?.url ?? '', ssoUrl).searchParams.get('r')).toBe(`${siteUrl}/`)
})

test('that no browser has ever brought a cookie of ours is told, until one has', () => {
  const { front } = channel()
  front.noteCookies(false)
  front.noteCookies(false)
  expect(lines).toEqual([expect.stringMatching(/No browser has returned the cookies.*siteUrl \(http:\/\/morning/)])
  const other = channel()
  other.front.noteCookies(true)
  other.front.noteCookies(false)
  expect(lines).toEqual([])
})
