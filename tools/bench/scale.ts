import { type Cluster, Redis } from 'ioredis'
import { startCluster } from '../../test/support/cluster'
import { startRedis } from '../../test/support/redis'
import { number, ratio, show, spread, table } from '../figures'
import { cookieOf, filler, fillPlain, realLogin } from './fill'
import { Load, pageRequest } from './load'
import type { Server } from './machine'
import type { Options } from './options'
import { countsOf } from './redis-counts'
import { type Contestant, compete, type Measured, series } from './rounds'
import { openSetup, type Setup } from './setup'

/*
 * The same site with ten thousand, a hundred thousand and a million sessions, and on a Cluster.
 */

const CONNECTIONS = 32
const REQUESTS = 3000
const MOST_READERS = 10_000

/** One store with its sessions, and a server on it. */
interface Size extends Contestant {
  readonly title: string
  /** Server that it is compared with: the first of the same kind. */
  readonly kind: 'sso2' | 'one-read'
  readonly bytes: Sessions['bytes']
  stop(): Promise<void>
}

/** Session IDs, and what a session takes. */
interface Sessions {
  readonly ids: readonly string[]
  readonly bytes: { readonly record: number; readonly lists: number }
}

/** Where sessions are stored. */
interface Store {
  readonly client: Redis | Cluster
  readonly masters: readonly Redis[]
  /** Options of a server that uses it. */
  readonly options: object
  stop(): Promise<void>
}

export async function scale(options: Options): Promise<void> {
  const setup = await openSetup(10)
  try {
    const template = await realLogin(setup)
    const sizes = [10_000, 100_000, 1_000_000].filter((size) => size <= options.sessions)
    const all: Size[] = []
    const site = async (store: Store, count: number, title: string) =>
      all.push(await enter(setup, 'sso2', title, store, await fill(setup, template, store, count)))
    for (const count of sizes) await site(await oneRedis(), count, `${number(count)} sessions`)
    const few = sizes[0] ?? options.sessions
    await site(await threeMasters(), few, `${number(few)} sessions, Cluster of three masters`)
    for (const count of sizes) all.push(await control(setup, count))
    await compete(all, options.rounds, CONNECTIONS, options.quick ? REQUESTS / 10 : REQUESTS)
    console.log(`${table(all.map((size) => lineOf(size, all)))}\n`)
    const plain = all.find(({ kind }) => kind === 'one-read')?.bytes.record ?? Number.NaN
    console.log(`A session of express-session with connect-redis, same user: ${number(plain)} bytes\n`)
    await Promise.all(all.map((size) => size.stop()))
  } finally {
    await setup.close()
  }
}

async function oneRedis(): Promise<Store> {
  const store = await startRedis()
  const client = new Redis(store.url)
  const stop = () => {
    client.disconnect()
    return store.stop()
  }
  return { client, masters: [client], options: { redisUrl: store.url }, stop }
}

async function threeMasters(): Promise<Store> {
  const store = await startCluster()
  const client = store.client()
  const masters = store.masters.map(({ url }) => new Redis(url))
  const stop = () => {
    for (const one of [client, ...masters]) one.disconnect()
    return store.stop()
  }
  const nodes = store.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
  return { client, masters, options: { nodes }, stop }
}

async function fill(setup: Setup, template: string, { client, masters }: Store, count: number): Promise<Sessions> {
  const writer = await filler(setup, template, client)
  const before = await countsOf(masters)
  const ids = await writer.records(count)
  const between = await countsOf(masters)
  await writer.indexes(ids)
  const after = await countsOf(masters)
  const each = (bytes: number) => bytes / count
  return { ids, bytes: { record: each(between.bytes - before.bytes), lists: each(after.bytes - between.bytes) } }
}

/** A server that checks a signature and reads one key, whatever stands in Redis: what becomes slower here is Redis and the machine. */
async function control(setup: Setup, count: number): Promise<Size> {
  const store = await oneRedis()
  const before = await countsOf(store.masters)
  const ids = await fillPlain(store.client, count)
  const after = await countsOf(store.masters)
  const bytes = { record: (after.bytes - before.bytes) / count, lists: Number.NaN }
  return enter(setup, 'one-read', `the control, a signature and one MGET: ${number(count)}`, store, { ids, bytes })
}

/** A server on a store with its sessions. */
async function enter(
  setup: Setup,
  kind: Size['kind'],
  title: string,
  { masters, options, stop }: Store,
  { ids, bytes }: Sessions,
): Promise<Size> {
  const server = await setup.start(kind, options)
  const load = loadOf(setup, server, ids, kind === 'sso2' ? undefined : 'plain.sid')
  return { title, kind, bytes, server, load, masters, rounds: [], stop: () => server.stop().then(stop) }
}

/** Readers from all over the store: session IDs are random, so the first ones are as good as any. */
function loadOf({ site }: Setup, server: Server, ids: readonly string[], cookie?: string): Load {
  const requests = ids.slice(0, MOST_READERS).map((id) => pageRequest(cookieOf(id, site, cookie)))
  return new Load({ port: server.port, requests, status: 200, body: '<p>Good morning, Ada Lindqvist</p>' })
}

const figures = (size: Size, what: keyof Measured) => series(size, CONNECTIONS, what)

function lineOf(size: Size, all: readonly Size[]): Record<string, string> {
  const first = all.find(({ kind }) => kind === size.kind) ?? size
  const { record, lists } = size.bytes
  return {
    store: size.title,
    'bytes a session': number(record),
    'with its index': number(record + lists),
    'CPU a request, us': show(spread(figures(size, 'cpu'))),
    'CPU / first': show(ratio(figures(size, 'cpu'), figures(first, 'cpu')), 2),
    'requests/s / first': show(ratio(figures(size, 'perSecond'), figures(first, 'perSecond')), 2),
    'Redis commands': show(spread(figures(size, 'commands')), 2),
  }
}
