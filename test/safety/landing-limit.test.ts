import { randomUUID } from 'node:crypto'
import { type HttpAnswer, send } from '../support/http'
import { behindProxy, useSetup } from '../support/setup'
import { parseSetCookie } from './cookies-raw'
import { beginFlow, document, type Flow, hearEvents, land, landingToken } from './session-support'

let flow: Flow
const events = hearEvents()
const lines: string[] = []
const logger = { warn: (line: string) => void lines.push(line), info: () => {} }

const setup = useSetup({
  build: behindProxy,
  site: { exchangeTicket: () => 'an-access-token', loadUser: () => ({ accountId: 'account-ada' }), logger },
})
beforeAll(async () => {
  flow = await beginFlow(setup)
})
afterAll(events.stop)
beforeEach(async () => {
  events.clear()
  lines.length = 0
  const keys = await setup.keys()
  if (keys.length > 0) await setup.redis.del(keys)
})

const records = async () => (await setup.keys()).filter((key) => key.includes(':sso2:{'))

/** A new browser lands from an address. */
function landFrom(address: string, claims: object = {}): Promise<HttpAnswer> {
  const token = landingToken(setup, { sid: randomUUID(), jti: randomUUID(), ...claims })
  return land(setup, flow, token, [], { 'x-forwarded-for': address })
}

/** A landing that the store did not take in time, on a busy machine: the cookie that counts the browser's trips says so. */
const isLost = ({ setCookie }: HttpAnswer) =>
  setCookie.some((line) => {
    const [, body = ''] = /^sso2\.l=([\w-]+)\./.exec(line) ?? []
    return Buffer.from(body, 'base64url').includes('store_unavailable')
  })

/** @returns the statuses, and how many landings the store did not take: none, unless the machine is busy */
async function flood(total: number, addressOf: (index: number) => string) {
  const statuses = new Set<number>()
  let lost = 0
  for (let start = 0; start < total; start += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => landFrom(addressOf(start + index))))
    for (const { status } of answers) statuses.add(status)
    lost += answers.filter(isLost).length
  }
  return { statuses, lost }
}

/** So many; less only by what was lost. */
function expectTaken(count: number, total: number, lost: number): void {
  const isRight = count <= total && count >= total - lost
  expect({ count, lost, isRight }).toEqual({ count, lost, isRight: true })
}

test('[S8] of 700 new visitors from one address in a minute 600 get a session, and the others their page', async () => {
  const { statuses, lost } = await flood(700, () => '203.0.113.7')
  expect(statuses).toEqual(new Set([303]))
  expectTaken((await records()).length, 600, lost)
  expectTaken(events.heard.filter((event) => event === 'landing give_up too_many_landings').length, 100, lost)
  const others = lines.filter((line) => lost === 0 || !line.includes('Redis does not work'))
  expect(others).toEqual([expect.stringMatching(/Too many new anonymous sessions from one IP address/)])

  const late = await landFrom('203.0.113.7')
  expect([late.status, late.headers.location]).toEqual([303, `${setup.morning.url}/`])
  const cookie = late.setCookie.map(parseSetCookie).map(({ name, value }) => `${name}=${value}`)
  expect(cookie.join()).toMatch(/^sso2\.l=/)
  const headers = { ...document, cookie: [flow.cookie, ...cookie].join('; '), 'x-forwarded-for': '203.0.113.7' }
  const page = await send({ method: 'GET', url: new URL('/', setup.morning.url), headers })
  expect([page.status, JSON.parse(page.body)]).toEqual([200, { status: 'none', degraded: 'identify_loop', url: '/' }])

  expect((await landFrom('203.0.113.8')).setCookie.join()).toContain('sso2.sid=')
  const login = await landFrom('203.0.113.7', { sts: 'loggedin', at: 'a-ticket' })
  expect(login.setCookie.join()).toContain('sso2.sid=')
})

test('[S8] an address of one\u2019s own network is not counted: it may be a proxy\u2019s', async () => {
  const counts = async () => (await setup.keys()).filter((key) => key.includes('limit'))
  expect((await landFrom('10.0.0.1')).setCookie.join()).toContain('sso2.sid=')
  expect(await counts()).toEqual([])
  await landFrom('203.0.113.7')
  expect(await counts()).not.toEqual([])
})

test('the line of a landing whose claims are not documented names that cause', async () => {
  await landFrom('203.0.113.7', { sid: 'sid-1', sts: 'anon', at: null, err: 'session_not_found' })
  expect(lines).toEqual([expect.stringMatching(/their claims are not documented/)])
})
