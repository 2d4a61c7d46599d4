import { createEmulator } from '../../lib/emulator'
import { configuration } from './configuration'
import { sharedEmulator } from './shared'

/* What the portal's page says of states that are not seen every day. */

const { platform, another } = sharedEmulator()

/** What the page shows. */
const page = async (at = platform) => (await at.request('GET', '/', { accept: 'text/html' })).body.replace(/\s+/g, ' ')

test('an account is shown with its wrong passwords', async () => {
  const { sid } = await platform.browser().identify()
  for (let count = 0; count < 3; count += 1) await platform.authenticate(sid, { pwd: 'wrong' })
  expect(await page()).toContain('3 wrong so far')
})

test('an account is shown with the number of its sessions', async () => {
  for (let count = 0; count < 2; count += 1) await platform.login()
  expect(await page()).toContain('>2 sessions<')
})

test('of many sessions the latest thirty are shown, with how many there are', async () => {
  for (let count = 0; count < 31; count += 1) await platform.browser().identify()
  const shown = await page()
  expect(shown).toContain('The latest 30 of 31.')
  expect(shown.match(/The session is forgotten/g)).toHaveLength(30)
})

test('a fault is shown with how many answers it still hits', async () => {
  await platform.control('POST', '/faults', { operation: 'logout', kind: 'down', times: 3 })
  await platform.control('POST', '/faults', { operation: 'me', kind: 'down' })
  const shown = await page()
  expect(shown).toContain('the next 3')
  expect(shown).toContain('until switched off')
})

test('a campaign without a name has that of its product', () => {
  const campaigns = [{ productCode: 'SPRING' }]
  expect(createEmulator({ ...configuration, campaigns }).export().campaigns).toMatchObject([{ name: 'SPRING' }])
})

test('a platform without accounts, whose client has no scopes, played as production, says so', async () => {
  const clients = configuration.clients.map((client) => ({ ...client, scopes: [] }))
  const { there } = await another({ ...configuration, accounts: [], clients, production: true })
  const shown = await page(there)
  for (const words of ['No accounts are configured.', '<div>none</div>', 'played as production'])
    expect(shown).toContain(words)
})
