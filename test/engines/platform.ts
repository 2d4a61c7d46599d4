import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEmulator, demoOptions, type Emulator, type EmulatorOptions } from '../../lib/emulator'

/*
 * The platform, played by the emulator, with as many accounts as there are readers; its client secret can be changed
 * while it runs.
 */

/** The API client of the paper. */
const CLIENT = 'paper'
export const password = 'correct-horse'
export const readerName = (n: number) => `reader-${n}`
export const clientSecrets = [
  'the-client-secret-of-before-0123456789',
  'the-client-secret-of-later-0123456789',
] as const

/** A running platform. */
export interface Platform {
  readonly emulator: Emulator
  /** Options of a site that uses it, as `sso2()` takes them. */
  readonly options: Readonly<Record<string, string>>
  /** From now on it knows the other client secret, and no more the one before. */
  changeClientSecret(): void
  close(): Promise<void>
}

/** Starts it. @param siteUrl whose landing page is the client's */
export async function startPlatform(siteUrl: string, readers: number): Promise<Platform> {
  let emulator = createEmulator(demoOptions(optionsOf(siteUrl, readers)))
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (req, res) => emulator.app(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    get emulator() {
      return emulator
    },
    options: {
      ssoUrl: `${url}/sso`,
      apiUrl: url,
      tokenUrl: `${url}/oauth/token`,
      clientId: CLIENT,
      clientSecret: clientSecrets[0],
      organisationId: String(emulator.export().organisationId),
    },
    // between two requests: tickets that are out at that moment are lost
    changeClientSecret: () => {
      emulator = withSecret(emulator.export(), clientSecrets[1])
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function withSecret(options: EmulatorOptions, clientSecret: string): Emulator {
  return createEmulator({ ...options, clients: (options.clients ?? []).map((client) => ({ ...client, clientSecret })) })
}

function optionsOf(siteUrl: string, readers: number): EmulatorOptions {
  return {
    clients: [{ clientId: CLIENT, clientSecret: clientSecrets[0], landingPage: `${siteUrl}/sso2/landing` }],
    accounts: Array.from({ length: readers }, (_, n) => ({
      accountId: `account-${n}`,
      username: readerName(n),
      password,
      groups: ['Readers'],
    })),
    limits: { sessionsPerAccount: 1000, leewaySeconds: 5 },
  }
}
