import { Log } from '../../lib/config/log'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { FrontChannel } from '../../lib/remote/front-channel'
import { Sso2Client } from '../../lib/remote/sso2'
import { fakeClock } from './fake-clock'
import { type Behaviour, faultyServer } from './faulty-server'

const siteUrl = 'http://morning.localhost:1'
const landingUrl = `${siteUrl}/sso2/landing`
const [clientId, clientSecret] = ['morning', 'client-secret-of-the-morning-paper-0123456789']
const organisationId = 'the-publisher'
const device = { ipa: '192.0.2.1', uas: 'Mozilla/5.0' }

let emulator: Emulator
let url: string
let clock: ReturnType<typeof fakeClock>
const open: { close(): unknown }[] = []

beforeAll(async () => {
  const clients = [{ clientId, clientSecret, name: 'Morning', landingPage: landingUrl }]
  emulator = createEmulator(demoOptions({ clients, organisationId }))
  url = (await emulator.listen(0)).url
})
afterAll(() => emulator.close())
beforeEach(async () => {
  await emulator.reset()
  clock = fakeClock()
  await clock.pass(5000)
})
afterEach(async () => {
  jest.useRealTimers()
  jest.restoreAllMocks()
  for (const one of open.splice(0)) await one.close()
})

/** What the operator was told. */
const lines: string[] = []
const keep = (line: string) => void lines.push(line)

function channel(ssoUrl = `${url}/sso`, landing: string | undefined = landingUrl, timeoutMs = 500) {
  lines.length = 0
  const client = new Sso2Client({ ssoUrl, clientId, clientSecret, organisationId, timeoutMs })
  const front = new FrontChannel(client, { siteUrl, landingUrl: landing, log: new Log({ warn: keep, info: keep }) })
  open.push(front, client)
  return { client, front }
}
const elsewhere = (ssoUrl = `${url}/sso`) => {
  const { client } = channel(ssoUrl)
  const front = new FrontChannel(client, { siteUrl, landingUrl: undefined, log: new Log({ warn: keep, info: keep }) })
  open.push(front)
  return front
}

