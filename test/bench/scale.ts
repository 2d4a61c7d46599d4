import { Redis } from 'ioredis'
import { startCluster } from '../storage/servers'
import { startRedis } from '../support/redis'
import { capacity, formula } from './capacity'
import { inTurn, number, ratio, show, spread, table } from './figures'
import { cookieOf, filler, fillPlain, realLogin } from './fill'
import { type Burst, Load, pageRequest, untilGood } from './load'
import type { Server } from './machine'
import { type Options, readOptions } from './options'
import { between, countsOf } from './redis-counts'
import { flood, stampede } from './scale-crowds'
import { openSetup, type Setup } from './setup'

/*
 * The same site with ten thousand, a hundred thousand and a million sessions, and on a Cluster; a flood of visitors without cookies;
 * a session that becomes stale under a thousand requests; and what follows for sites of any size. README.md of this folder.
 */

const CONNECTIONS = 32
const REQUESTS = 3000
const MOST_READERS = 10_000

/** One store with its sessions, and a server on it. */
interface Size {
  readonly title: string
  /** Server that it is compared with: the first of the same kind. */
  readonly kind: 'sso2' | 'one-read'
  readonly sessions: number
  readonly bytes: { readonly record: number; readonly lists: number }
  readonly server: Server
  readonly load: Load
  readonly masters: readonly Redis[]
  readonly bursts: { readonly cpu: number; readonly perSecond: number; readonly commands: number }[]
  stop(): Promise<void>
}

/** The program. */
export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  const setup = await openSetup(10)
  try {
    const template = await realLogin(setup)
    const sizes = [10_000, 100_000, 1_000_000].filter((size) => size <= options.sessions)
    const all: Size[] = []
    for (const sessions of sizes) all.push(await onOneRedis(setup, template, sessions))
    all.push(await onCluster(setup, template, sizes[0] ?? options.sessions))
    for (const sessions of sizes) all.push(await control(setup, sessions))
    await compete(all, options)
    console.log(`${table(all.map((size) => lineOf(size, all)))}\n`)
    console.log(`A session of express-session with connect-redis, same user: ${number(await plainBytes())} bytes\n`)
    await Promise.all(all.map((size) => size.stop()))
    console.log(`${table([await flood(setup, options), await stampede(setup, options)].flat())}\n`)
    const [first] = all
    if (first) console.log(`${formula}\n\n${table(capacity(figuresOf(first)))}\n`)
  } finally {
    await setup.close()
  }
}

async function onOneRedis(setup: Setup, template: string, sessions: number): Promise<Size> {
  const store = await startRedis()
  const redis = new Redis(store.url)
  const { ids, bytes } = await fill(setup, template, redis, [redis], sessions)
  const server = await setup.start('sso2', { redisUrl: store.url })
  const stop = async () => {
    await server.stop()
    redis.disconnect()
    await store.stop()
  }
  const title = `${number(sessions)} sessions`
  const load = loadOf(setup, server, ids)
  return { title, kind: 'sso2', sessions, bytes, server, load, masters: [redis], bursts: [], stop }
}

/** A server that checks a signature and reads one key, whatever stands in Redis: what becomes slower here is Redis and the machine. */
async function control(setup: Setup, sessions: number): Promise<Size> {
  const store = await startRedis()
  const redis = new Redis(store.url)
  const ids = await fillPlain(redis, sessions)
  const server = await setup.start('one-read', { redisUrl: store.url })
  const stop = async () => {
    await server.stop()
    redis.disconnect()
    await store.stop()
  }
  const title = `the control, a signature and one MGET: ${number(sessions)}`
  const bytes = { record: Number.NaN, lists: Number.NaN }
  const load = loadOf(setup, server, ids, 'plain.sid')
  return { title, kind: 'one-read', sessions, bytes, server, load, masters: [redis], bursts: [], stop }
}

