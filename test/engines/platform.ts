import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEmulator, demoOptions, type EmulatorOptions } from '../../lib/emulator'

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

/** Starts it. @param siteUrl whose landing page is the client's */
export async function startPlatform(siteUrl: string, readers: number) {
  let emulator = createEmulator(demoOptions(optionsOf(siteUrl, readers)))
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (req, res) => emulator.app(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    get emulator() {
      return emulator
    },
    /** Options of a site that uses it, as `sso2()` takes them. */
    options: {
      ssoUrl: `${url}/sso`,
      apiUrl: url,
      tokenUrl: `${url}/oauth/token`,
      clientId: CLIENT,
      clientSecret: clientSecrets[0],
      organisationId: String(emulator.export().organisationId),
    },
    /** From now on it knows the other client secret, and no more the one before. Tickets that are out at that moment are lost. */
    changeClientSecret: () => {
      const [, clientSecret] = clientSecrets
      const { clients = [], ...options } = emulator.export()
      emulator = createEmulator({ ...options, clients: clients.map((client) => ({ ...client, clientSecret })) })
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
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
