import { parseArgs } from 'node:util'
import { dice } from './dice'
import type { History } from './entries'
import { type Doings, nemesis } from './nemesis'
import { accountsFor, lookBack, people } from './play'
import { judge } from './promises'
import { keepSeen, tell } from './report'
import { openSetup } from './setup'
import { manyMasters, oneRedis, type Store } from './store'

const OPTIONS = {
  steps: { type: 'string', default: '10000' },
  seed: { type: 'string' },
  runs: { type: 'string', default: '1' },
  masters: { type: 'string' },
  server: { type: 'string', default: 'redis-server' },
} as const

/** Browsers that do anything. */
const DOERS = 10
/** Between two steps of a browser, in milliseconds, at most. */
const MOST_PAUSE_MS = 250

export async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS })
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  const { masters, server } = values
  const openStore = () => (masters === undefined ? oneRedis() : manyMasters(masters, server))
  let broken = 0
  for (let run = 0; run < Number(values.runs); run += 1) {
    const begin = performance.now()
    const seed = first + run
    const history = await play(seed, Number(values.steps), openStore)
    const violations = judge(history)
    broken += violations.length
    console.log(tell(seed, history, violations, performance.now() - begin))
    if (violations.length > 0) console.log(keepSeen(`history-${seed}`, { seed, history, violations }))
  }
  return broken > 0 ? 1 : 0
}

/** Plays one history: the seed says who does what, and what breaks; when exactly is the machine's. */
async function play(seed: number, steps: number, openStore: () => Promise<Store>): Promise<History> {
  const setup = await openSetup({ accounts: accountsFor(DOERS), openStore })
  try {
    const { entries, agents, live } = people(setup, seed, DOERS, MOST_PAUSE_MS)
    const isOver = () => entries.length >= steps
    const doings: Doings = { troubles: [], ends: [] }
    await Promise.all([live(isOver), nemesis(setup, dice(seed), doings, isOver)])
    return await lookBack(setup, entries, doings, agents)
  } finally {
    await setup.close()
  }
}
