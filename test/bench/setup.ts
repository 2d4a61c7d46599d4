import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { freePort } from '../support/ports'
import { startRedis, type TestRedis } from '../support/redis'
import { leaveFirstCore, Server } from './machine'
import { type Provider, startProvider } from './provider'

/*
 * What every program needs around the servers: a Redis, the emulator with a site or two, an OpenID provider for the peers.
 */

/** Options of one site, as `sso2()` takes them, as far as they can be told to another process. */
export interface SiteOptions {
  readonly siteUrl: string
  readonly sessionSecret: string
  readonly session: { readonly prefix: string }
}

/** Everything around the servers. */
export interface Setup {
  readonly redisServer: TestRedis
  readonly redis: Redis
  readonly emulator: Emulator
  readonly provider: Provider
  /** A site of this package; its processes may listen anywhere, `port` is the one in its address. */
  readonly site: SiteOptions
  /** The same behind a session of the site's own. */
  readonly mountedSite: SiteOptions
  readonly sitePort: number
  readonly mountedPort: number
  /** Where a peer that must know its own address is. */
  readonly peerPort: number
  /** Starts a server, with all that any kind may need. */
  start(kind: string, more?: object, flags?: readonly string[]): Promise<Server>
  close(): Promise<void>
}

const sessionSecret = 'a-session-secret-of-more-than-32-bytes'
export const password = 'correct-horse'
export const readerName = (n: number) => `reader-${String(n).padStart(4, '0')}`

/** Starts emulator, Redis and sites. @param readers accounts of the emulator */
export async function openSetup(readers: number): Promise<Setup> {
  leaveFirstCore()
  const redisServer = await startRedis()
  const [sitePort, mountedPort, peerPort] = [await freePort(), await freePort(), await freePort()]
  const emulator = createEmulator(demoOptions(emulatorOptions(readers, { bench: sitePort, mounted: mountedPort })))
  await emulator.listen(0)
  const provider = await startProvider()
  const redis = new Redis(redisServer.url)
  const siteOf = (name: string, port: number) => ({
    ...emulator.siteOptions(name),
    siteUrl: `http://localhost:${port}`,
    sessionSecret,
    session: { prefix: `${name}:` },
  })
  const site = siteOf('bench', sitePort)
  const mountedSite = siteOf('mounted', mountedPort)
  const clerk = {
    jwtKey: provider.publicPem,
    publishableKey: `pk_live_${Buffer.from('clerk.bench.example$').toString('base64')}`,
  }
  const common = {
    redisUrl: redisServer.url,
    sessionSecret,
    providerUrl: provider.url,
    siteUrl: `http://localhost:${peerPort}`,
  }
  const realmPublicKey = provider.publicPem.replace(/-----[^-]+-----|\s/g, '')
  return {
    ...{ redisServer, redis, emulator, provider, site, mountedSite, sitePort, mountedPort, peerPort },
    start: (kind, more = {}, flags = undefined) =>
      Server.start(
        { kind, ...common, realmPublicKey, clerk, site: kind === 'mounted' ? mountedSite : site, ...more },
        flags,
      ),
    close: async () => {
      provider.close()
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
