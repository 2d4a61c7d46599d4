import { eventually, type Setup, startSetup } from '../support/setup'

/* No response of the SSO system verifies at this site, so no user can log in. `health()` says so, and says so for as long as it lasts. */

const ssoHealth = async ({ morning }: Setup) => (await morning.sso.health()).sso
const visit = ({ browser, morning }: Setup) => browser().visit(`${morning.url}/page`)

async function expectUnavailable(setup: Setup) {
  await visit(setup)
  await eventually(async () => (await ssoHealth(setup)) === 'unavailable') // three seconds, and more on a busy machine
  for (let seconds = 0; seconds < 3; seconds += 1) {
    await visit(setup)
    expect(await ssoHealth(setup)).toBe('unavailable')
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  expect((await setup.morning.sso.health()).ok).toBe(false)
}

test('a wrong clientSecret makes the SSO system unavailable within seconds of the first visitor', async () => {
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line), info: () => {} }
  const clientSecret = 'a-client-secret-that-the-platform-does-not-have'
  const setup = await startSetup({ site: { clientSecret, logger } })
  expect(await ssoHealth(setup)).toBe('ok') // unknown before the first visitor: docs/monitoring.md says so
  await expectUnavailable(setup).finally(setup.close)
  expect(lines.join()).toMatch(/New visitors get an error page of the SSO system at first/)
})
