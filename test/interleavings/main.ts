import { parseArgs } from 'node:util'
import { execute } from './execution'
import { type Limits, nameOf, wander } from './explore'
import { readScenario } from './scenario'
import { faulty, morePairs, pairs, triples } from './scenarios'
import { openSetup, type Setup } from './setup'
import { Findings, runSchedule, tryOrders, type Violation } from './try'

/* `npm run orders`: README.md shows its options. */

const OPTIONS = {
  seconds: { type: 'string', default: '600' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
  replay: { type: 'string' },
  faults: { type: 'string', default: '-1' },
} as const

/** Executions by chance of one scenario before the next one has its turn. */
const WALKS = 20
/** Executions of one pair, and of three at once: else a few have all the time. `--only` runs all. */
const PAIR_EXECUTIONS = 1500
const TRIPLE_EXECUTIONS = 300

export async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS })
  const setup = await openSetup()
  try {
    if (values.replay !== undefined) return await replay(setup, values.replay)
    const tour = new Tour(setup, Number(values.seconds))
    const all = { maxExecutions: Number.POSITIVE_INFINITY, maxPreemptions: 99, faultsUpTo: Number(values.faults) }
    if (values.only !== undefined) await tour.all([values.only], all, 1)
    else await longRun(tour, Number(values.seed))
    tour.tell()
    return tour.violations.length > 0 ? 1 : 0
  } finally {
    await setup.close()
  }
}

/** Each part has until a part of the time. */
async function longRun(tour: Tour, seed: number): Promise<void> {
  const maxExecutions = PAIR_EXECUTIONS
  const both = [...pairs, ...morePairs]
  const inOneProcess = both.map((name) => `one/${name}`)
  await tour.all(faulty, { maxExecutions, maxPreemptions: 1, faultsUpTo: 0 }, 1)
  await tour.all(both, { maxExecutions, maxPreemptions: 99, faultsUpTo: -1 }, 0.5)
  await tour.all(both, { maxExecutions, maxPreemptions: 1, faultsUpTo: 0 }, 0.65)
  await tour.all(inOneProcess, { maxExecutions, maxPreemptions: 1, faultsUpTo: -1 }, 0.75)
  await tour.all(triples, { maxExecutions: TRIPLE_EXECUTIONS, maxPreemptions: 2, faultsUpTo: -1 }, 0.9)
  await tour.wander([...both, ...triples], seed)
}

/** The long run: counts, and what was found. */
class Tour {
  readonly violations: Violation[] = []
  readonly #begin = process.hrtime.bigint()
  readonly #counts = { scenarios: 0, complete: 0, orders: 0, executions: 0, astray: 0 }
  constructor(
    readonly setup: Setup,
    readonly seconds: number,
  ) {}

  get #elapsed(): number {
    return Number(process.hrtime.bigint() - this.#begin) / 1e9
  }
  /** All orders of each scenario, within limits. @param part of the time at which this is to end */
  async all(names: readonly string[], limits: Omit<Limits, 'actors' | 'isOver'>, part: number): Promise<void> {
    const isOver = () => this.#elapsed > this.seconds * part
    for (const name of names) {
      if (isOver()) return console.log('the time of this part is over')
      const tried = await tryOrders(this.setup, readScenario(name), { ...limits, isOver })
      const { executions, orders, isComplete, violations, astray } = tried
      this.#counts.scenarios += 1
      this.#counts.executions += executions
      this.#counts.orders += orders
      this.#counts.complete += Number(isComplete)
      this.#counts.astray += astray
      const lost = astray > 0 ? `, ${astray} astray` : ''
      const bound = limits.maxPreemptions < 99 ? `, up to ${limits.maxPreemptions} preemptions` : ''
      console.log(
        `${name}: ${orders} orders in ${executions} executions, ${isComplete ? 'all' : 'not all'}${bound}${lost}`,
      )
      this.#take(violations)
    }
  }

  /** Orders by chance, with a fault in every third, until time is over. */
  async wander(names: readonly string[], seed: number): Promise<void> {
    for (let round = 0; this.#elapsed < this.seconds; round += 1) {
      const name = names[(round * 7919) % names.length] ?? ''
      const scenario = readScenario(name)
      const findings = new Findings(scenario)
      for (let walk = 0; walk < WALKS && this.#elapsed < this.seconds; walk += 1) {
        const choose = wander(seed * 1_000_003 + round * WALKS + walk, 3 + (walk % 5), walk % 3 === 2)
        findings.take(await execute(this.setup, scenario, choose))
        this.#counts.executions += 1
      }
      this.#take(findings.all)
    }
  }

  #take(violations: readonly Violation[]): void {
    for (const violation of violations) {
      const { promise, text, schedule } = violation
      const isKnown = this.violations.some(
        (other) => other.promise === promise && scenarioOf(other) === scenarioOf(violation),
      )
      if (isKnown) continue
      this.violations.push(violation)
      console.log(`  BROKEN ${promise}: ${text}\n         --replay '${schedule}'`)
    }
  }

  tell(): void {
    const { scenarios, complete, orders, executions, astray } = this.#counts
    const tried = `${scenarios} scenarios (${complete} completely), ${orders} orders, ${executions} executions`
    console.log(`${tried}, ${astray} astray, ${Math.round(this.#elapsed)} s, ${this.violations.length} violations`)
  }
}

const scenarioOf = ({ schedule }: Violation) => schedule.split(' ')[0]

/** Follows one schedule and shows every step. */
async function replay(setup: Setup, schedule: string): Promise<number> {
  const { scenario, steps, broken } = await runSchedule(setup, schedule)
  for (const { actor, label, mode } of steps) {
    const act = scenario.parts[actor]?.acts.join('+')
    console.log(`${String.fromCharCode(65 + actor)} (${act}): ${label}${mode === 'ok' ? '' : `, ${mode}`}`)
  }
  console.log(nameOf(steps))
  for (const { promise, text } of broken) console.log(`BROKEN ${promise}: ${text}`)
  return broken.length > 0 ? 1 : 0
}
