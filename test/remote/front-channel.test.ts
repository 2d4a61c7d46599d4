import { Log } from '../../lib/config/log'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { FrontChannel } from '../../lib/remote/front-channel'
import { Sso2Client } from '../../lib/remote/sso2'
import { type Behaviour, faultyServer } from './faulty-server'

const siteUrl = 'http://morning.localhost:1'
const landingUrl = `${siteUrl}/sso2/landing`
const [clientId, clientSecret] = ['morning', 'client-secret-of-the-morning-paper-0123456789']
const organisationId = 'the-publisher'
const device = { ipa: '192.0.2.1', uas: 'Mozilla/5.0' }

let emulator: Emulator
let url: string
const open: { close(): void }[] = []

beforeAll(async () => {
  const clients = [{ clientId, clientSecret, name: 'Morning', landingPage: landingUrl }]
  emulator = createEmulator(demoOptions({ clients, organisationId }))
  url = (await emulator.listen(0)).url
})
afterAll(() => emulator.close())
beforeEach(() => emulator.reset())
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** What the operator was told. */
const lines: string[] = []
const keep = (line: string) => void lines.push(line)

function channel(ssoUrl = `${url}/sso`, landing: string | undefined = landingUrl) {
  lines.length = 0
  const client = new Sso2Client({ ssoUrl, clientId, clientSecret, organisationId, timeoutMs: 500 })
  const front = new FrontChannel(client, { siteUrl, landingUrl: landing, log: new Log({ warn: keep, info: keep }) })
  open.push(front, client)
  return { client, front }
}

const trips = (front: FrontChannel, count: number) => {
  for (let trip = 0; trip < count; trip += 1) front.noteTrip()
}
const count = (operation: string) => emulator.calls({ operation }).length

