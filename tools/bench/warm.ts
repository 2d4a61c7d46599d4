import { setTimeout as sleep } from 'node:timers/promises'
import { untilGood } from './load'
import { USUAL_FLAGS, type Usage } from './machine'
import type { Options } from './options'
import { type Group, logIn } from './readers'
import { burst, type Contestant, compete, type Measured } from './rounds'
import { loadOf, measure, type Row, wantedRows } from './rows'
import { openSetup, type Setup } from './setup'
import { report } from './warm-report'

/*
 * What a warm request costs: the servers take turns in short bursts, and every figure is set against the same round's of the row
 * `plain`.
 */

/** Connections of a burst, and how many requests it has. */
const bursts = [
  { connections: 32, requests: 3000 },
  { connections: 1, requests: 1000 },
  { connections: 128, requests: 3000 },
] as const

/** Requests after which V8 has made of a server's code what it will. */
const WARM_UP = 3000

/** V8 gives memory back a while after the last request, in milliseconds. */
const REST_MS = 5000

/** All that is known of a row. */
export interface Results {
  readonly row: Row
  readonly rounds: Measured[]
  /** At rest, after `requests` requests. */
  memory?: Usage | undefined
}

/** A row with its server. */
interface RowContestant extends Contestant, Results {
  readonly cookies: readonly string[]
}

export async function warm(options: Options): Promise<void> {
  const rows = wantedRows(options.only)
  const readers = options.quick ? 50 : 1000
  const setup = await openSetup(readers)
  try {
    const cookies = new Map<Group, string[]>()
    for (const group of new Set(rows.map((row) => row.readers))) cookies.set(group, await logIn(setup, group, readers))
    const contestants: RowContestant[] = []
    for (const row of rows) contestants.push(await enter(setup, row, cookies.get(row.readers) ?? []))
    for (const one of contestants) await untilGood(() => burst(one, 32, WARM_UP))
    for (const { connections, requests } of bursts)
      await compete(contestants, options.rounds, connections, options.quick ? requests / 10 : requests)
    await Promise.all(contestants.map(({ server }) => server.stop()))
    for (const one of contestants) one.memory = await look(setup, one.row, one.cookies, options.requests)
    console.log(report(contestants, options, readers))
  } finally {
    await setup.close()
  }
}

async function enter(setup: Setup, row: Row, cookies: readonly string[]): Promise<RowContestant> {
  const server = await setup.start(row.kind, { page: row.page, dist: row.dist })
  return { row, server, load: loadOf(row, server.port, cookies), masters: [setup.redis], cookies, rounds: [] }
}

/** The row that the others are measured by. @throws where it is missing */
export function measureOf<T extends Results>(all: readonly T[]): T {
  const found = all.find(({ row }) => row.name === measure)
  if (!found) throw new Error(`no row ${measure}`)
  return found
}

/** Memory at rest after so many requests, of a server of its own that nothing else has been asked of. */
async function look(setup: Setup, row: Row, cookies: readonly string[], requests: number): Promise<Usage> {
  const server = await setup.start(row.kind, { page: row.page, dist: row.dist }, USUAL_FLAGS)
  const load = loadOf(row, server.port, cookies)
  await load.open(32)
  await load.run(requests)
  load.close()
  await sleep(REST_MS)
  const usage = await server.usageAtRest()
  await server.stop()
  return usage
}
