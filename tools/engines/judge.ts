/*
 * What a run's entries come to. Judged by what browsers were shown and when, not by what is stored.
 */

/** What one request of one browser came to. Times in milliseconds of this machine. */
export interface Entry {
  /** Number of the reader; undefined: a new visitor, whom nobody knows. */
  readonly reader?: number
  /** Which of the reader's browsers. */
  readonly device: number
  /** `page`: a document with all its redirects; `sensitive` and `form`: those that may say 503 where nobody can be asked. */
  readonly what: 'page' | 'script' | 'sensitive' | 'form' | 'login' | 'logout' | 'logout_all'
  readonly begin: number
  readonly end: number
  /** HTTP status; 0 where there was no answer. */
  readonly status: number
  /** The browser ended at the platform, and not at the page that it was to come to. */
  readonly isStranded?: boolean
  readonly degraded?: string | undefined
  /** Whose name the page had. */
  readonly who?: string | undefined
  /** Whose session data. */
  readonly basketOf?: string | undefined
  /** Redirects through Identify on the way. */
  readonly trips: number
  /** What a logout came to, in the site's own word. */
  readonly logout?: string | undefined
}

/** The figures of a time. */
export interface Figures {
  readonly pages: number
  /** Pages with 5xx, or without an answer. */
  readonly failed: number
  /** Browsers that were left at the platform. */
  readonly stranded: number
  readonly slow: number
  readonly slowestMs: number
  /** Pages without a user, or less sure of him, as `req.sso2.degraded` said. */
  readonly degraded: number
  /** Somebody else's name, or data. */
  readonly wrongUser: number
  /** The browser that logged out was shown as logged in afterwards. */
  readonly undone: number
  /** Another browser of the account was, after a logout of all. */
  readonly undoneElsewhere: number
  readonly logins: number
  /** Logins, forms and sensitive pages that were answered with "not now". */
  readonly refused: number
  /** Logins that the site had acknowledged, and whose session was not there any more. */
  readonly lost: number
  /** Of them, those that no trip brought back: the reader would have to type the password again. */
  readonly passwordAgain: number
  /** What was seen of undone logouts and lost logins. */
  readonly evidence: readonly Evidence[]
}

/** One thing that was seen: the entry, and those of its reader before it. */
export interface Evidence {
  readonly of: 'undone' | 'undone_elsewhere' | 'lost' | 'password_again'
  readonly story: readonly Entry[]
}

/** A page must not take longer. */
const SLOW_MS = 3000
const STORY = 8

const isPage = ({ what }: Entry) => what === 'page' || what === 'script'
const isFailed = (entry: Entry) => isPage(entry) && (entry.status === 0 || entry.status >= 500)
const isSlow = (entry: Entry) => isPage(entry) && entry.end - entry.begin > SLOW_MS
const isDone = ({ status }: Entry) => status === 200
const isRefused = (entry: Entry) =>
  !isPage(entry) && (entry.status === 0 || entry.status === 409 || entry.status >= 500)
/** A logout that nobody could confirm is as ever: the reader is nobody until he wants to log in. */
const isDegraded = ({ degraded }: Entry) => degraded !== undefined && degraded !== 'logout_pending'
const isAbnormal = (entry: Entry) => isFailed(entry) || isSlow(entry) || isRefused(entry) || isDegraded(entry)

/** Everything that was seen. @param nameOf a reader */
export function judge(entries: readonly Entry[], nameOf: (reader: number) => string): Figures {
  const pages = entries.filter(isPage)
  const count = (holds: (entry: Entry) => boolean) => entries.filter(holds).length
  const isWrong = ({ reader, who, basketOf }: Entry) => {
    const own = reader === undefined ? undefined : nameOf(reader)
    return [who, basketOf].some((name) => name !== undefined && name !== own)
  }
  const evidence = evidenceOf(entries)
  const seen = (what: Evidence['of']) => evidence.filter((one) => one.of === what).length
  return {
    pages: pages.length,
    failed: count(isFailed),
    stranded: count(({ isStranded }) => isStranded === true),
    slow: count(isSlow),
    slowestMs: Math.max(0, ...pages.map(({ begin, end }) => end - begin)),
    degraded: count((entry) => isPage(entry) && isDegraded(entry)),
    wrongUser: count(isWrong),
    undone: seen('undone'),
    undoneElsewhere: seen('undone_elsewhere'),
    logins: count((entry) => entry.what === 'login' && isDone(entry)),
    refused: count(isRefused),
    lost: seen('lost') + seen('password_again'),
    passwordAgain: seen('password_again'),
    evidence,
  }
}

/** When the last entry ended, of those that ended within a time, that was not as ever; its begin where all was. */
export function lastAbnormal(entries: readonly Entry[], from: number, to: number): number {
  const ends = entries.filter(isAbnormal).map(({ end }) => end)
  return Math.max(from, ...ends.filter((end) => end < to))
}

function evidenceOf(entries: readonly Entry[]): Evidence[] {
  const readers = new Set(entries.map(({ reader }) => reader).filter((reader) => reader !== undefined))
  return [...readers].flatMap((reader) => follow(entries.filter((entry) => entry.reader === reader)))
}

/** What a browser's last word from the site was. `unknown`: whatever comes is right, as long as it is the reader's own. */
type Belief = 'unknown' | 'in' | 'out' | 'out_elsewhere'

/** One reader does one thing at a time, so the entries of all his browsers stand one after another. */
function follow(entries: readonly Entry[]): Evidence[] {
  const beliefs = new Map<number, Belief>()
  const found: Evidence[] = []
  let isAllPending = false
  const sorted = [...entries].sort((a, b) => a.begin - b.begin)
  for (const [index, entry] of sorted.entries()) {
    const { what, device } = entry
    if (what === 'login') beliefs.set(device, isDone(entry) ? 'in' : 'unknown')
    else if (what === 'logout') beliefs.set(device, isDone(entry) ? 'out' : 'unknown')
    else if (what === 'logout_all') {
      // it is made good later, and ends what has begun meanwhile
      isAllPending ||= entry.logout !== 'confirmed'
      // whoever is nobody himself logs nobody else out
      const isSure = beliefs.get(device) === 'in' && !isAllPending
      for (const other of [...beliefs.keys(), device]) beliefs.set(other, afterLogoutAll(entry, other, isSure))
    } else {
      const { of, belief } = see(beliefs.get(device) ?? 'unknown', entry)
      const isExplained = isAllPending && (of === 'lost' || of === 'password_again')
      if (of && !isExplained) found.push({ of, story: sorted.slice(Math.max(0, index - STORY), index + 1) })
      beliefs.set(device, belief)
    }
  }
  return found
}

function afterLogoutAll(entry: Entry, device: number, isSure: boolean): Belief {
  if (device === entry.device && isDone(entry)) return 'out'
  return isSure ? 'out_elsewhere' : 'unknown'
}

/** What a page tells of the session. */
function see(before: Belief, entry: Entry): { readonly of?: Evidence['of']; readonly belief: Belief } {
  const { what, status, who, degraded, trips, isStranded } = entry
  if (who !== undefined && before === 'out') return { of: 'undone', belief: 'unknown' }
  if (who !== undefined && before === 'out_elsewhere') return { of: 'undone_elsewhere', belief: 'unknown' }
  const isClear = what === 'page' && status === 200 && degraded === undefined && isStranded !== true
  if (before !== 'in' || !isClear || (who !== undefined && trips === 0)) return { belief: before }
  // a trip must have brought the login back
  return who === undefined ? { of: 'password_again', belief: 'unknown' } : { of: 'lost', belief: 'in' }
}
