import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { Redis } from 'ioredis'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { type Front, startFront } from '../../test/support/front'
import { CallTap } from './call-tap'
import type { Bounds, Trouble } from './entries'
import { SiteProcess } from './processes'
import { oneRedis, type Store } from './store'

/** Bound on one Session Status call of the site, in milliseconds. */
const STATUS_MS = 700
const PROCESSES = 2
const NAME = 'morning.localhost'

export interface Account {
  readonly username: string
  readonly password: string
}

interface SetupOptions {
  readonly accounts: readonly Account[]
  readonly site?: Partial<Bounds>
  /** Default: one Redis. */
  readonly openStore?: () => Promise<Store>
}

/** A site of two processes behind a balancer, with everything around it that can break. */
export type Setup = Awaited<ReturnType<typeof openSetup>>

const accountOptions = (accounts: readonly Account[]) =>
  accounts.map(({ username, password }) => ({
    accountId: `account-${username}`,
    username,
    password,
    name: username,
    email: `${username}@example.org`,
  }))

const UNLIMITED = { attemptsBeforeFreeze: 1000, sessionsPerAccount: 1_000_000, pruneAfterSeconds: 10_000_000 }

export async function openSetup({ accounts, site = {}, openStore = oneRedis }: SetupOptions) {
  const processes: SiteProcess[] = []
  let turn = 0
  /** Connections go to the processes that run, in turn. */
  const balancer = await startFront(() => {
    const ports = processes.filter(({ isRunning, port }) => isRunning && port > 0).map(({ port }) => port)
    turn += 1
    return ports[turn % ports.length] ?? 1
  })
  const url = `http://${NAME}:${balancer.port}`
  const clients = [{ clientId: 'morning', clientSecret: `secret-${randomUUID()}`, landingPage: `${url}/sso2/landing` }]
  const emulator = createEmulator(demoOptions({ clients, accounts: accountOptions(accounts), limits: UNLIMITED }))
  const { port } = await emulator.listen(0)
  const [ssoFront, store] = [await startFront(port), await openStore()]
  const bounds = { recheckSeconds: 360, graceSeconds: 900, ...site }
  const options = {
    ...throughFront(emulator, ssoFront),
    siteUrl: url,
    sessionSecret: `session-secret-${randomUUID()}`,
    redis: store.address,
    session: { prefix: 'paper:' },
    timeoutMs: STATUS_MS,
    loginLimit: false,
    ...bounds,
  }
  const mishaps: string[] = []
  const busy: Trouble[] = []
  const noteBusy = (ms: number) => {
    const [end, clockEnd] = [performance.now(), emulator.clock.now() / 1000]
    busy.push({ part: 'busy', name: 'busy', begin: end - ms, end, clockBegin: clockEnd - ms / 1000, clockEnd })
  }
  const beginning = { dist: path.join(__dirname, '..', '..', 'dist'), options }
  while (processes.length < PROCESSES)
    processes.push(new SiteProcess(beginning, (text) => mishaps.push(text), noteBusy))
  await Promise.all(processes.map((one) => one.start()))
  const watches = [watchOwnLoop(noteBusy), ...store.servers.map((server) => watchServer(server, noteBusy))]
  const tap = new CallTap(emulator)
  let ahead = 0
  return {
    url,
    emulator,
    ssoFront,
    store,
    processes,
    bounds,
    /** What processes did that nobody asked for. */
    mishaps,
    busy,
    /** The clock of platform and site, in seconds. */
    clock: () => emulator.clock.now() / 1000,
    advance: async (seconds: number) => {
      ahead += seconds * 1000
      emulator.clock.advance(seconds)
      await Promise.all(processes.map((one) => one.setClock(ahead)))
    },
    calls: () => tap.all(),
    close: async () => {
      for (const stop of watches) stop()
      tap.close()
      await Promise.all(processes.map((one) => one.stop()))
      await balancer.down()
      await emulator.close()
      await ssoFront.down()
      await store.close()
    },
  }
}

function throughFront(emulator: Emulator, { port }: Front): object {
  const options = Object.entries(emulator.siteOptions('morning'))
  return Object.fromEntries(
    options.map(([name, value]) => [name, value.replace(emulator.url, `http://127.0.0.1:${port}`)]),
  )
}

const BEAT_MS = 50
/** Process, front and Redis may each be later without a note, in milliseconds. All together they are in time for a site, which waits for 300. */
const BUSY_MS = 75

/** A checker that is late itself judges nobody by the clock. */
function watchOwnLoop(noteBusy: (ms: number) => void): () => void {
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    if (now - last > BEAT_MS + BUSY_MS) noteBusy(now - last)
    last = now
  }, BEAT_MS)
  return () => clearInterval(timer)
}

/** A Redis that is late itself, past all fronts, is nobody's fault either; one that starts again answers nothing. */
function watchServer(server: Redis, noteBusy: (ms: number) => void): () => void {
  const look = async () => {
    if (server.status !== 'ready') return
    const begin = performance.now()
    const isThere = await server.ping().then(
      () => true,
      () => false,
    )
    const ms = performance.now() - begin
    if (isThere && ms > BUSY_MS) noteBusy(ms)
  }
  const timer = setInterval(look, BEAT_MS)
  return () => clearInterval(timer)
}