async function onCluster(setup: Setup, template: string, sessions: number): Promise<Size> {
  const store = await startCluster()
  const cluster = store.client()
  const masters = store.masters.map(({ url }) => new Redis(url))
  const { ids, bytes } = await fill(setup, template, cluster, masters, sessions)
  const server = await setup.start('sso2', { nodes: store.masters.map(({ port }) => ({ host: '127.0.0.1', port })) })
  const stop = async () => {
    await server.stop()
    for (const client of [cluster, ...masters]) client.disconnect()
    await store.stop()
  }
  const title = `${number(sessions)} sessions, Cluster of three masters`
  const load = loadOf(setup, server, ids)
  return { title, kind: 'sso2', sessions, bytes, server, load, masters, bursts: [], stop }
}

async function fill(
  setup: Setup,
  template: string,
  redis: Parameters<typeof filler>[2],
  masters: readonly Redis[],
  sessions: number,
) {
  const writer = await filler(setup, template, redis)
  const before = await countsOf(masters)
  const ids = await writer.records(sessions)
  const between = await countsOf(masters)
  await writer.indexes(ids)
  const after = await countsOf(masters)
  const each = (bytes: number) => bytes / sessions
  return { ids, bytes: { record: each(between.bytes - before.bytes), lists: each(after.bytes - between.bytes) } }
}

/** Readers from all over the store: session IDs are random, so the first ones are as good as any. */
function loadOf({ site }: Setup, server: Server, ids: readonly string[], cookie?: string): Load {
  const requests = ids.slice(0, MOST_READERS).map((id) => pageRequest(cookieOf(id, site, cookie)))
  return new Load({ port: server.port, requests, status: 200, body: '<p>Good morning, Ada Lindqvist</p>' })
}

/** Bursts in turns; nobody comes first in every round. */
async function compete(all: readonly Size[], { rounds, quick }: Options): Promise<void> {
  for (let round = -1; round < rounds; round += 1)
    for (const size of inTurn(all, round)) {
      const done = await untilGood(() => burst(size, quick ? REQUESTS / 10 : REQUESTS))
      if (round >= 0) size.bursts.push(done)
    }
}

async function burst({ server, load, masters }: Size, requests: number): Promise<Size['bursts'][number] & Burst> {
  await load.open(CONNECTIONS)
  const [counts, used] = [await countsOf(masters), await server.usage()]
  const done = await load.run(requests)
  const cpu = (await server.usage()).cpu - used.cpu
  const { commands } = between(counts, await countsOf(masters), masters.length)
  load.close()
  return { ...done, cpu: cpu / requests, commands: commands / requests }
}

const series = ({ bursts }: Size, what: 'cpu' | 'perSecond' | 'commands') => bursts.map((one) => one[what])

function lineOf(size: Size, all: readonly Size[]): Record<string, string> {
  const first = all.find(({ kind }) => kind === size.kind) ?? size
  return {
    store: size.title,
    'bytes a session': number(size.bytes.record),
    'with its two lists': number(size.bytes.record + size.bytes.lists),
    'CPU a request, us': show(spread(series(size, 'cpu'))),
    'CPU / first': show(ratio(series(size, 'cpu'), series(first, 'cpu')), 2),
    'requests/s / first': show(ratio(series(size, 'perSecond'), series(first, 'perSecond')), 2),
    'Redis commands': show(spread(series(size, 'commands')), 2),
  }
}

function figuresOf(size: Size) {
  return {
    cpuMicroseconds: spread(series(size, 'cpu')).median,
    bytes: size.bytes.record + size.bytes.lists,
  }
}

async function plainBytes(): Promise<number> {
  const [store, sessions] = [await startRedis(), 10_000]
  const redis = new Redis(store.url)
  const before = await countsOf([redis])
  await fillPlain(redis, sessions)
  const { bytes } = between(before, await countsOf([redis]))
  redis.disconnect()
  await store.stop()
  return bytes / sessions
}
