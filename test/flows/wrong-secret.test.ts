import { eventually, type Network, startNetwork } from './network'

/* No response of the SSO system verifies at this site, so no user can log in. `health()` says so, and says so for as long as it lasts. */

const OPERATIONS = ['identify', 'authenticate', 'sessionstatus', 'logout', 'logoutall'] as const
const wrongSecret = { clientSecret: 'a-client-secret-that-the-platform-does-not-have' }

let network: Network
let warn: jest.SpyInstance
beforeEach(() => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
})
afterEach(async () => {
  await network.close()
  warn.mockRestore()
})

const ssoHealth = async () => (await network.morning.sso.health()).sso
const visit = () => network.browser().visit(`${network.morning.url}/page`)

async function expectUnavailable() {
  await visit()
  await eventually(async () => (await ssoHealth()) === 'unavailable', 6)
  for (let seconds = 0; seconds < 3; seconds += 1) {
    await visit()
    expect(await ssoHealth()).toBe('unavailable')
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  expect((await network.morning.sso.health()).ok).toBe(false)
}

test('a wrong clientSecret makes the SSO system unavailable within seconds of the first visitor', async () => {
  network = await startNetwork({ site: wrongSecret })
  expect((await network.morning.sso.health()).ok).toBe(true) // unknown before the first visitor: docs/monitoring.md says so
  await expectUnavailable()
  expect(warn.mock.calls.flat().join()).toMatch(/New visitors get an error page of the SSO system at first/)
})

test('so do responses that another secret signs, until they verify again', async () => {
  network = await startNetwork()
  for (const operation of OPERATIONS) network.emulator.faults.add({ operation, kind: 'wrong_signature' })
  await expectUnavailable()
  network.emulator.faults.clear()
  await eventually(async () => (await ssoHealth()) === 'ok', 6)
})
