import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { RedisStore } from 'connect-redis'
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import { Redis } from 'ioredis'
import { sso2 } from '../../lib'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { Browser } from '../support/agent'
import { type Front, startRedisFront } from '../support/front'
import { startRedis, type TestRedis } from '../support/redis'
import { ada, eventually, logIn, openPort, type Port, sessionSecret } from '../support/setup'
import { bag, type StackName, type StoreState, type Visitor } from './scenario'

/** The site of one run: what its requests and upgrades go to. */
export interface Running {
  readonly app: RequestListener
  readonly upgrade: (req: IncomingMessage, socket: Duplex) => void
}

/** One kind of session, on a server of its own. */
export type Stack = Awaited<ReturnType<typeof openStack>>
/** One Redis, one emulator, and every stack on it twice. */
export type World = Awaited<ReturnType<typeof startWorld>>

interface Surroundings {
  readonly emulator: Emulator
  readonly redis: TestRedis
}

const names = ['plain', 'memory', 'redis', 'full'] as const

export async function startWorld() {
  const places = await Promise.all([...names, ...names.map((name) => `${name}-fragile`)].map((name) => openPort(name)))
  const clients = places.map(({ name, url }) => ({
    clientId: name,
    clientSecret: `client-secret-of-the-${name}-site-0123456789`,
    landingPage: `${url}/sso2/landing`,
  }))
  const emulator = createEmulator(demoOptions({ clients, limits: { sessionsPerAccount: 100_000 } }))
  const [redis] = await Promise.all([startRedis(), emulator.listen(0)])
  const front = await startRedisFront(redis.port)
  const open = async (places: readonly Port[], front?: Front) =>
    Object.fromEntries(
      await Promise.all(
        places.map(async (place, index) => {
          const name = names[index] ?? 'plain'
          return [name, await openStack(name, place, { emulator, redis }, front)]
        }),
      ),
    ) as Record<StackName, Stack>
  const stacks = await open(places.slice(0, names.length))
  const fragile = await open(places.slice(names.length), front)
  return {
    stacks,
    /** The same behind something that can take their store away. */
    fragile,
    close: async () => {
      await Promise.all([...Object.values(stacks), ...Object.values(fragile)].map((stack) => stack.close()))
      await Promise.all([emulator.close(), redis.stop(), front.down()])
    },
  }
}

interface Parts {
  readonly mounted: RequestHandler
  readonly session: RequestHandler
  isWell(): Promise<boolean>
  close(): Promise<void>
}

async function openStack(name: StackName, place: Port, around: Surroundings, front?: Front) {
  const { server, url } = place
  const address = front ? `redis://127.0.0.1:${front.port}` : around.redis.url
  const make = () => (name === 'plain' ? plainParts(address) : ourParts(name, place, around, address))
  let parts = await make()
  let site: Running | undefined
  const entry = entryOf(name, () => parts.mounted)
  server.on('request', (req, res) => (site?.app ?? entry)(req, res))
  server.on('upgrade', (req, socket) => site?.upgrade(req, socket))
  const browser = () => new Browser({ now: () => around.emulator.clock.now() })
  const enter = async (visitor: Browser) => {
    if (name === 'full') await logIn(visitor, { url }, ada)
    else for (const path of ['/enter', '/strip']) await visitor.fetchJson(`${url}${path}`)
  }
  const readers = readersOf(url, around.emulator, enter)
  return {
    name,
    url,
    cookieName: name === 'plain' ? 'site.sid' : 'sso2.sid',
    get mounted() {
      return parts.mounted
    },
    get session() {
      return parts.session
    },
    /** Requests go here until the next call; without, to a site that can log in. */
    run: (running: Running | undefined) => {
      site = running
    },
    visitor: async (kind: Visitor) => {
      if (kind === 'stranger') return browser()
      if (name === 'full') return readers()
      const visitor = browser()
      await enter(visitor)
      return visitor
    },
    logIn: enter,
    setStore: async (state: StoreState) => {
      await setStore(state, around.redis, front)
      if (state === 'there') await eventually(() => parts.isWell())
    },
    /** New connections, as a process that has just started. */
    renew: async () => {
      await parts.close()
      await setStore('there', around.redis, front)
      parts = await make()
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await parts.close()
    },
  }
}

/** Logs in once on the form; each reader after that comes back to the site with the SSO system's cookies alone. */
function readersOf(url: string, { clock, siteOptions }: Emulator, enter: (visitor: Browser) => Promise<void>) {
  let known: Browser | undefined
  return async () => {
    const sso = new URL(siteOptions().ssoUrl).hostname
    if (!known) {
      known = new Browser({ now: () => clock.now() })
      await enter(known)
    }
    const reader = known
    let last = ''
    const isIn = async () => {
      reader.dropCookies(({ host }) => host !== sso)
      last = (await reader.visit(`${url}/`)).body
      return last === 'loggedin'
    }
    await eventually(isIn, 5).catch((cause) => {
      throw new Error(`the reader is not logged in but ${last}`, { cause })
    })
    return reader
  }
}

/** Where readers come from: the login of `sso`, or two pages that leave a living session with nothing in it. */
function entryOf(name: StackName, mounted: () => RequestHandler): RequestListener {
  const app = express()
  app.use((req, res, next) => mounted()(req, res, next))
  if (name !== 'full') {
    app.get('/enter', (req, res) => {
      bag(req)['entering'] = true
      res.end()
    })
    app.get('/strip', (req, res) => {
      delete bag(req)['entering']
      res.end()
    })
  }
  app.use((req, res) => void res.end(name === 'full' ? req.sso2.status : 'entered'))
  return app
}

async function setStore(state: StoreState, redis: TestRedis, front: Front | undefined): Promise<void> {
  if (!front) throw new Error('this store cannot be taken away')
  if (state === 'away') return front.down()
  const admin = new Redis(redis.url)
  await admin.config('SET', 'maxmemory', state === 'refusing writes' ? '1' : '0')
  admin.disconnect()
  if (state === 'there') await front.up()
}

/** express-session and connect-redis as a careful site sets them up: a command fails soon where Redis is away. */
async function plainParts(address: string): Promise<Parts> {
  const redis = new Redis(address, { maxRetriesPerRequest: 1, enableOfflineQueue: false, retryStrategy: () => 50 })
  redis.on('error', () => {})
  await once(redis, 'ready')
  const handler = session({
    name: 'site.sid',
    secret: sessionSecret,
    store: new RedisStore({ client: redis, prefix: `plain-${randomUUID()}:` }),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', path: '/' },
  })
  const isWell = async () => (await redis.ping().catch(() => undefined)) === 'PONG'
  return { mounted: handler, session: handler, isWell, close: async () => redis.disconnect() }
}

async function ourParts(
  name: StackName,
  { name: clientId, url }: Port,
  { emulator }: Surroundings,
  address: string,
): Promise<Parts> {
  const sso = sso2({
    ...emulator.siteOptions(clientId),
    siteUrl: url,
    sessionSecret,
    ...(name === 'memory' ? {} : { redis: address }),
    session: { prefix: `${name}-${randomUUID()}:` },
    clock: emulator.clock,
    loginLimit: false,
  })
  const isWell = async () => (await sso.health()).store === 'ok'
  await eventually(isWell)
  return { mounted: name === 'full' ? sso : sso.session, session: sso.session, isWell, close: () => sso.close() }
}
