import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { createEmulator, demoOptions } from '../../lib/emulator'
import { freePort } from '../../test/support/ports'
import { startRedis } from '../../test/support/redis'
import { leaveFirstCore, Server } from './machine'

/*
 * What every program needs around the servers: a Redis, the emulator with a site or two.
 */

/** Options of one site, as `sso2()` takes them, as far as they can be told to another process. */
export interface SiteOptions {
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
  const [sitePort, mountedPort] = [await freePort(), await freePort()]
  const emulator = createEmulator(demoOptions(emulatorOptions(readers, { bench: sitePort, mounted: mountedPort })))
  await emulator.listen(0)
  const redis = new Redis(redisServer.url)
  const siteOf = (name: string, port: number): SiteOptions => ({
    ...emulator.siteOptions(name),
    siteUrl: `http://localhost:${port}`,
    sessionSecret,
    session: { prefix: `${name}:` },
  })
  const site = siteOf('bench', sitePort)
  const mountedSite = siteOf('mounted', mountedPort)
  const common = { redisUrl: redisServer.url, sessionSecret }
  return {
    // the site's processes may listen anywhere, and its address has `sitePort`
    ...{ redisServer, redis, emulator, site, sitePort, mountedPort },
    /** Starts a server, with all that any kind may need. */
    start: (kind: string, more: object = {}, flags?: readonly string[]) =>
      Server.start({ kind, ...common, site: kind === 'mounted' ? mountedSite : site, ...more }, flags),
    close: async () => {
      await emulator.close()
      redis.disconnect()
      await redisServer.stop()
    },
  }
}

function emulatorOptions(readers: number, ports: Readonly<Record<string, number>>) {
  const clients = Object.entries(ports).map(([name, port]) => ({
    clientId: name,
    clientSecret: `client-secret-${randomUUID()}`,
    name,
    landingPage: `http://localhost:${port}/sso2/landing`,
  }))
  const accounts = Array.from({ length: readers }, (_, n) => ({
    accountId: `account-${String(n).padStart(4, '0')}`,
    username: readerName(n),
    password,
    name: 'Ada Lindqvist',
    email: `${readerName(n)}@demo-press.example`,
  }))
  return { clients, accounts, limits: { sessionsPerAccount: 100_000 } }
}
