import { parseArgs } from 'node:util'
import { findEngine } from './engines'
import { type Fault, type Plan, type Round, runFailover } from './failover'
import { runNginx } from './nginx'
import { openPaper, type Paper } from './paper'
import { type Broken, brokenByFailover, brokenByStep, QUIET_MS } from './promises'
import { type FailoverRun, failoverTables, rolloutTable, stories } from './report'
import { runRollout, type Step } from './rollout'
import type { Engine } from './servers'
import { startCluster, startSentinels, type Topology } from './topologies'

/*
 * npm run test:engines     README.md of this folder
 */

const HELP = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: 'failover,rollout,nginx' },
  engine: { type: 'string', default: 'redis,valkey' },
  topology: { type: 'string', default: 'cluster,sentinel' },
} as const

const topologies: Readonly<Record<string, (engine: Engine) => Promise<Topology>>> = {
  cluster: startCluster,
  sentinel: startSentinels,
}
const READERS = 60
const PLAN: Plan = { readers: READERS, perSecond: 100, beforeMs: 3000, afterMs: 6000 }
const QUICK: Plan = { ...PLAN, readers: 20, perSecond: 50, beforeMs: 1000, afterMs: 3000 }
/** A figure that the machine may have spoilt is measured again. */
const TRIES = 3

interface Wanted {
  readonly parts: readonly string[]
  readonly engines: readonly ('redis' | 'valkey')[]
  readonly topologies: readonly string[]
  readonly faults: readonly Fault[]
  readonly plan: Plan
}

function read(args: readonly string[]): Wanted {
  const { values } = parseArgs({ args: [...args], options: HELP })
  if (values.quick)
    return { parts: ['failover'], engines: ['redis'], topologies: ['sentinel'], faults: ['kill'], plan: QUICK }
  const engines = values.engine.split(',').filter((name) => name === 'redis' || name === 'valkey')
  const faults: Fault[] = ['kill', 'freeze']
  return { parts: values.only.split(','), engines, topologies: values.topology.split(','), faults, plan: PLAN }
}

/** Runs what is wanted. @returns the exit code: 1 when a promise is broken */
export async function main(args: readonly string[]): Promise<number> {
  // servers that were started go with this process, however it ends
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))
  const begin = performance.now()
  const run = new Run(read(args))
  await run.all()
  console.log(`\n${Math.round((performance.now() - begin) / 1000)} s, ${run.broken.length} promises broken`)
  for (const text of run.broken) console.log(`BROKEN ${text}`)
  return run.broken.length > 0 ? 1 : 0
}

/** One run of the program, and what it has found. */
class Run {
  readonly broken: string[] = []
  readonly #wanted: Wanted
  readonly #failovers: FailoverRun[] = []

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  async all(): Promise<void> {
    const { parts, engines } = this.#wanted
    if (parts.includes('failover')) for (const name of engines) await this.#engine(name)
    if (parts.includes('nginx')) await this.#nginx()
    if (this.#failovers.length > 0) console.log(`\nA master goes under load\n\n${failoverTables(this.#failovers)}`)
    if (parts.includes('rollout') && !('missing' in findEngine('redis'))) await this.#rollout()
  }

  async #nginx(): Promise<void> {
    const { version, broken } = await runNginx()
    console.log(
      version === undefined ? 'nginx: skipped, it is not installed' : `nginx ${version}: ${broken.length} leaks`,
    )
    this.broken.push(...broken)
  }

  async #engine(name: 'redis' | 'valkey'): Promise<void> {
    const { topologies: kinds, faults } = this.#wanted
    const found = findEngine(name)
    for (const topology of kinds) {
      const place = { engine: 'missing' in found ? found.name : `${found.name} ${found.version}`, topology }
      if ('missing' in found) {
        console.log(`${place.engine}, ${topology}: skipped, ${found.missing}`)
        for (const fault of faults) this.#failovers.push({ ...place, fault, round: found.missing })
        continue
      }
      await this.#topology(found, place)
    }
  }

  /** One set of servers has each fault; a figure that the machine may have spoilt gets a set of its own. */
  async #topology(engine: Engine, place: { engine: string; topology: string }): Promise<void> {
    const { faults, plan } = this.#wanted
    const start = topologies[place.topology]
    if (!start) throw new Error(`there is no topology ${place.topology}`)
    await withPaper(await start(engine), async (paper, topology) => {
      for (const fault of faults) {
        const first = await runFailover(paper, topology, fault, plan)
        const again = async () =>
          withPaper(await start(engine), (other, servers) => runFailover(other, servers, fault, plan))
        await this.#failover({ ...place, fault }, first, again)
      }
    })
  }

  async #failover(run: Omit<FailoverRun, 'round'>, first: Round, again: () => Promise<Round>): Promise<void> {
    const where = `${run.engine} ${run.topology}, master ${run.fault === 'kill' ? 'killed' : 'frozen'}`
    const judgeIt = (round: Round) => brokenByFailover(round, this.#wanted.plan.perSecond)
    const round = await quietly(where, first, again, judgeIt)
    this.#failovers.push({ ...run, round })
    this.#tell(where, judged(judgeIt(round), round.stalledMs))
    if (round.figures.evidence.length > 0) console.log(stories(round.figures.evidence, round.faultAt))
  }

  async #rollout(): Promise<void> {
    const again = () => runRollout(READERS, this.#wanted.plan.perSecond)
    const steps = await quietlySteps(await again(), again)
    console.log(`\nTwo processes behind a proxy are replaced, secrets change\n\n${rolloutTable(steps)}`)
    for (const step of steps) {
      const broken = judged(brokenByStep(step), step.stalledMs)
      this.#tell(step.name, broken)
      if (broken.length > 0) console.log(stories(step.figures.evidence, step.begin))
    }
  }

  #tell(where: string, broken: readonly Broken[]): void {
    console.log(`${where}: ${broken.length === 0 ? 'as promised' : broken.map(({ text }) => text).join('; ')}`)
    this.broken.push(...broken.map(({ text }) => `${where}: ${text}`))
  }
}

/** What a busy machine says of time is not held against the package. */
function judged(broken: readonly Broken[], stalledMs: number): Broken[] {
  return broken.filter(({ isTiming }) => !isTiming || stalledMs < QUIET_MS)
}

async function quietly<T extends { readonly stalledMs: number }>(
  where: string,
  first: T,
  again: () => Promise<T>,
  brokenBy: (run: T) => readonly Broken[],
): Promise<T> {
  let run = first
  for (let tries = 1; tries < TRIES; tries += 1) {
    const broken = brokenBy(run)
    const isSpoilt = broken.length > 0 && broken.every(({ isTiming }) => isTiming) && run.stalledMs >= QUIET_MS
    if (!isSpoilt) break
    console.log(`${where}: once more, the machine was busy (${broken.map(({ text }) => text).join('; ')})`)
    run = await again()
  }
  return run
}

async function quietlySteps(first: Step[], again: () => Promise<Step[]>): Promise<Step[]> {
  const whole = (steps: Step[]) => ({ steps, stalledMs: Math.max(...steps.map(({ stalledMs }) => stalledMs)) })
  const brokenBy = ({ steps }: { steps: Step[] }) => steps.flatMap(brokenByStep)
  const { steps } = await quietly('the rolling deploy', whole(first), async () => whole(await again()), brokenBy)
  return steps
}

async function withPaper<T>(topology: Topology, run: (paper: Paper, topology: Topology) => Promise<T>): Promise<T> {
  const paper = await openPaper(topology.address, READERS)
  const result = await run(paper, topology)
  await paper.close()
  await topology.stop()
  return result
}
