import { setTimeout as sleep } from 'node:timers/promises'
import { type Figures, judge, lastAbnormal } from './judge'
import { Load, whoOpens } from './load'
import type { Paper, SiteProcess } from './paper'
import { readerName } from './platform'
import type { Topology } from './topologies'

/*
 * A master is killed, or frozen, while readers read. Another takes its place; then everything must be as ever.
 */

/** How a master goes: without a word, or by standing still and coming back later. */
export type Fault = 'kill' | 'freeze'

/** What one round came to. Times in milliseconds. */
export interface Round {
  readonly figures: Figures
  /** When it was, on the clock of the entries. */
  readonly faultAt: number
  /** What readers did in a second. */
  readonly perSecond: number
  /** From the fault until a replica was master. */
  readonly replacedAfter: number
  /** From the fault until the last thing that was not as ever. */
  readonly normalAfter: number
  /** From the thaw until the same; undefined where the master was killed. */
  readonly normalAfterThaw: number | undefined
  /** Session cookies from before a logout that opened the session again, before its next check. */
  readonly oldCookiesOpen: number
  /** Likewise, after that check. */
  readonly oldCookiesStayOpen: number
}

/** How a round runs. */
export interface Plan {
  readonly readers: number
  readonly perSecond: number
  readonly beforeMs: number
  /** After a replica has become master, and after a thaw. */
  readonly afterMs: number
}

/** Sessions are asked for so often under load, in seconds, so that checks are under way whenever something happens. */
const RECHECK_SECONDS = 5
/** Logouts from so long before the fault are looked at. */
const RECENT_MS = 2000

/** Runs one round at two processes that take turns. */
export async function runFailover(paper: Paper, topology: Topology, fault: Fault, plan: Plan): Promise<Round> {
  const sites = await paper.startAll([{ recheckSeconds: RECHECK_SECONDS }, { recheckSeconds: RECHECK_SECONDS }])
  const load = new Load(paper, plan.readers)
  await load.logInAll()
  const begin = performance.now()
  load.start(plan.perSecond)
  await sleep(plan.beforeMs)
  const times = await strike(topology, fault, plan)
  const actions = await load.stop()
  const seconds = (performance.now() - begin) / 1000
  await load.lookAll() // a logout that the store was not told of is made good at the browser's next page
  const old = await tryOldCookies(paper, sites, load, times.faultAt - RECENT_MS)
  await paper.endAll(sites)
  const { faultAt, replacedAt, thawAt } = times
  const normal = (from: number, to: number) => lastAbnormal(load.entries, from, to) - from
  return {
    figures: judge(load.entries, readerName),
    faultAt,
    perSecond: actions / seconds,
    replacedAfter: replacedAt - faultAt,
    normalAfter: normal(faultAt, thawAt),
    normalAfterThaw: fault === 'freeze' ? normal(thawAt, Number.POSITIVE_INFINITY) : undefined,
    ...old,
  }
}

/** @returns when it was, when a replica had become master, and when the frozen one was thawed, or would have been */
async function strike(topology: Topology, fault: Fault, { afterMs }: Plan) {
  const { node, replaced } = await topology.victim()
  const faultAt = performance.now()
  if (fault === 'freeze') node.freeze()
  else await node.kill()
  await replaced()
  const replacedAt = performance.now()
  await sleep(afterMs)
  const thawAt = performance.now()
  if (fault === 'freeze') {
    node.thaw()
    await sleep(afterMs)
  }
  return { faultAt, replacedAt, thawAt }
}

/** Whoever has kept the cookie of a session that is logged out. A process that asks every six minutes has only the store's word. */
async function tryOldCookies(paper: Paper, sites: readonly SiteProcess[], load: Load, since: number) {
  const [patient] = await paper.startAll([{}], { isBehindProxy: false })
  const recent = load.oldCookies.filter((cookie) => cookie.since > since)
  const howMany = async (ports: readonly (number | undefined)[]) => {
    const seen = await Promise.all(recent.map((cookie, n) => whoOpens(ports[n % ports.length] ?? 0, cookie)))
    return seen.filter((who) => who !== undefined).length
  }
  const oldCookiesOpen = await howMany([patient?.port])
  await sleep(RECHECK_SECONDS * 1000)
  const oldCookiesStayOpen = await howMany(sites.map(({ port }) => port))
  await patient?.end()
  return { oldCookiesOpen, oldCookiesStayOpen }
}
