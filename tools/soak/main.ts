import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { number, spread } from '../figures'
import { platformAway } from '../histories/faults'
import { type Doings, pause, suffer } from '../histories/nemesis'
import { accountsFor, lookBack, people } from '../histories/play'
import type { Figures } from '../histories/processes'
import { judge } from '../histories/promises'
import { keepSeen, tell } from '../histories/report'
import { openSetup, type Setup } from '../histories/setup'

const OPTIONS = {
  minutes: { type: 'string', default: '10' },
  browsers: { type: 'string', default: '150' },
  seed: { type: 'string', default: '1' },
} as const

/** Checked often, so that ten minutes see as many checks as hours do; in seconds. */
const site = { recheckSeconds: 20, graceSeconds: 40 }
/** Between two steps of a browser, in milliseconds, at most. */
const MOST_PAUSE_MS = 2000
const SAMPLE_MS = 10_000
const FLAP_MS = 20_000
const AWAY_MS = 6000
const RESTART_MS = 60_000
/** Each third restart of Redis loses everything. */
const LOSS = 3
/** Browsers that are looked at in the end, one by one. */
const SETTLED = 20

const MEGABYTE = 1_048_576
/** What has to stay as it is, and by how much it may seem to grow all the same: a share of itself, or so much. */
const bounds: readonly (readonly [name: keyof Figures, share: number, least: number])[] = [
  ['rss', 0.06, 10 * MEGABYTE],
  ['heap', 0.06, 2 * MEGABYTE],
  ['handles', 0.2, 15],
  ['sockets', 0.2, 20],
  ['timers', 0.2, 30],
]

export async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS })
  const begin = performance.now()
  const browsers = Number(values.browsers)
  const setup = await openSetup({ accounts: accountsFor(browsers), site })
  try {
    const end = performance.now() + Number(values.minutes) * 60_000
    const isOver = () => performance.now() > end
    const seed = Number(values.seed)
    const { entries, agents, live } = people(setup, seed, browsers, MOST_PAUSE_MS)
    const samples: Figures[] = []
    const doings: Doings = { troubles: [], ends: [] }
    await Promise.all([
      live(isOver),
      flap(setup, doings, isOver),
      restartStore(setup, doings, isOver),
      sample(setup, samples, isOver),
    ])
    const history = await lookBack(setup, entries, doings, agents.slice(0, SETTLED))
    const violations = judge(history)
    const growing = bounds.filter((bound) => hasGrown(samples, ...bound)).map(([name]) => name)
    console.log(`\n${tell(seed, history, violations, performance.now() - begin)}`)
    console.log(growing.length > 0 ? `GROWS: ${growing.join(', ')}` : 'FLAT')
    if (violations.length > 0) console.log(keepSeen(`soak-${seed}`, { samples, violations, history }))
    return growing.length > 0 || violations.length > 0 ? 1 : 0
  } finally {
    await setup.close()
  }
}

/** Was the last quarter higher than the one before? The first half is the way up. */
function hasGrown(samples: readonly Figures[], name: keyof Figures, share: number, least: number): boolean {
  const quarter = Math.floor(samples.length / 4)
  const values = samples.map((one) => one[name])
  const [before, after] = [spread(values.slice(-2 * quarter, -quarter)).median, spread(values.slice(-quarter)).median]
  return after - before > Math.max(share * before, least)
}

/** The platform goes away for a while, each time in another way. */
async function flap(setup: Setup, doings: Doings, isOver: () => boolean): Promise<void> {
  for (let round = 0; !isOver(); round += 1) {
    await pause(FLAP_MS - AWAY_MS, isOver)
    const fault = platformAway[round % platformAway.length]
    if (fault && !isOver()) await suffer(setup, [fault], Math.random, doings, () => sleep(AWAY_MS))
  }
}

async function restartStore(setup: Setup, doings: Doings, isOver: () => boolean): Promise<void> {
  const [kept, lost] = setup.store.faults
  for (let round = 1; !isOver(); round += 1) {
    await pause(RESTART_MS, isOver)
    const fault = round % LOSS === 0 ? lost : kept
    if (!fault || isOver()) continue
    const [begin, clockBegin] = [performance.now(), setup.clock()]
    await fault.begin(setup, Math.random)
    const { part, name } = fault
    doings.troubles.push({ part, name, begin, end: performance.now(), clockBegin, clockEnd: setup.clock() })
  }
}

/** Figures of all processes together, each after a garbage collection; none while a process is not there to be asked. */
async function sample(setup: Setup, samples: Figures[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(SAMPLE_MS, isOver)
    const found = await Promise.all(setup.processes.map((one) => one.figures()))
    const all = found.filter((figures): figures is Figures => figures !== undefined)
    if (all.length < found.length) continue
    const sum = (name: keyof Figures) => all.reduce((total, figures) => total + figures[name], 0)
    const taken = { rss: sum('rss'), heap: sum('heap'), handles: sum('handles'), sockets: sum('sockets') }
    samples.push({ ...taken, timers: sum('timers') })
    const [rss, heap] = [number(taken.rss / MEGABYTE, 1), number(taken.heap / MEGABYTE, 1)]
    console.log(`RSS ${rss} MB, heap ${heap} MB, ${taken.handles} handles, ${taken.sockets} sockets`)
  }
}
