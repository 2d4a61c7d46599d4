import { writeFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { inTurn } from './figures'
import { judge } from './goals'
import { type Burst, type Load, untilGood } from './load'
import type { Server, Usage } from './machine'
import { type Options, readOptions } from './options'
import { installPeers } from './peers'
import { type Group, logIn } from './readers'
import { between, countsOf } from './redis-counts'
import { loadOf, measure, type Row, wantedRows } from './rows'
import { openSetup, type Setup } from './setup'
import { report } from './warm-report'
import { look } from './weight'

/*
 * What a warm request costs: the servers take turns in short bursts, and every figure is set against the same round's of the row
 * `plain`. Usage and how to read it: README.md of this folder.
 */

/** Connections of a burst, and how many requests it has. */
const bursts = [
  { connections: 32, requests: 3000 },
  { connections: 1, requests: 1000 },
  { connections: 128, requests: 3000 },
] as const

/** Requests after which V8 has made of a server's code what it will. */
const WARM_UP = 3000

/** One burst of one server. */
export interface Measured {
  readonly connections: number
  /** Microseconds of the server's CPU time a request. */
  readonly cpu: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly commands: number
  readonly trips: number
  readonly setCookies: number
}

/** All that is known of a row. */
export interface Results {
  readonly row: Row
  readonly rounds: Measured[]
  /** At rest, after `requests` requests. */
  memory?: Usage | undefined
}

/** A row with its server. */
interface Contestant extends Results {
  readonly server: Server
  readonly load: Load
  readonly cookies: readonly string[]
}

/** The program. */
export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  const rows = wantedRows(options.only, installPeers())
  const readers = options.quick ? 50 : 1000
  const setup = await openSetup(readers)
  try {
    const cookies = new Map<Group, string[]>()
    for (const group of new Set(rows.map((row) => row.readers))) cookies.set(group, await logIn(setup, group, readers))
    const contestants: Contestant[] = []
    for (const row of rows) contestants.push(await enter(setup, row, cookies.get(row.readers) ?? []))
    await compete(contestants, setup.redis, options)
    await Promise.all(contestants.map(({ server }) => server.stop()))
    for (const one of contestants) [one.memory] = await look(setup, one.row, one.cookies, [options.requests])
    console.log(report(contestants, options, readers))
    console.log(judge(contestants))
    if (options.json)
      writeFileSync(
        options.json,
        JSON.stringify(contestants.map(({ row, rounds, memory }) => ({ row, rounds, memory }))),
      )
  } finally {
    await setup.close()
  }
}

async function enter(setup: Setup, row: Row, cookies: readonly string[]): Promise<Contestant> {
  const server = await setup.start(row.kind, { page: row.page, dist: row.dist })
  return { row, server, load: loadOf(row, server.port, cookies), cookies, rounds: [] }
}

/** Bursts in turns, on code that is warm. The first round of each kind is thrown away. */
async function compete(contestants: readonly Contestant[], redis: Redis, { rounds, quick }: Options): Promise<void> {
  const size = quick ? 0.1 : 1
  for (const one of contestants) await untilGood(() => burst(one, redis, 32, WARM_UP))
  for (const { connections, requests } of bursts)
    for (let round = -1; round < rounds; round += 1)
      for (const one of inTurn(contestants, round)) {
        const measured = await untilGood(() => burst(one, redis, connections, requests * size))
        if (round >= 0) one.rounds.push(measured)
      }
}

async function burst(one: Contestant, redis: Redis, connections: number, requests: number): Promise<Measured & Burst> {
  const { server, load } = one
  await load.open(connections)
  const [before, used] = [await countsOf([redis]), await server.usage()]
  const done = await load.run(requests)
  const cpu = (await server.usage()).cpu - used.cpu
  const { commands, trips } = between(before, await countsOf([redis]))
  load.close()
  const each = (total: number) => total / requests
  const setCookies = each(done.setCookies)
  return { ...done, connections, cpu: each(cpu), commands: each(commands), trips: each(trips), setCookies }
}

/** Figures of one row at so many connections, round by round. */
export function series({ rounds }: Results, connections: number, name: keyof Measured): number[] {
  return rounds.filter((round) => round.connections === connections).map((round) => round[name])
}

/** The row that the others are measured by. @throws where it is missing */
export function measureOf<T extends Results>(all: readonly T[]): T {
  const found = all.find(({ row }) => row.name === measure)
  if (!found) throw new Error(`no row ${measure}`)
  return found
}
