import { createEmulator, type EmulatorOptions } from '../../lib/emulator'
import { configuration } from './configuration'
import { Platform } from './platform'

/* What the portal's page says of states that are not seen every day. */

/** The page of an emulator, once something has happened. */
async function page(options: EmulatorOptions, happens: (platform: Platform) => Promise<unknown>): Promise<string> {
  const emulator = createEmulator(options)
  try {
    const platform = new Platform((await emulator.listen(0)).url)
    await happens(platform)
    const { body } = await platform.request('GET', '/', { accept: 'text/html' })
    return body.replace(/\s+/g, ' ')
  } finally {
    await emulator.close()
  }
}

test('an account is shown with its wrong passwords', async () => {
  const shown = await page(configuration, async (platform) => {
    const { sid } = await platform.browser().identify()
    for (let count = 0; count < 3; count += 1) await platform.authenticate(sid, { pwd: 'wrong' })
  })
  expect(shown).toContain('3 wrong so far')
})

test('an account is shown with the number of its sessions', async () => {
  const shown = await page(configuration, async (platform) => {
    for (let count = 0; count < 2; count += 1) await platform.login()
  })
  expect(shown).toContain('>2 sessions<')
})

test('of many sessions the latest thirty are shown, with how many there are', async () => {
  const shown = await page(configuration, async (platform) => {
    for (let count = 0; count < 31; count += 1) await platform.browser().identify()
  })
  expect(shown).toContain('The latest 30 of 31.')
  expect(shown.match(/The session is forgotten/g)).toHaveLength(30)
})

test('a fault is shown with how many answers it still hits', async () => {
  const shown = await page(configuration, async (platform) => {
    await platform.control('POST', '/faults', { operation: 'logout', kind: 'down', times: 3 })
    await platform.control('POST', '/faults', { operation: 'me', kind: 'down' })
  })
  expect(shown).toContain('the next 3')
  expect(shown).toContain('until switched off')
})

test('a campaign without a name has that of its product', () => {
  const campaigns = [{ productCode: 'SPRING' }]
  expect(createEmulator({ ...configuration, campaigns }).export().campaigns).toMatchObject([{ name: 'SPRING' }])
})

test('a platform without accounts, whose client has no scopes, played as production, says so', async () => {
  const clients = configuration.clients?.map((client) => ({ ...client, scopes: [] }))
  const shown = await page({ ...configuration, accounts: [], clients, production: true }, async () => {})
  for (const words of ['No accounts are configured.', 'Scopes none', 'played as production'])
    expect(shown).toContain(words)
})