async function until(isTrue: () => boolean, most: number): Promise<number> {
  const start = performance.now()
  while (!isTrue()) {
    if (performance.now() - start > most) throw new Error(`not within ${most} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - start
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('twenty trips of which none comes back are the last ones, until Identify is seen to work', async () => {
  const { front } = channel()
  emulator.faults.add({ operation: 'identify', kind: 'status', code: 503 })
  trips(front, 1)
  await pause(1050)
  trips(front, 18)
  expect(front.isAvailable).toBe(true)
  trips(front, 1)
  expect(front.isAvailable).toBe(false)
  await until(() => count('identify') === 1, 1000)
  await pause(200)
  expect(front.isAvailable).toBe(false)
  emulator.faults.clear()
  await until(() => front.isAvailable, 5500)
  expect(count('identify')).toBe(2)
  expect(lines[0]).toMatch(/identify failed: .*SSO system at ssoUrl/)
  expect(lines).toContain('express-sso2: Identify works again')
})

test('a rush of visitors is no outage: none can be back yet, so Identify is looked at', async () => {
  const { front } = channel()
  trips(front, 50)
  expect(front.isAvailable).toBe(true)
  await until(() => count('identify') === 1, 1000)
  trips(front, 500)
  await pause(1200)
  expect([front.isAvailable, count('identify')]).toEqual([true, 1])
})

test('a rush of visitors to a broken Identify is over at once', async () => {
  const { front } = channel()
  emulator.faults.add({ operation: 'identify', kind: 'status', code: 503 })
  trips(front, 20)
  await until(() => !front.isAvailable, 500)
})

test('one trip that came back is enough', () => {
  const { front } = channel()
  for (let round = 0; round < 5; round += 1) {
    trips(front, 19)
    front.noteLanding()
  }
  expect(front.isAvailable).toBe(true)
})

test('where Identify works, twenty visitors who do not follow it cost one look, and hold nobody up', async () => {
  const { front } = channel()
  trips(front, 1)
  await pause(1050)
  trips(front, 19)
  expect(front.isAvailable).toBe(false)
  await until(() => front.isAvailable, 1000)
  trips(front, 200)
  await pause(100)
  expect([front.isAvailable, count('identify')]).toEqual([true, 1])
})

const isOther = /Identify leads to https:\/\/status\.example\/, and the landing page of this site is .*admin portal/

test.each<[name: string, line: RegExp | undefined, behave: Behaviour]>([
  [
    'shows a page',
    /HTTP 200.*SSO2_URL/,
    (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>Back soon.'),
  ],
  ['refuses the client', /HTTP 400.*SSO2_CLIENT_ID.*flagged for SSO2/, (res) => res.writeHead(400).end()],
  ['is not there', /HTTP 404.*SSO2_URL/, (res) => res.writeHead(404).end()],
  ['leads nowhere', /HTTP 302.*SSO2_URL/, (res) => res.writeHead(302).end()],
  ['leads to another site', isOther, (res) => res.writeHead(302, { location: 'https://status.example/?x=1' }).end()],
  ['leads here without a token', /malformed/, (res) => res.writeHead(302, { location: landingUrl }).end()],
  [
    'leads here with a bad token',
    /malformed/,
    (res) => res.writeHead(302, { location: `${landingUrl}?t=a.b.c` }).end(),
  ],
  ['never answers', undefined, () => {}],
])('an Identify that %s is none, and the operator is told so once', async (_name, line, behave) => {
  const server = await faultyServer()
  server.become(behave)
  const { front } = channel(server.url)
  trips(front, 1)
  await pause(1050)
  trips(front, 19)
  await until(() => server.seen.some(({ method }) => method === 'GET'), 1000)
  await pause(200)
  expect(front.isAvailable).toBe(false)
  expect(server.seen.find(({ method }) => method === 'GET')).toMatchObject({
    url: expect.stringContaining('/identify?'),
  })
  expect(lines).toEqual(line === undefined ? [] : [expect.stringMatching(line)])
  await server.close()
})

test('an Identify that works, and from which nobody has ever come back, is told', async () => {
  const lost = () => lines.filter((line) => line.includes('Identify is in order'))
  const { front } = channel()
  trips(front, 50)
  await until(() => lost().length > 0, 1500)
  expect(lost()).toEqual([
    expect.stringMatching(/none of 50 browsers .* has come to http.*\/sso2\/landing: is sso\.router/),
  ])
  const other = channel()
  trips(other.front, 1)
  other.front.noteLanding()
  const before = count('identify')
  trips(other.front, 50)
  await until(() => count('identify') > before, 1000)
  await pause(200)
  expect(lost()).toEqual([])
})

test('that no browser has ever brought a cookie of ours is told, until one has', () => {
  const { front } = channel()
  front.noteCookies(false)
  front.noteCookies(false)
  expect(lines).toEqual([expect.stringMatching(/no browser has brought our cookies.*siteUrl \(http:\/\/morning/)])
  const other = channel()
  other.front.noteCookies(true)
  other.front.noteCookies(false)
  expect(lines).toEqual([])
})

test('where the site has its landing page elsewhere, a good token is enough', async () => {
  const { front } = channel(`${url}/sso`, undefined)
  trips(front, 1)
  await pause(1050)
  trips(front, 19)
  expect(front.isAvailable).toBe(false)
  await until(() => front.isAvailable, 1000)
})

test('an SSO system that has been silent is asked when a trip is not soon back, and not when it is', async () => {
  const { front } = channel()
  trips(front, 1)
  front.noteLanding()
  await pause(1200)
  expect(count('sessionstatus')).toBe(0)
  const other = channel()
  trips(other.front, 3)
  await until(() => count('sessionstatus') === 1, 2000)
  expect(count('identify')).toBe(0)
  await other.client.sessionStatus({ sid: 's', lks: 'anon', ...device })
  trips(other.front, 3)
  await pause(1200)
  expect(count('sessionstatus')).toBe(2)
})

test('a host that is not there gets no more than the visitors of a moment', async () => {
  const server = await faultyServer()
  await server.close()
  const { front } = channel(server.url)
  trips(front, 1)
  expect(await until(() => !front.isAvailable, 3000)).toBeLessThan(2500)
})

test('on a quiet site too, trips that are not back after ten seconds are a reason to look', async () => {
  emulator.faults.add({ operation: 'identify', kind: 'hang' })
  const { front, client } = channel()
  trips(front, 1)
  await until(() => !front.isAvailable, 15_500)
  expect(client.isAvailable).toBe(true)
}, 20_000)

test('a broken back channel is a reason to send nobody', async () => {
  const { front, client } = channel()
  emulator.faults.add({ operation: 'sessionstatus', kind: 'garbage' })
  for (let asked = 0; asked < 5; asked += 1) {
    await client.sessionStatus({ sid: 's', lks: 'anon', ...device }).catch(() => {})
  }
  expect(front.isAvailable).toBe(false)
})

test('one that is closed looks no more', async () => {
  const { front } = channel()
  trips(front, 1)
  front.close()
  trips(front, 20)
  await pause(1300)
  expect([count('sessionstatus'), count('identify')]).toEqual([0, 0])
})
