import { eventually, type Network, startNetwork } from './network'

/* No response of the SSO system verifies at this site, so no user can log in. `health()` says so, and says so for as long as it lasts. */

const OPERATIONS = ['identify', 'authenticate', 'sessionstatus', 'logout', 'logoutall'] as const

const ssoHealth = async ({ morning }: Network) => (await morning.sso.health()).sso
const visit = ({ browser, morning }: Network) => browser().visit(`${morning.url}/page`)

async function expectUnavailable(network: Network) {
  await visit(network)
  await eventually(async () => (await ssoHealth(network)) === 'unavailable', 6)
  for (let seconds = 0; seconds < 3; seconds += 1) {
    await visit(network)
    expect(await ssoHealth(network)).toBe('unavailable')
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  expect((await network.morning.sso.health()).ok).toBe(false)
}

// both wait most of the time, so they run together
test.concurrent('a wrong clientSecret makes the SSO system unavailable within seconds of the first visitor', async () => {
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line), info: () => {} }
  const clientSecret = 'a-client-secret-that-the-platform-does-not-have'
  const network = await startNetwork({ site: { clientSecret, logger } })
  expect((await network.morning.sso.health()).ok).toBe(true) // unknown before the first visitor: docs/monitoring.md says so
  await expectUnavailable(network).finally(network.close)
  expect(lines.join()).toMatch(/New visitors get an error page of the SSO system at first/)
})

test.concurrent('so do responses that another secret signs, until they verify again', async () => {
  const network = await startNetwork()
  for (const operation of OPERATIONS) network.emulator.faults.add({ operation, kind: 'wrong_signature' })
  const recovers = async () => {
    await expectUnavailable(network)
    network.emulator.faults.clear()
    await eventually(async () => (await ssoHealth(network)) === 'ok', 6)
  }
  await recovers().finally(network.close)
})
