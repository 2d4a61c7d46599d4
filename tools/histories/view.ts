import type { Ended, Entry, History, Part, Trouble, What } from './entries'

const PAGES: ReadonlySet<What> = new Set(['page', 'form', 'script', 'put', 'fresh'])
/** What can begin a login, or end one. */
const LOGINS: ReadonlySet<What> = new Set(['login', 'wrong'])
const LOGOUTS: ReadonlySet<What> = new Set(['logout', 'logoutAll'])

/** A process writes to Redis again after the next probe, one second later at most, in milliseconds. */
export const PROBED_MS = 1500

/** Answers that say for sure that nobody was logged in by them. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 409, 429])

/** Looks at one history and tells what it broke. */
export type Promised = (view: HistoryView) => readonly string[]

/** A stretch of time, in milliseconds. */
export interface Span {
  readonly begin: number
  readonly end: number
}

export const overlap = (a: Span, b: Span) => a.begin < b.end && b.begin < a.end

type OfAgent = ReturnType<typeof arrange>

/** A history, arranged so that questions about it are cheap. */
export class HistoryView {
  readonly agents: ReadonlyMap<number, OfAgent>
  readonly #troubles: ReadonlyMap<Part, readonly Trouble[]>

  constructor(readonly history: History) {
    const entries = [...history.entries].sort((a, b) => a.begin - b.begin)
    const grouped = groupBy(entries, ({ agent }) => agent)
    this.agents = new Map([...grouped].map(([agent, all]) => [agent, arrange(all)]))
    this.#troubles = groupBy(history.troubles, ({ part }) => part)
  }

  of(agent: number): OfAgent {
    return this.agents.get(agent) ?? arrange([])
  }

  /** Troubles that overlap a stretch, or ended at most so many milliseconds before it. @param parts of these; default: any */
  troublesIn({ begin, end }: Span, parts?: readonly Part[], before = 0): Trouble[] {
    const chosen = parts ?? [...this.#troubles.keys()]
    const span = { begin: begin - before, end }
    return chosen.flatMap((part) => (this.#troubles.get(part) ?? []).filter((trouble) => overlap(trouble, span)))
  }
  isTroubled(span: Span, parts?: readonly Part[], before = 0): boolean {
    return this.troublesIn(span, parts, before).length > 0
  }

  /** Sessions of an account that ended elsewhere. */
  endsOf(account: string): readonly Ended[] {
    return this.history.ends.filter((ended) => ended.account === undefined || ended.account === account)
  }
}

export function groupBy<K, T>(list: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const one of list) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}

/** Everything of one browser, in the order in which it began. */
function arrange(all: readonly Entry[]) {
  // of the site's own, with what they say of their reader
  const pages = all.filter(({ what, view }) => PAGES.has(what) && view !== undefined)
  const logins = all.filter(({ what }) => what === 'login')
  const logouts = all.filter(({ what }) => LOGOUTS.has(what))
  // may change who is logged in
  const changes = all.filter(({ what }) => LOGINS.has(what) || LOGOUTS.has(what))
  return { all, pages, logins, logouts, changes }
}

/** May this submit have logged its account in, at once or later? A session that ended under it may have done so after the Authenticate. */
export const mayHaveLoggedIn = ({ status, error }: Entry) => !REFUSALS.has(status) || error === 'session_ended'

/** Logouts that the site has acknowledged. */
export const isDone = ({ status }: Entry) => status === 200 || status === 303

/** The place of an entry, for people. */
export function name({ agent, what, begin, end, status }: Entry): string {
  return `browser ${agent}, ${what} ${Math.round(begin)}-${Math.round(end)} (${status})`
}
