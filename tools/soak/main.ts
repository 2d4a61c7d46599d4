import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { platformAway } from '../histories/faults'
import { type Doings, pause, suffer } from '../histories/nemesis'
import { accountsFor, lookBack, people } from '../histories/play'
import { judge } from '../histories/promises'
import { keepSeen, tell } from '../histories/report'
import { openSetup, type Setup } from '../histories/setup'
import { judgeCourse, tellCourse } from './flat'
import { Sampler, tableHead, tableLine } from './samples'

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
    const sampler = new Sampler(setup, entries)
    const doings: Doings = { troubles: [], ends: [] }
    await Promise.all([
      live(isOver),
      flap(setup, doings, isOver),
      restartStore(setup, doings, isOver),
      sample(sampler, isOver),
    ])
    const history = await lookBack(setup, entries, doings, agents.slice(0, SETTLED))
    const violations = judge(history)
    const { samples } = sampler
    const courses = judgeCourse(samples)
    const isFlat = courses.every((course) => course.isFlat)
    console.log(`\n${tell(seed, history, violations, performance.now() - begin)}`)
    console.log(`\n${isFlat ? 'FLAT' : 'NOT FLAT'}\n${courses.map(tellCourse).join('\n')}`)
    if (violations.length > 0) console.log(keepSeen(`soak-${seed}`, { samples, courses, violations, history }))
    return isFlat && violations.length === 0 ? 0 : 1
  } finally {
    await setup.close()
  }
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

async function sample(sampler: Sampler, isOver: () => boolean): Promise<void> {
  console.log(tableHead())
  while (!isOver()) {
    await pause(SAMPLE_MS, isOver)
    const taken = await sampler.take()
    if (taken) console.log(tableLine(taken))
  }
}
