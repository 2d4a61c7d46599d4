import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '../support/redis'
import { watchMachine } from './control'
import { type Figures, judge } from './judge'
import { Load } from './load'
import { openPaper, type Paper, type SiteOptions, type SiteProcess, sessionSecrets } from './paper'
import { clientSecrets, readerName } from './platform'

/*
 * Two processes behind a proxy are replaced one after the other, again and again, while readers read; secrets change on the way.
 */

/** What one step came to. */
export interface Step {
  readonly name: string
  readonly promise: Noticed
  readonly begin: number
  readonly figures: Figures
  /** The longest that the machine took for a page without a store, in milliseconds. */
  readonly stalledMs: number
}

/**
 * What may be noticed of a step. `nothing`: no trip, no login that is refused; `moment`: who is on the way to the
 * platform in that very moment may meet an error page there, or a login that is refused; `trip`: readers are sent through Identify once more.
 */
type Noticed = 'nothing' | 'moment' | 'trip'

const [oldSession, newSession] = sessionSecrets
const [oldClient, newClient] = clientSecrets

interface Change {
  readonly name: string
  readonly promise: Noticed
  /** Options of the processes that come; undefined: only the platform changes. */
  readonly next?: SiteOptions
}

/** The documented steps, and behind them what happens to those who take them too fast. */
const changes: readonly Change[] = [
  { name: 'deploy, nothing changed', promise: 'nothing', next: {} },
  { name: 'sessionSecret [old, new]', promise: 'nothing', next: { sessionSecret: [oldSession, newSession] } },
  { name: 'sessionSecret [new, old]', promise: 'nothing', next: { sessionSecret: [newSession, oldSession] } },
  { name: 'clientSecret [old, new]', promise: 'nothing', next: { clientSecret: [oldClient, newClient] } },
  { name: 'the platform takes the new clientSecret', promise: 'moment' },
  { name: 'clientSecret [new]', promise: 'nothing', next: { clientSecret: [newClient] } },
  { name: 'sessionSecret [new] at once', promise: 'trip', next: { sessionSecret: [newSession] } },
  { name: 'sessionSecret [old] again: new first', promise: 'trip', next: { sessionSecret: [oldSession] } },
]

/** How long readers go on after each step, in milliseconds. */
const AFTER_MS = 1500

/** Runs it, over a single Redis. */
export async function runRollout(readers: number, perSecond: number): Promise<Step[]> {
  const store = await startRedis()
  const paper = await openPaper({ kind: 'single', host: '127.0.0.1', port: store.port }, readers)
  let sites = await paper.startAll([{}, {}])
  const load = new Load(paper, readers)
  await load.logInAll()
  const machine = watchMachine([paper.port])
  load.start(perSecond)
  const begins: number[] = []
  let options: SiteOptions = {}
  for (const { next } of changes) {
    begins.push(performance.now())
    options = { ...options, ...next }
    if (next) sites = await replaceAll(paper, sites, options)
    else paper.platform.changeClientSecret()
    await sleep(AFTER_MS)
  }
  await load.stop()
  await machine.stop()
  await load.lookAll()
  await paper.endAll(sites)
  await paper.close()
  await store.stop()
  return changes.map(({ name, promise }, index) => {
    const span = { from: begins[index] ?? 0, to: begins[index + 1] ?? Number.POSITIVE_INFINITY }
    return {
      name,
      promise,
      begin: span.from,
      figures: judge(load.entries, readerName, span),
      stalledMs: machine.longestMs(span),
    }
  })
}

/** One after another: the new one comes in before the old one goes. */
async function replaceAll(paper: Paper, sites: readonly SiteProcess[], options: SiteOptions): Promise<SiteProcess[]> {
  const next: SiteProcess[] = []
  for (const site of sites) {
    next.push(...(await paper.startAll([options])))
    await paper.endAll([site])
  }
  return next
}
