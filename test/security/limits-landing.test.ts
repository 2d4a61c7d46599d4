import { randomUUID } from 'node:crypto'
import { type HttpAnswer, send } from '../support/http'
import { beginFlow, document, type Flow, hearEvents, land, landingToken } from '../support/landing'
import { loggerTo } from '../support/log-lines'
import { parseSetCookie } from '../support/raw'
import { behindProxy, useSetup } from '../support/setup'

let flow: Flow
const events = hearEvents()
const lines: string[] = []
const setup = useSetup({
  build: behindProxy,
  site: { exchangeTicket: () => 'a-token', loadUser: () => ({ accountId: 'account-ada' }), logger: loggerTo(lines) },
})
beforeAll(async () => {
  flow = await beginFlow(setup)
})
afterAll(events.stop)

/** A new browser lands from an address. */
function landFrom(address: string, claims: object = {}): Promise<HttpAnswer> {
  const token = landingToken(setup, { sid: randomUUID(), jti: randomUUID(), ...claims })
  return land(setup, flow, token, [], { 'x-forwarded-for': address })
}
const hasSession = ({ setCookie }: HttpAnswer) => setCookie.join().includes('sso2.sid=')

test('[S8] of more than 600 new visitors from one address in a minute 600 get a session, the others their page; replays of a landing do not count', async () => {
  const atOnce = (send: () => Promise<HttpAnswer>) => Promise.all(Array.from({ length: 50 }, send))
  const token = landingToken(setup, { sid: randomUUID() })
  await atOnce(() => land(setup, flow, token, [], { 'x-forwarded-for': '203.0.113.7' }))
  const answers: HttpAnswer[] = []
  while (answers.length < 649) answers.push(...(await atOnce(() => landFrom('203.0.113.7'))))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
  expect(answers.filter(hasSession)).toHaveLength(599)
  expect(events.heard.filter((event) => event === 'landing give_up too_many_landings')).toHaveLength(51)
  expect(lines).toEqual([expect.stringMatching(/Too many new anonymous sessions from one IP address/)])

  const { headers, setCookie } = await landFrom('203.0.113.7')
  expect(headers.location).toBe(`${setup.morning.url}/`)
  const cookies = setCookie.map(parseSetCookie).map(({ name, value }) => `${name}=${value}`)
  const cookie = [flow.cookie, ...cookies].join('; ')
  const page = await send({ method: 'GET', url: new URL(setup.morning.url), headers: { ...document, cookie } })
  expect([page.status, JSON.parse(page.body)]).toEqual([200, { status: 'none', degraded: 'identify_loop', url: '/' }])

  expect(hasSession(await landFrom('203.0.113.8'))).toBe(true)
  expect(hasSession(await landFrom('10.0.0.1'))).toBe(true)
  expect(hasSession(await landFrom('203.0.113.7', { sts: 'loggedin', at: 'a-ticket' }))).toBe(true)
})
