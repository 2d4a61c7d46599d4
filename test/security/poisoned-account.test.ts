import type http from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../support/http'
import { loggerTo } from '../support/log-lines'
import { eventually, healthWithStore, openPort } from '../support/setup'
import { type RunningSite, startSite } from '../support/site'
import { timed } from '../support/wait'

/* One account for which the token endpoint or the user path fails: a user who logs in with it all the time stops no other user. Threat F15. */

const accounts = Array.from({ length: 20 }, (_, number) => ({
  accountId: `acc-${number}`,
  username: `user${number}`,
  password: `pass-word-${number}`,
}))
const POISONED = 7

type Answer = (res: http.ServerResponse, body: string) => void
const failing: Answer = (res) => void res.writeHead(500).end('{"error":{"code":"x","message":"broken"}}')
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
async function logIn(number: number, browser = setup.browser()) {
  if (browser.cookies.length === 0) await browser.visit(`${setup.url}/`)
  const { username, password } = accounts[number] ?? {}
  const json = { username, password }
  const [{ status }, ms] = await timed(() => browser.fetchJson(`${setup.url}/login`, { json }))
  return { status, ms }
}

/** More failures than health() needs to say that no user can log in. */
const ENOUGH = 5

/** Logs in with the poisoned account again and again, and returns when enough logins have failed. @returns ends the attack */
async function attack(): Promise<() => Promise<unknown>> {
  let isOver = false
  let failed = 0
  const loops = Array.from({ length: ENOUGH }, async () => {
    const browser = setup.browser()
    while (!isOver) {
      if ((await logIn(POISONED, browser)).status === 503) failed += 1
      await sleep(100)
    }
  })
  await eventually(async () => failed >= ENOUGH)
  return async () => {
    isOver = true
    await Promise.all(loops)
  }
}

test('[F15] the user path never answers for one account that logs in again and again: all others log in', async () => {
  answer = () => {}
  const stop = await attack()
  for (const number of [10, 11]) {
    const { status, ms } = await logIn(number)
    expect([status, ms < LATE_MS]).toEqual([200, true])
    expect(await healthWithStore(setup.sso)).toMatchObject({ sso: 'ok', store: 'ok' })
  }
  await stop()
  expect(lines.filter((line) => line.includes(': loadUser: ')).length).toBeLessThanOrEqual(ENOUGH)
})

test.each([
  ['token endpoint fails', failing, '/oauth/token', 'exchangeTicket', 'The token endpoint works again.'],
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
  expect(lines).toEqual([expect.stringContaining(`: ${step}: `), `express-sso2: ${over}`])
})
