import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { startRedis } from '../support/redis'
import { type PlatformCall, platformAgent } from './platform-gate'
import { buildProcess, SITE, type SiteKind } from './site'
import { type GatedClient, openGatedClient } from './store-gate'
import { installTime } from './timers'

/** What all executions share: one platform, one Redis with a client for each of two processes. */
export type Setup = Awaited<ReturnType<typeof openSetup>>

/** One site in two processes. */
export interface Site {
  readonly prefix: string
  readonly processes: readonly [Process, Process]
  /** When the next execution begins, in milliseconds since 1970. */
  begins: number
}

type Process = ReturnType<typeof buildProcess>

/** A whole second in the year 2027: the first execution of a site begins then, and each next one an hour later. */
const BEGIN_MS = 1_800_000_000_000
const HOUR_MS = 3_600_000

/** Opens a setup with a Redis of its own, on a socket that costs half of what a port does. */
export async function openSetup() {
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-orders-'))
  const socket = path.join(folder, 'redis.sock')
  const server = await startRedis({ args: ['--unixsocket', socket] })
  const emulator = await startPlatform()
  const names = new Map<string, string>()
  const short = (key: string) => shortName(names, key)
  const redis = new Redis(socket)
  const gated = [openGatedClient(socket, short), openGatedClient(socket, short)] as const
  let calls: PlatformCall[] = []
  let number = 0
  const sites = new Map<string, Site>()
  const restoreTime = installTime()
  const agent = platformAgent(emulator.app, (call) => void calls.push(call))
  await Promise.all([redis.ping(), ...gated.map((client) => client.redis.ping())])
  const open = (kind: SiteKind): Site => {
    number += 1
    const prefix = `orders-${number}:`
    const make = ({ redis: client }: GatedClient) => buildProcess({ emulator, agent }, client, prefix, kind)
    return { prefix, processes: [make(gated[0]), make(gated[1])], begins: BEGIN_MS }
  }
  const retire = async () => {
    for (const { processes } of sites.values()) await Promise.all(processes.map(({ sso }) => sso.close()))
    sites.clear()
  }
  return {
    emulator,
    clients: gated,
    /** A client that no step waits for. */
    redis,
    /** The site of the next execution, on an empty store and with a platform that knows nobody. */
    begin: async (next: PlatformCall[], kind: SiteKind): Promise<Site> => {
      const name = `${kind.isOwnSession} ${kind.hasLimits}`
      names.clear()
      calls = next
      await redis.flushdb()
      emulator.reset()
      for (const client of gated) client.isReadOnly = false
      const site = sites.get(name) ?? open(kind)
      sites.set(name, site)
      site.begins += HOUR_MS
      return site
    },
    /** What ran may have opened a breaker: the next execution gets a site of its own. */
    retire,
    close: async () => {
      await retire()
      restoreTime()
      for (const client of [redis, ...gated.map((one) => one.redis)]) client.disconnect()
      await emulator.close()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startPlatform(): Promise<Emulator> {
  const landingPage = `${SITE}/sso2/landing`
  const clients = [
    { clientId: 'paper', clientSecret: 'client-secret-of-the-paper-0123456789', name: 'Paper', landingPage },
  ]
  const emulator = createEmulator(demoOptions({ clients, limits: { sessionsPerAccount: 100_000 } }))
  await emulator.listen(0)
  return emulator
}

/** `orders-7:sso2:{9f…}` is `sso2#1`: the kind of the key, and which of its kind it is. */
function shortName(names: Map<string, string>, key: string): string {
  const known = names.get(key)
  if (known) return known
  const [, kind = '', id = ''] = key.split(':')
  const same = [...names.entries()].filter(([, name]) => name.startsWith(`${kind}#`))
  const twin = [...names.entries()].find(([other]) => id !== '' && other !== key && other.endsWith(`:${id}`))
  const name = `${kind}#${twin?.[1].split('#')[1] ?? same.length + 1}`
  names.set(key, name)
  return name
}
