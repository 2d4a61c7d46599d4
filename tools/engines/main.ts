import { parseArgs } from 'node:util'
import { number, table } from '../figures'
import { type Fault, type Plan, type Round, runFailover } from './failover'
import type { Evidence } from './judge'
import { openPaper } from './paper'
import { startCluster, startSentinels } from './topologies'

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  server: { type: 'string', default: 'redis-server' },
  topology: { type: 'string', default: 'cluster,sentinel' },
} as const

const READERS = 60
const PLAN: Plan = { readers: READERS, perSecond: 100, beforeMs: 3000, afterMs: 6000 }
const QUICK: Plan = { readers: 20, perSecond: 50, beforeMs: 1000, afterMs: 3000 }
/** All is as ever so long after a replica has become master, or after the old master is back, in milliseconds. */
const HEALED_MS = 5000

/** @returns the exit code: 1 when a promise is broken */
export async function main(): Promise<number> {
  // servers that were started go with this process, however it ends
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))
  const { values } = parseArgs({ options: OPTIONS })
  const [plan, faults, topologies]: [Plan, Fault[], string[]] = values.quick
    ? [QUICK, ['kill'], ['sentinel']]
    : [PLAN, ['kill', 'freeze'], values.topology.split(',')]
  const rows: Record<string, string>[] = []
  let broken = 0
  for (const name of topologies) {
    const topology = await (name === 'cluster' ? startCluster : startSentinels)(values.server)
    const paper = await openPaper(topology.address, READERS)
    for (const fault of faults) {
      const round = await runFailover(paper, topology, fault, plan)
      const where = `${name}, master ${fault === 'kill' ? 'killed' : 'frozen'}`
      const found = brokenBy(round, plan.perSecond)
      broken += found.length
      console.log(`${where}: ${found.length === 0 ? 'as promised' : found.join('; ')}`)
      for (const evidence of round.figures.evidence) console.log(storyOf(evidence, round.faultAt))
      rows.push(lineOf(where, round))
    }
    await paper.close()
    await topology.stop()
  }
  console.log(`\n${table(rows)}\n\n${broken} promises broken`)
  return broken > 0 ? 1 : 0
}

/** What must be true of every run. */
function brokenBy({ figures, ...round }: Round, perSecond: number): string[] {
  const { pages, failed, wrongUser, undone, passwordAgain, slow, stranded } = figures
  const checks: readonly (readonly [holds: boolean, text: string])[] = [
    [pages > 0, 'no page was asked for'],
    [failed === 0, `${failed} pages failed`],
    [wrongUser === 0, `${wrongUser} answers showed somebody else`],
    [undone === 0, `${undone} logouts were undone`],
    [passwordAgain === 0, `${passwordAgain} readers would have to log in again`],
    [figures.logins > 0, 'nobody logged in'],
    [stranded === 0, `${stranded} browsers were left at the platform`],
    [round.oldCookiesStayOpen === 0, `${round.oldCookiesStayOpen} old cookies open a session after its check`],
    [slow === 0, `${slow} pages took more than 3 s`],
    [round.perSecond > 0.7 * perSecond, `only ${Math.round(round.perSecond)} actions a second`],
    [round.normalAfter - round.replacedAfter <= HEALED_MS, 'not as ever within 5 s of the new master'],
    [(round.normalAfterThaw ?? 0) <= HEALED_MS, "not as ever within 5 s of the old master's return"],
  ]
  return checks.filter(([holds]) => !holds).map(([, text]) => text)
}

const seconds = (ms: number | undefined) => (ms === undefined ? '' : `${number(ms / 1000, 1)} s`)

function lineOf(where: string, { figures, ...round }: Round): Record<string, string> {
  return {
    run: where,
    pages: number(figures.pages),
    failed: number(figures.failed),
    'wrong user': number(figures.wrongUser),
    'logout undone': `${figures.undone}, ${figures.undoneElsewhere} elsewhere`,
    logins: number(figures.logins),
    'of them lost': number(figures.lost),
    'password again': number(figures.passwordAgain),
    'old cookies that open, before and after the check': `${round.oldCookiesOpen}, ${round.oldCookiesStayOpen}`,
    'new master after': seconds(round.replacedAfter),
    'as ever after': seconds(round.normalAfter),
    'as ever after its return': seconds(round.normalAfterThaw),
    'slowest page': seconds(figures.slowestMs),
    'pages without a user': number(figures.degraded),
    '"not now"': number(figures.refused),
    'actions a second': number(round.perSecond),
  }
}

/** What led to something that must not be. @param zero when the fault was */
function storyOf({ of, story }: Evidence, zero: number): string {
  const lines = story.map(({ begin, end, device, what, status, who = 'nobody', degraded, logout, trips }) => {
    const seen = [who, degraded, logout, trips > 0 ? `${trips} trips` : undefined].filter(Boolean).join(', ')
    return `    ${seconds(begin - zero)} browser ${device}: ${what} ${status}, ${seen}, ${number(end - begin)} ms`
  })
  return `  reader ${story.at(-1)?.reader}, ${of}:\n${lines.join('\n')}`
}
