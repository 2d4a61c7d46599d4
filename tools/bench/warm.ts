import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { number, ratio, show, spread, table } from '../figures'
import { type Load, patiently } from './load'
import { type Server, USUAL_FLAGS, type Usage } from './machine'
import type { Options } from './options'
import { type Group, logIn } from './readers'
import { loadOf, measure, type Row, wantedRows } from './rows'
import { openSetup, type Setup } from './setup'

/*
 * What a warm request costs: the servers take turns in short bursts, so that what disturbs a round disturbs all of them, and every
 * figure is set against the same round's of the row `plain`.
 */

/** Requests of a burst, by the number of its connections. */
const bursts: readonly (readonly [connections: number, requests: number])[] = [
  [32, 3000],
  [1, 1000],
]
/** Requests after which V8 has made of a server's code what it will. */
const WARM_UP = 3000
/** V8 gives memory back a while after the last request, in milliseconds. */
const REST_MS = 5000

/** A row with its server, and all that is known of it. */
interface Contestant {
  readonly row: Row
  readonly cookies: readonly string[]
  readonly server: Server
  readonly load: Load
  readonly rounds: Measured[]
  /** At rest, after `requests` requests. */
  memory?: Usage
}

type Measured = Awaited<ReturnType<typeof burst>>

export async function warm(options: Options): Promise<void> {
  const rows = wantedRows(options.only)
  const readers = options.quick ? 50 : 1000
  const setup = await openSetup(readers)
  try {
    const cookies = new Map<Group, string[]>()
    for (const group of new Set(rows.map((row) => row.readers))) cookies.set(group, await logIn(setup, group, readers))
    const all: Contestant[] = []
    for (const row of rows) all.push(await enter(setup, row, cookies.get(row.readers) ?? []))
    for (const one of all) await patiently(() => burst(one, setup.redis, 32, WARM_UP))
    for (const [connections, requests] of bursts)
      await compete(all, setup.redis, options.rounds, connections, options.quick ? requests / 10 : requests)
    await Promise.all(all.map(({ server }) => server.stop()))
    for (const one of all) one.memory = await look(setup, one, options.requests)
    console.log(report(all, options, readers))
  } finally {
    await setup.close()
  }
}

const startServer = (setup: Setup, { kind, page }: Row, flags?: readonly string[]) => setup.start(kind, { page }, flags)

async function enter(setup: Setup, row: Row, cookies: readonly string[]): Promise<Contestant> {
  const server = await startServer(setup, row)
  return { row, server, load: loadOf(row, server.port, cookies), cookies, rounds: [] }
}

/** Nobody comes first in every round. The first round is thrown away. */
async function compete(
  all: readonly Contestant[],
  redis: Redis,
  rounds: number,
  connections: number,
  requests: number,
): Promise<void> {
  for (let round = -1; round < rounds; round += 1) {
    const first = (round + 1) % all.length
    for (const one of [...all.slice(first), ...all.slice(0, first)]) {
      const measured = await patiently(() => burst(one, redis, connections, requests))
      if (round >= 0) one.rounds.push(measured)
    }
  }
}

/** One burst, over connections that are open before. CPU is in microseconds a request, and commands are counted a request. */
async function burst({ server, load }: Contestant, redis: Redis, connections: number, requests: number) {
  await load.open(connections)
  const [commandsBefore, used] = [await commandsOf(redis), await server.usage()]
  const perSecond = await load.run(requests)
  const cpu = ((await server.usage()).cpu - used.cpu) / requests
  const commands = ((await commandsOf(redis)) - commandsBefore - 1) / requests // without the first question itself
  load.close()
  return { connections, perSecond, cpu, commands }
}

const commandsOf = async (redis: Redis) =>
  Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1] ?? 0)

/** Memory at rest after so many requests, of a server of its own that nothing else has been asked of. */
async function look(setup: Setup, { row, cookies }: Contestant, requests: number): Promise<Usage> {
  const server = await startServer(setup, row, USUAL_FLAGS)
  const load = loadOf(row, server.port, cookies)
  await load.open(32)
  await load.run(requests)
  load.close()
  await sleep(REST_MS)
  const usage = await server.usageAtRest()
  await server.stop()
  return usage
}

/** The table of warm requests, as Markdown. */
function report(all: readonly Contestant[], { rounds, requests }: Options, readers: number): string {
  const find = (name: string) => all.find(({ row }) => row.name === name)
  const [plain, bare] = [find(measure), find('bare')]
  const lines = all.map((one) => lineOf(one, plain ?? one, bare))
  const about = `Medians (and quartiles) of ${rounds} rounds, ${readers} readers; ratios are to *plain*, round by round; memory at rest after ${number(requests)} requests.`
  return `${about}\n\n${table(lines)}\n`
}

/** Figures at so many connections, round by round. */
const series = ({ rounds }: Contestant, connections: number, name: keyof Measured) =>
  rounds.filter((round) => round.connections === connections).map((round) => round[name])

const mebibytes = (bytes: number | undefined) => number((bytes ?? Number.NaN) / 2 ** 20, 1)

function lineOf(one: Contestant, plain: Contestant, bare: Contestant | undefined): Record<string, string> {
  const against = (name: keyof Measured) => show(ratio(series(one, 32, name), series(plain, 32, name)), 2)
  const commands = bursts.map(([connections]) => number(spread(series(one, connections, 'commands')).median, 2))
  const { rss, heap } = one.memory ?? {}
  const over = rss !== undefined && bare?.memory ? rss - bare.memory.rss : undefined
  return {
    row: one.row.title,
    'CPU a request, us': show(spread(series(one, 32, 'cpu'))),
    'CPU / plain': against('cpu'),
    'requests/s, 32 conn.': number(spread(series(one, 32, 'perSecond')).median),
    'requests/s / plain': against('perSecond'),
    'Redis commands, 32 · 1': commands.join(' · '),
    'MiB resident · heap': `${mebibytes(rss)} · ${mebibytes(heap)}`,
    'MiB over bare': mebibytes(over),
  }
}
