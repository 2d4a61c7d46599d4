import type { Asked, Entry, Trouble } from './entries'
import { groupBy, type HistoryView, type Promised, type Span } from './view'

/* How often the platform is asked: promise I7. */

/** Submits of one browser with the same credentials that were under way at the same time are one form, sent twice. */
function forms(submits: readonly Entry[], isExcused: (span: Span) => boolean): number {
  let count = 0
  let last: { key: string; end: number } | undefined
  for (const submit of [...submits].sort((a, b) => a.agent - b.agent || a.begin - b.begin)) {
    const key = `${submit.agent} ${submit.what}`
    const isSame = last?.key === key && last.end > submit.begin && !isExcused(submit)
    if (!isSame) count += 1
    last = { key, end: isSame && last ? Math.max(last.end, submit.end) : submit.end }
  }
  return count
}

/** Whoever takes over from a process or a store that is gone may have to send the form after all. */
const oneAuthenticate: Promised = (view) => {
  const { entries, calls } = view.history
  const submits = groupBy(
    entries.filter(({ what }) => what === 'login' || what === 'wrong'),
    ({ account }) => account,
  )
  const isExcused = (span: Span) => view.isTroubled(span, ['store', 'loss', 'process', 'clock'], 500)
  return [...submits].flatMap(([account, list]) => {
    const sent = calls.filter(({ operation, username }) => operation === 'authenticate' && username === account)
    const most = forms(list, isExcused)
    return sent.length > most ? [`${sent.length} Authenticates for ${most} forms of ${account}`] : []
  })
}

/** A machine that is busy for longer may make an answer too late, in milliseconds. */
const SERIOUS_MS = 300
/** Calls are seen a moment late. */
const NEAR_MS = 100

const READING: ReadonlySet<string> = new Set(['page', 'form', 'script', 'put', 'login', 'logout', 'bot'])

/** Sessions of readers who asked for nothing but pages. */
function sessionsOfReaders({ history: { entries, calls } }: HistoryView): Set<string> {
  const others = new Set(entries.flatMap(({ what, agent }) => (READING.has(what) ? [] : [agent])))
  const theirs = (isTheirs: (agent: number) => boolean) =>
    new Set(entries.flatMap(({ account, agent }) => (account !== undefined && isTheirs(agent) ? [account] : [])))
  const [quiet, loud] = [theirs((agent) => !others.has(agent)), theirs((agent) => others.has(agent))]
  const isReader = ({ operation, username = '' }: Asked) =>
    operation === 'authenticate' && quiet.has(username) && !loud.has(username)
  return new Set(calls.filter(isReader).flatMap(({ sid }) => sid ?? []))
}

const isAnswered = ({ operation, lks, outcome, isSpoilt }: Asked) =>
  operation === 'sessionstatus' && lks === 'loggedin' && outcome === 'loggedin' && !isSpoilt

/** A reader is asked about once in `recheckSeconds`, whatever the number of pages and processes. */
const oneCheck: Promised = (view) => {
  const { calls, bounds, troubles } = view.history
  const sids = sessionsOfReaders(view)
  const bySession = groupBy(
    calls.filter((call) => isAnswered(call) && sids.has(call.sid ?? '')),
    ({ sid }) => sid,
  )
  const isBad = ({ part, begin, end }: Trouble) => part !== 'time' && (part !== 'busy' || end - begin > SERIOUS_MS)
  const bad = troubles.filter(isBad)
  const isCalm = (from: Asked, to: Asked) =>
    !bad.some(({ begin, end }) => begin < to.seen + NEAR_MS && end > from.seen - NEAR_MS)
  return [...bySession.values()].flatMap((asked) =>
    asked.flatMap((call, index) => {
      const before = asked[index - 1]
      const isTooSoon = before && call.clock - before.clock < bounds.recheckSeconds - 1 && isCalm(before, call)
      return isTooSoon ? [`a reader's session was asked about again after ${call.clock - before.clock} s`] : []
    }),
  )
}

export const countPromises: Readonly<Record<string, Promised>> = {
  'I7 one Authenticate a form': oneAuthenticate,
  'I7 one Session Status a check': oneCheck,
}