/** An SSO system whose Identify behaves so, and whose back channel is the emulator's. */
async function server(behave: Behaviour) {
  const made = await faultyServer()
  const ask = async ({ url: path, body }: Parameters<Behaviour>[1]) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/sso${path}`, { method: 'POST', headers, body })).text()
  }
  made.become(async (res, seen, count) =>
    seen.method === 'GET' ? behave(res, seen, count) : void res.end(await ask(seen)),
  )
  open.push(made)
  return made
}

const trips = (front: FrontChannel, count: number) => {
  for (let trip = 0; trip < count; trip += 1) front.noteTrip()
}
/** Twenty that do not come back within a second. */
async function tripsWithoutEnd(front: FrontChannel) {
  trips(front, 1)
  await clock.pass(1000)
  trips(front, 19)
}
const count = (operation: string) => emulator.calls({ operation }).length
const counts = () => [count('sessionstatus'), count('identify')]
const breakIdentify = () => emulator.faults.add({ operation: 'identify', kind: 'status', code: 503 })

/* When nobody is sent any more. */

test('twenty trips of which none comes back are the last ones, until Identify is seen to work', async () => {
  const { front } = channel()
  breakIdentify()
  trips(front, 1)
  await clock.pass(1000)
  trips(front, 18)
  expect(front.isAvailable).toBe(true)
  trips(front, 1)
  expect(front.isAvailable).toBe(false)
  await clock.pass(200)
  expect([front.isAvailable, count('identify')]).toEqual([false, 1])
  emulator.faults.clear()
  await clock.until(() => front.isAvailable, 5500)
  expect(count('identify')).toBe(2)
  expect(lines[0]).toMatch(/identify failed: .*HTTP 503.*SSO system at ssoUrl/s)
  expect(lines).toContain('express-sso2: Identify works again')
})

test('while nobody is sent, nothing follows from those who went all the same', async () => {
  const { front } = channel()
  breakIdentify()
  await tripsWithoutEnd(front)
  await clock.pass(60_000)
  const before = counts()[0]
  trips(front, 5)
  await clock.pass(4000)
  expect([front.isAvailable, counts()[0]]).toEqual([false, before])
})

test('a rush of visitors is no outage: none can be back yet, so Identify is looked at', async () => {
  const { front } = channel()
  trips(front, 1)
  await clock.pass(998)
  trips(front, 49)
  expect(front.isAvailable).toBe(true)
  await clock.pass(1)
  expect([front.isAvailable, counts()]).toEqual([true, [0, 1]])
  trips(front, 500)
  await clock.pass(1200) // and the back channel, of which nobody has heard anything
  expect([front.isAvailable, counts()]).toEqual([true, [1, 1]])
  trips(front, 500)
  await clock.pass(5000)
  expect([front.isAvailable, counts()]).toEqual([true, [1, 1]])
})

test('a rush of visitors to a broken Identify is over at once', async () => {
  const { front } = channel()
  breakIdentify()
  trips(front, 19)
  await clock.pass(200)
  expect(front.isAvailable).toBe(true)
  trips(front, 1)
  await clock.pass(200)
  expect([front.isAvailable, count('identify')]).toEqual([false, 2])
})

test('while Identify is being looked at, its answer counts, and not how many set out', async () => {
  emulator.faults.add({ operation: 'identify', kind: 'hang' })
  clock.expectSilence()
  const { front } = channel()
  trips(front, 20)
  await clock.pass(1500)
  trips(front, 40)
  expect(front.isAvailable).toBe(true)
  await clock.pass(3000)
  expect([front.isAvailable, count('identify')]).toEqual([false, 2])
})

test('one trip that came back is enough', async () => {
  const { front } = channel()
  for (let round = 0; round < 5; round += 1) {
    await clock.pass(500)
    trips(front, 19)
    front.noteLanding()
  }
  await clock.pass(60_000)
  expect([front.isAvailable, counts()]).toEqual([true, [0, 0]])
})

test('where Identify works, twenty visitors who do not follow it cost one look, and hold nobody up', async () => {
  const { front } = channel()
  await tripsWithoutEnd(front)
  expect(front.isAvailable).toBe(false)
  await clock.pass(1)
  expect(front.isAvailable).toBe(true)
  trips(front, 200)
  await clock.pass(9999)
  trips(front, 200)
  await clock.pass(1)
  expect([front.isAvailable, count('identify')]).toEqual([true, 1])
  trips(front, 20)
  await clock.pass(1)
  expect([front.isAvailable, count('identify')]).toEqual([true, 2])
})

test('who set out just after a good look, and is not back, is no reason for another one', async () => {
  const { front } = channel()
  await tripsWithoutEnd(front)
  await clock.pass(1)
  trips(front, 3)
  await clock.pass(15_000)
  expect(count('identify')).toBe(1)
})

test('a host that is not there gets no more than the visitors of a moment', async () => {
  const gone = await faultyServer()
  await gone.close()
  const { front } = channel(gone.url)
  trips(front, 1)
  expect(await clock.until(() => !front.isAvailable, 3000)).toBeLessThan(1600)
})

test('on a quiet site too, trips that are not back after ten seconds are a reason to look', async () => {
  emulator.faults.add({ operation: 'identify', kind: 'hang' })
  clock.expectSilence()
  const { front, client } = channel()
  trips(front, 3)
  await clock.pass(10_000)
  expect(count('identify')).toBe(0)
  await clock.pass(1)
  expect(count('identify')).toBe(1)
  await clock.until(() => !front.isAvailable, 4500)
  expect(client.isAvailable).toBe(true)
})

test('a broken back channel is a reason to send nobody', async () => {
  const { front, client } = channel()
  emulator.faults.add({ operation: 'sessionstatus', kind: 'garbage' })
  for (let asked = 0; asked < 5; asked += 1) {
    await client.sessionStatus({ sid: 's', lks: 'anon', ...device }).catch(() => {})
  }
  expect(front.isAvailable).toBe(false)
})

test('an SSO system that has been silent is asked when a trip is not soon back, and not when it is', async () => {
  const { front, client } = channel()
  trips(front, 3)
  front.noteLanding()
  await clock.pass(15_000)
  expect(counts()).toEqual([0, 0])
  trips(front, 3)
  await clock.pass(1001)
  expect(counts()).toEqual([0, 0])
  front.noteLanding()
  await clock.pass(30_000)
  trips(front, 3)
  await clock.pass(999)
  expect(counts()).toEqual([0, 0])
  await clock.pass(2)
  expect(counts()).toEqual([1, 0])
  front.noteLanding()
  await client.sessionStatus({ sid: 's', lks: 'anon', ...device })
  trips(front, 3)
  await clock.pass(1200)
  expect(counts()).toEqual([2, 0])
})

/** One visitor every half second, until none is sent any more. @returns after how many milliseconds that is */
async function visitorsUntilSpared(front: FrontChannel, mostMs: number) {
  for (let passed = 0; passed < mostMs; passed += 500) {
    if (!front.isAvailable) return passed
    trips(front, 1)
    await clock.pass(500)
  }
  return Number.POSITIVE_INFINITY
}

test.each<[name: string, before: (front: FrontChannel) => Promise<void> | void]>([
  ['has been seen to work a moment ago', tripsWithoutEnd],
  ['has let somebody come back a moment ago', (front) => front.noteLanding()],
])(
  'an SSO system that is away altogether is noticed within eight seconds, though Identify %s',
  async (_name, before) => {
    const { front } = channel()
    await before(front)
    await clock.pass(1)
    expect(front.isAvailable).toBe(true)
    breakIdentify()
    emulator.faults.add({ operation: 'sessionstatus', kind: 'status', code: 503 })
    expect(await visitorsUntilSpared(front, 12_000)).toBeLessThanOrEqual(7000)
  },
)

test('one that has just answered, and is away from then on, is noticed as soon', async () => {
  const { front } = channel()
  front.noteLanding()
  await clock.pass(40_000)
  trips(front, 1)
  await clock.pass(1050) // it has been silent for long, and is asked
  expect(counts()).toEqual([1, 0])
  breakIdentify()
  emulator.faults.add({ operation: 'sessionstatus', kind: 'status', code: 503 })
  expect(await visitorsUntilSpared(front, 12_000)).toBeLessThanOrEqual(7000)
})

test('a question that nobody answers is no word of it', async () => {
  const { front, client } = channel()
  front.noteLanding()
  breakIdentify()
  emulator.faults.add({ operation: 'sessionstatus', kind: 'status', code: 503 })
  trips(front, 1)
  await clock.pass(4000)
  await client.sessionStatus({ sid: 's', lks: 'anon', ...device }).catch(() => {})
  expect(await visitorsUntilSpared(front, 8000)).toBeLessThanOrEqual(3000)
})

test.each<[name: string, before: (front: FrontChannel) => Promise<void> | void]>([
  ['has been seen to work a moment ago', tripsWithoutEnd],
  ['has let somebody come back a moment ago', (front) => front.noteLanding()],
])('one that hangs altogether is noticed within ten seconds, though Identify %s', async (_name, before) => {
  const { front } = channel(`${url}/sso`, landingUrl, 2000)
  await before(front)
  await clock.pass(1)
  for (const operation of ['identify', 'sessionstatus'] as const) emulator.faults.add({ operation, kind: 'hang' })
  clock.expectSilence()
  expect(await visitorsUntilSpared(front, 20_000)).toBeLessThanOrEqual(10_000)
})

test('landings do not keep a process from asking how the back channel is, where a session waits for that', async () => {
  const { front, client } = channel()
  for (let second = 0; second < 30; second += 1) {
    trips(front, 1)
    front.noteLanding()
    client.lookAgain()
    await clock.pass(1000)
  }
  expect(count('sessionstatus')).toBeGreaterThanOrEqual(4)
  expect(count('sessionstatus')).toBeLessThanOrEqual(6)
})

test('what began in a stall that is over opens no breaker when it fails', async () => {
  const { client } = channel(`${url}/sso`, landingUrl, 2000)
  emulator.faults.add({ operation: 'sessionstatus', kind: 'hang' })
  clock.expectSilence()
  const ask = (sid: string) => client.sessionStatus({ sid, lks: 'anon', ...device }).catch(() => {})
  const stalled = Array.from({ length: 10 }, (_, index) => ask(`s${index}`))
  await clock.pass(200)
  emulator.faults.clear()
  const seen = new Set<boolean>()
  for (let passed = 0; passed < 4000; passed += 200) {
    await ask('good')
    await clock.pass(200)
    seen.add(client.isAvailable)
  }
  await Promise.all(stalled)
  expect([...seen]).toEqual([true])
})

test('a breaker that a hanging probe has opened probes again five seconds after that probe began', async () => {
  const { client } = channel(`${url}/sso`, landingUrl, 500)
  emulator.faults.add({ operation: 'sessionstatus', kind: 'hang' })
  clock.expectSilence()
  client.findOut()
  await clock.until(() => !client.isAvailable, 12_000)
  emulator.faults.clear()
  expect(await clock.until(() => client.isAvailable, 8000)).toBeLessThanOrEqual(4850)
})

test('a visitor who is back within five seconds costs no question, where the SSO system has been heard of lately', async () => {
  const { front } = channel()
  front.noteLanding()
  await clock.pass(15_000)
  trips(front, 1)
  await clock.pass(4999)
  front.noteLanding()
  await clock.pass(10_000)
  expect(counts()).toEqual([0, 0])
  trips(front, 1)
  await clock.pass(5001)
  expect(counts()).toEqual([1, 0])
})

test('one that is closed looks no more', async () => {
  const { front } = channel()
  trips(front, 1)
  front.close()
  trips(front, 20)
  await clock.pass(15_000)
  expect(counts()).toEqual([0, 0])
})

/* What Identify has to do. */

const isOther =
  /Identify leads to https:\/\/status\.example\/, and the landing page of this site is http:\/\/morning.*admin portal/
const to =
  (location: string, status = 302): Behaviour =>
  (res) =>
    res.writeHead(status, { location }).end()

test.each<[name: string, line: RegExp, behave: Behaviour]>([
  ['shows a page', /failed: Identify does not lead on \(HTTP 200\).*SSO2_URL/s, (res) => res.end('<p>Back soon.')],
  ['refuses the client', /HTTP 400.*SSO2_CLIENT_ID.*flagged for SSO2/s, (res) => res.writeHead(400).end()],
  ['is not there', /HTTP 404.*SSO2_URL/s, (res) => res.writeHead(404).end()],
  ['leads nowhere', /HTTP 302.*SSO2_URL/s, (res) => res.writeHead(302).end()],
  ['leads to what is no address', /does not lead on \(HTTP 302\)/, to('http://[')],
  ['leads to another site', isOther, to('https://status.example/?x=1')],
  ['leads to another page', /leads to http:\/\/morning.localhost:1\/, and the landing/, to(`${siteUrl}/?t=a.b.c`)],
  [
    'leads to another port',
    /leads to http:\/\/morning.localhost:2\/sso2/,
    to('http://morning.localhost:2/sso2/landing'),
  ],
  ['leads here without a token', /malformed/, to(landingUrl)],
  ['leads here with a bad token', /malformed/, to(`${landingUrl}?t=a.b.c`)],
  ['never answers', /identify failed: no answer within 2000 ms/, () => {}],
])('an Identify that %s is none, and the operator is told so once', async (name, line, behave) => {
  if (name === 'never answers') clock.expectSilence()
  const { url: ssoUrl, seen } = await server(behave)
  const { front } = channel(ssoUrl)
  await tripsWithoutEnd(front)
  await clock.pass(2500)
  expect(front.isAvailable).toBe(false)
  expect(lines).toEqual([expect.stringMatching(line)])
  const probe = seen.find(({ method }) => method === 'GET')
  expect(probe).toMatchObject({ url: expect.stringContaining('/identify?'), headers: { accept: 'text/html' } })
  expect(new URL(probe?.url ?? '', ssoUrl).searchParams.get('r')).toBe(`${siteUrl}/`)
})

test('that Identify leads here again is told, where it was told that it led elsewhere', async () => {
  let behave = to('https://status.example/')
  const { url: ssoUrl } = await server((res, seen, count) => behave(res, seen, count))
  const { front } = channel(ssoUrl)
  await tripsWithoutEnd(front)
  await clock.pass(100)
  behave = leading(302)
  await clock.until(() => front.isAvailable, 5500)
  expect(lines[0]).toMatch(isOther)
  expect(lines.at(-1)).toBe('express-sso2: Identify works again')
})

/** The landing address to which the emulator would lead this very browser. */
const goodLanding = async (path: string) => {
  const answer = await fetch(`${url}/sso${path}`, { redirect: 'manual' })
  return answer.headers.get('location') ?? ''
}
const leading =
  (status: number, change: (landing: string) => string = (landing) => landing): Behaviour =>
  async (res, seen) =>
    void to(change(await goodLanding(seen.url)), status)(res, seen, 1)

test.each<[name: string, isGood: boolean, behave: Behaviour]>([
  ['HTTP 200', false, leading(200)],
  ['HTTP 299', false, leading(299)],
  ['HTTP 300', true, leading(300)],
  ['HTTP 307', true, leading(307)],
  ['HTTP 399', true, leading(399)],
  ['HTTP 400', false, leading(400)],
  ['https to the same place', true, leading(302, (landing) => landing.replace(/^http:/, 'https:'))],
])('an Identify that leads here with %s is good: %p', async (_name, isGood, behave) => {
  const { url: ssoUrl } = await server(behave)
  const { front } = channel(ssoUrl)
  await tripsWithoutEnd(front)
  await clock.pass(100)
  expect(front.isAvailable).toBe(isGood)
})

test('where the site has its landing page elsewhere, a good token is enough', async () => {
  const front = elsewhere()
  await tripsWithoutEnd(front)
  expect(front.isAvailable).toBe(false)
  await clock.pass(1)
  expect(front.isAvailable).toBe(true)
  expect(lines).toEqual([expect.stringMatching(/none of 20 browsers .* has come to the landing page: is sso\.router/)])
  const { url: ssoUrl } = await server(to('https://status.example/'))
  const other = elsewhere(ssoUrl)
  await tripsWithoutEnd(other)
  await clock.pass(100)
  expect(other.isAvailable).toBe(false)
  expect(lines).toEqual([expect.stringMatching(/malformed/)])
})

/* What the operator is told of browsers. */

const lost = () => lines.filter((line) => line.includes('Identify is in order'))

test('an Identify that works, and from which nobody has ever come back, is told', async () => {
  const { front } = channel()
  trips(front, 50)
  await clock.pass(1)
  expect(lost()).toEqual([
    expect.stringMatching(/none of 50 browsers .* has come to http.*\/sso2\/landing: is sso\.router/),
  ])
  const other = channel()
  trips(other.front, 1)
  other.front.noteLanding()
  const before = count('identify')
  trips(other.front, 50)
  await clock.pass(200)
  expect(count('identify')).toBe(before + 1)
  expect(lost()).toEqual([])
})

test.each([
  [2, 0],
  [3, 1],
])('that %i browsers are not back is told %i times', async (sent, times) => {
  const { front } = channel()
  trips(front, sent)
  await clock.pass(10_050)
  expect([count('identify'), lost().length]).toEqual([1, times])
})

test('that no browser has ever brought a cookie of ours is told, until one has', () => {
  const { front } = channel()
  front.noteCookies(false)
  front.noteCookies(false)
  expect(lines).toEqual([
    expect.stringMatching(
      /no browser has brought our cookies to the landing page yet: do browsers.*siteUrl \(http:\/\/morning/,
    ),
  ])
  const other = channel()
  other.front.noteCookies(true)
  other.front.noteCookies(false)
  expect(lines).toEqual([])
})
