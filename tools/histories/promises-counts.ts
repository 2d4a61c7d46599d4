import type { Asked, Trouble } from './entries'
import { groupBy, type HistoryView, PROBED_MS, type Promised } from './view'

/* How often the platform is asked: promise I7. */

/** A machine that is busy for longer may make an answer too late, in milliseconds. */
const SERIOUS_MS = 300
/** A password that is sent to the site goes to the platform once at most. */
const oneAuthenticate: Promised = ({ history: { entries, calls } }) => {
  const submits = groupBy(
    entries.filter(({ what }) => what === 'login' || what === 'wrong'),
    ({ account }) => account,
  )
  return [...submits].flatMap(([account, { length }]) => {
    const sent = calls.filter(({ operation, username }) => operation === 'authenticate' && username === account)
    return sent.length > length ? [`${sent.length} Authenticates of ${account} for ${length} submits`] : []
  })
}

/** Calls are seen a moment late. */
const NEAR_MS = 100
/** A site gives up a call after 700 ms. A machine that was busy for longer works off what has waited. */
const HELD_BACK_MS = 2000

const READING: ReadonlySet<string> = new Set(['page', 'form', 'script', 'put', 'login', 'logout'])

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
  const busy = bad.filter(({ part }) => part === 'busy')
  // time that passes lets the check's lock run out, a busy machine has the call given up, and a Redis just back has the result lost
  const isCutShort = ({ seen }: Asked) =>
    view.isTroubled({ begin: seen - NEAR_MS, end: seen + NEAR_MS }, ['time']) ||
    view.isTroubled({ begin: seen, end: seen }, ['store'], PROBED_MS) ||
    busy.some(({ begin, end }) => begin < seen && end > seen - HELD_BACK_MS)
  return [...bySession.values()].flatMap((asked) =>
    asked.flatMap((call, index) => {
      const before = asked[index - 1]
      const isTooSoon =
        before && call.clock - before.clock < bounds.recheckSeconds - 1 && isCalm(before, call) && !isCutShort(before)
      return isTooSoon ? [`a reader's session was asked about again after ${call.clock - before.clock} s`] : []
    }),
  )
}

export const countPromises: Readonly<Record<string, Promised>> = {
  'I7 one Authenticate a submit': oneAuthenticate,
  'I7 one Session Status a check': oneCheck,
}
