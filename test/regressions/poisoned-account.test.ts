import type http from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from '../support/agent'
import { send } from '../support/http'
import { loggerTo } from '../support/log-lines'
import { eventually, healthWithStore, openPort } from '../support/setup'
import { timed } from '../support/wait'
import { type RunningSite, startSite } from './support'

/* One account for which the token endpoint or the user path fails: a user who logs in with it all the time stops no other user. Threat F15. */

const accounts = Array.from({ length: 60 }, (_, number) => ({
  accountId: `acc-${number}`,
  username: `user${number}`,
  password: `pass-word-${number}`,
}))
const POISONED = 7

type Answer = (res: http.ServerResponse, body: string) => void
/** Made once: the attack asks for it hundreds of times. */
const TOO_MUCH = Buffer.from(`,"bio":"${'x'.repeat(600_000)}"}`)
const failing: Answer = (res) => void res.writeHead(500).end('{"error":{"code":"x","message":"broken"}}')
const refusing: Answer = (res) => void res.writeHead(401).end('{"error":"invalid_client"}')
const tooMuch: Answer = (res, body) =>
  void res.writeHead(200).end(Buffer.concat([Buffer.from(body.replace(/}$/, '')), TOO_MUCH]))
/** A busy machine works off few logins at once, each with the next one soon. Many at once wait, where nothing answers. */
const attacks: [what: string, answer: Answer, browsers: number][] = [
  ['answers 500', failing, 10],
  ['sends more than 512 KiB', tooMuch, 10],
  ['never answers', () => {}, 40],
]

/** Logins of other accounts during the attack. */
const OTHERS = 6
/** A login that waited for the user path would take eight seconds. */
const LATE_MS = 5000

let setup: RunningSite
/** Stands before token endpoint and REST API: `answer` is for the poisoned account, or for all. */
let front: http.Server
let isForAll = false
let answer: Answer
let path: string
/** Log lines of one test. A probe that is under way when its site closes writes its line during the next test. */
let lines: string[]

beforeEach(async () => {
  lines = []
  isForAll = false
  path = '/me'
  answer = failing
  let platform = ''
  const port = await openPort('front')
  front = port.server.on('request', async (req, res) => {
    const sent = await text(req)
    const { authorization, 'content-type': type } = req.headers
    const headers = { ...(authorization ? { authorization } : {}), ...(type ? { 'content-type': type } : {}) }
    const asked = { method: req.method ?? '', url: new URL(platform + req.url), headers, body: sent || undefined }
    const passed = await send(asked).catch(() => undefined)
    if (passed === undefined) return res.destroy() // a probe whose platform is closed
    const { status, body } = passed
    const isHit = isForAll || (body.includes(`"user${POISONED}"`) && status === 200)
    if (isHit && req.url?.includes(path)) return answer(res, body)
    res.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  const url = port.url.replace('front.localhost', '127.0.0.1') // not every system resolves the other
  setup = await startSite({
    emulator: { accounts },
    options: { apiUrl: url, tokenUrl: `${url}/oauth/token`, logger: loggerTo(lines) },
  })
  platform = new URL(setup.emulator.siteOptions('morning').apiUrl).origin
})
afterEach(async () => {
  front.closeAllConnections()
  front.close()
  await setup.close()
})

/** A login. @returns its HTTP status, and how long it took */
async function logIn(number: number, browser?: Browser) {
  const own = browser ?? setup.browser()
  // only the login is judged: a busy machine may show the first page without a session
  if (!browser) await eventually(async () => (await own.visit(`${setup.url}/`)).body.includes('"status":"anon"'))
  const { username, password } = accounts[number] ?? {}
  const json = { username, password }
  const [{ status }, ms] = await timed(() => own.fetchJson(`${setup.url}/login`, { json }))
  return { status, ms }
}

const PER_SECOND = 20

/** More failures than health() needs to say that no user can log in. */
const ENOUGH = 5

/** Logs in with the poisoned account, and returns when enough logins have failed. @returns ends the attack */
async function attack(count: number): Promise<() => Promise<unknown>> {
  const browsers = Array.from({ length: count }, () => setup.browser())
  for (const browser of browsers) await browser.visit(`${setup.url}/`)
  let isOver = false
  let failed = 0
  const loops = browsers.map(async (browser, place) => {
    await sleep((place * 1000) / PER_SECOND)
    while (!isOver) {
      const next = sleep((count * 1000) / PER_SECOND)
      const { status } = await logIn(POISONED, browser)
      if (status === 503) failed += 1
      await next
    }
  })
  await eventually(async () => failed >= ENOUGH)
  return async () => {
    isOver = true
    await Promise.all(loops)
  }
}

test.each(attacks)(
  '[F15] the user path %s for one account, 20 logins a second: all others log in',
  async (_what, given, browsers) => {
    answer = given
    const stop = await attack(browsers)
    const others: { status: number; ms: number }[] = []
    for (let number = 10; number < 10 + OTHERS; number += 1) {
      others.push(await logIn(number))
      expect(await healthWithStore(setup.sso)).toMatchObject({ sso: 'ok', store: 'ok' })
      await sleep(100)
    }
    await stop()
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200))
    expect(Math.max(...others.map(({ ms }) => ms))).toBeLessThan(LATE_MS)
    expect(lines.filter((line) => line.includes('loadUser failed')).length).toBeLessThanOrEqual(5)
  },
  120_000,
)

test.each([
  ['token endpoint fails', failing, '/oauth/token', 'exchangeTicket', 'The token endpoint works again.'],
  ['token endpoint refuses the client', refusing, '/oauth/token', 'exchangeTicket', 'The token endpoint works again.'],
  ['user path fails', failing, '/me', 'loadUser', 'The user path works again.'],
])('health() says that no user can log in after three logins while the %s for all, until one works', async (...row) => {
  const [, how, where, step, over] = row
  answer = how
  path = where
  isForAll = true
  for (const number of [1, 2, 3]) {
    expect(await healthWithStore(setup.sso)).toMatchObject({ login: 'ok', ok: true })
    expect(await logIn(number)).toMatchObject({ status: 503 })
  }
  expect(await healthWithStore(setup.sso)).toMatchObject({ ok: false, sso: 'ok', store: 'ok', login: 'unavailable' })
  isForAll = false
  expect((await logIn(4)).status).toBe(200)
  expect(await healthWithStore(setup.sso)).toMatchObject({ ok: true })
  expect(lines).toEqual([expect.stringContaining(`${step} failed`), `express-sso2: ${over}`])
})
