import diagnostics from 'node:diagnostics_channel'
import http, { type ClientRequest } from 'node:http'
import { ada, eventually, logIn, startSetup, visitor } from '../support/setup'

/* The option `agent`: every server-to-server call of the package goes through it. */

test('agent: logins, checks, tokens, users, REST calls, logouts and probes all use it', async () => {
  const agent = new http.Agent({ keepAlive: true })
  const calls = new Map<string, Set<boolean>>()
  const onStart = (message: unknown) => {
    const { request } = message as { request: ClientRequest & { agent?: unknown } }
    const [path = ''] = request.path.split('?')
    const isOfSite = /^\/(?:sso|oauth|external)\//.test(path) && request.getHeader('user-agent') === 'express-sso2'
    if (isOfSite) calls.set(path, (calls.get(path) ?? new Set()).add(request.agent === agent))
  }
  const setup = await startSetup({ site: { agent } })
  diagnostics.subscribe('http.client.request.start', onStart)
  const browser = await visitor(setup)
  await logIn(browser, setup.morning, ada)
  setup.emulator.clock.advance(361)
  await browser.visit(`${setup.morning.url}/page`)
  await setup.morning.sso.api.marketplaceGroups()
  await setup.morning.sso.client.logoutAll({ aid: 'account-ada', ipa: '127.0.0.1', uas: 'test' })
  await browser.submit(`${setup.morning.url}/logout`, { return_to: '/' })
  setup.emulator.faults.add({ operation: 'identify', kind: 'hang', times: 1 })
  const unfinished = setup
    .browser()
    .visit(`${setup.morning.url}/page`)
    .catch(() => {})
  await eventually(async () => calls.has('/sso/identify'))
  diagnostics.unsubscribe('http.client.request.start', onStart)
  agent.destroy()
  await setup.close()
  await unfinished
  expect(Object.fromEntries([...calls].sort())).toEqual(
    Object.fromEntries(
      [
        '/external/api/v1/me',
        '/external/api/v2/marketing/marketplace/groups',
        '/oauth/token',
        ...['/sso/authenticate', '/sso/identify', '/sso/logout', '/sso/logoutall', '/sso/sessionstatus'],
      ].map((path) => [path, new Set([true])]),
    ),
  )
})
