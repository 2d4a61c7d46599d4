import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { createEmulator, demoOptions } from '../../lib/emulator'
import { freePort } from '../../test/support/ports'
import { startRedis } from '../../test/support/redis'
import { leaveFirstCore, Server } from './machine'

/* What every program needs around the servers: a Redis, the emulator with a site or two. */

/** Options of one site, as `sso2()` takes them, as far as they can be told to another process. */
interface SiteOptions {
  readonly siteUrl: string
  readonly sessionSecret: string
  readonly session: { readonly prefix: string }
}

/** Everything around the servers. */
export type Setup = Awaited<ReturnType<typeof openSetup>>

const sessionSecret = 'a-session-secret-of-more-than-32-bytes'
export const password = 'correct-horse'
export const readerName = (n: number) => `reader-${String(n).padStart(4, '0')}`

/** Starts emulator, Redis and sites. @param readers accounts of the emulator */
export async function openSetup(readers: number) {
  leaveFirstCore()
  const redisServer = await startRedis()
  const sitePort = await freePort()
  const emulator = createEmulator(demoOptions(emulatorOptions(readers, sitePort)))
  await emulator.listen(0)
  const redis = new Redis(redisServer.url)
  const site: SiteOptions = {
    ...emulator.siteOptions(),
    siteUrl: `http://localhost:${sitePort}`,
    sessionSecret,
    session: { prefix: 'bench:' },
  }
  const privateKeyEncoding = { type: 'pkcs8', format: 'pem' } as const
  const publicKeyEncoding = { type: 'spki', format: 'pem' } as const
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048, privateKeyEncoding, publicKeyEncoding })
  const common = { redisUrl: redisServer.url, sessionSecret, site, privateKey }
  return {
    // the site's processes may listen anywhere, and its address has `sitePort`
    ...{ redisServer, redis, emulator, site, sitePort },
    /** Starts a server, with all that any kind may need. */
    start: (kind: string, more: object = {}, flags?: readonly string[]) =>
      Server.start({ kind, ...common, ...more }, flags),
    close: async () => {
      await emulator.close()
      redis.disconnect()
      await redisServer.stop()
    },
  }
}

function emulatorOptions(readers: number, sitePort: number) {
  const landingPage = `http://localhost:${sitePort}/sso2/landing`
  const clients = [{ clientId: 'bench', clientSecret: `client-secret-${randomUUID()}`, landingPage }]
  const accounts = Array.from({ length: readers }, (_, n) => ({
    accountId: `account-${String(n).padStart(4, '0')}`,
    username: readerName(n),
    password,
    name: 'Ada Lindqvist',
    email: `${readerName(n)}@demo-press.example`,
  }))
  return { clients, accounts, limits: { sessionsPerAccount: 100_000 } }
}
