import { makeConfig } from '../../lib/config'
import { demoOptions } from '../../lib/emulator'
import { makeClient, makeIdentifyHealth, makeTokenEndpoint, serviceApi } from '../../lib/remote/make-clients'
import { ticketCall } from '../../lib/remote/ticket'
import { sharedEmulator } from '../emulator/shared'
import { failure } from '../support/faulty-server'
import { eventually } from '../support/wait'
import { device, openInTest } from './sso-scene'

/* What a site speaks to others with, made of its options: what its operator reads, where Identify has to lead, which secret is shown. */

const siteUrl = 'http://morning.localhost:1'
const sessionSecret = 'the-secret-of-the-sessions-of-the-site-0123456789'
const oldSecret = 'the-secret-of-before-the-change-0123456789'
const newSecret = 'the-secret-of-after-the-change-0123456789'
const check = { sid: 'no-such-session', lks: 'anon', ...device } as const
const clients = [{ clientId: 'morning', clientSecret: oldSecret, name: 'Morning', landingPage: `${siteUrl}/landing` }]
const { emulator } = sharedEmulator(demoOptions({ clients }))
const lines: string[] = []
const logger = {
  warn: (line: string) => void lines.push(`warn ${line}`),
  info: (line: string) => void lines.push(`info ${line}`),
}
beforeEach(() => void lines.splice(0))
const open = openInTest()

function partsOf(options: object = {}) {
  const site = { ...emulator.siteOptions('morning'), siteUrl, sessionSecret, logger, timeoutMs: 5000 }
  const config = makeConfig({ ...site, ...options }, {}, emulator.clock)
  const client = makeClient(config)
  const front = makeIdentifyHealth(config, client)
  open.push(front, client)
  return { config, client, front, endpoint: makeTokenEndpoint(config, client) }
}

test('a failure of the SSO system is told to the operator, and so is its end', async () => {
  const { client } = partsOf()
  emulator.faults.add({ operation: 'sessionstatus', kind: 'status', code: 500, times: 3 })
  for (let times = 0; times < 2; times += 1) await failure(client.sessionStatus(check))
  expect(lines).toEqual([
    expect.stringMatching(/^warn express-sso2: Step sessionstatus failed: .*HTTP 500.*Check the SSO system at ssoUrl/),
  ])
  await eventually(async () => lines.some((line) => line.startsWith('info')))
  expect(lines.slice(1)).toEqual(['info express-sso2: The SSO system responds again.'])
})

test.each([
  ['where routes.landing says', { landing: '/landing' }, []],
  ['not where it leads', {}, [expect.stringContaining(`the landing page of this site is ${siteUrl}/sso2/landing`)]],
])('Identify has to lead to the landing page: %s', async (_where, routes, told) => {
  const { front } = partsOf({ routes })
  for (let count = 0; count < 20; count += 1) front.noteRedirect()
  await eventually(async () => emulator.calls({ operation: 'identify' }).length > 0)
  const heard = () => lines.filter((line) => line.includes('landing page of this site'))
  await eventually(async () => heard().length >= told.length) // the answer is on its way
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(heard()).toEqual(told)
})

test('the authorization server is shown the secret that the SSO system takes', async () => {
  const { client, config, endpoint } = partsOf({ clientSecret: [newSecret, oldSecret] })
  const shown = () => new URLSearchParams(ticketCall(endpoint, 'a-ticket').body).get('client_secret')
  expect([client.secretInUse, shown()]).toEqual([0, newSecret])
  expect(await client.sessionStatus(check)).toMatchObject({ err: 'session_not_found' })
  expect([client.secretInUse, shown()]).toEqual([1, oldSecret])
  expect(await serviceApi(config, endpoint).marketplaceGroups()).toHaveLength(2)
})
