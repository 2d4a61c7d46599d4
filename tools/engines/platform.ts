import { createEmulator, demoOptions } from '../../lib/emulator'

/** The API client of the paper. */
const CLIENT = 'paper'
export const password = 'correct-horse'
export const readerName = (n: number) => `reader-${n}`

/** The platform, played by the emulator, with as many accounts as there are readers. @param siteUrl whose landing page is the client's */
export async function startPlatform(siteUrl: string, readers: number) {
  const clientSecret = 'the-client-secret-of-the-paper-0123456789'
  const emulator = createEmulator(
    demoOptions({
      clients: [{ clientId: CLIENT, clientSecret, landingPage: `${siteUrl}/sso2/landing` }],
      accounts: Array.from({ length: readers }, (_, n) => ({
        accountId: `account-${n}`,
        username: readerName(n),
        password,
        groups: ['Readers'],
      })),
      limits: { sessionsPerAccount: 1000, leewaySeconds: 5 },
    }),
  )
  await emulator.listen(0)
  return emulator
}
