import type { Asked, Entry, Trouble } from './entries'
import { groupBy, type HistoryView, PROBED_MS, type Promised, type Span } from './view'

/* How often the platform is asked: promise I7. */

/** A machine that is busy for longer may make an answer too late, in milliseconds. */
const SERIOUS_MS = 300
/** Where nothing is wrong an Authenticate is seen at most so long after its form was answered, in milliseconds. */
const SEEN_MS = 1000

/** A form, and what has been sent of it. Times in milliseconds. */
interface Form {
  readonly begin: number
  /** Its Authenticate has been seen by then. */
  until: number
  /** The answers to its submits; more than one where it was sent again before the first. */
  readonly answers: Entry[]
  readonly sent: Asked[]
}

/** Submits of one browser with the same credentials at the same time are one form, sent twice; after a logout between them, two. */
function formsOf(submits: readonly Entry[], view: HistoryView): Form[] {
  const forms: Form[] = []
  const logouts = view.history.entries.filter(({ what }) => what === 'logout' || what === 'logoutAll')
  const hasLoggedOut = ({ agent, begin }: Entry, since: number) =>
    logouts.some((logout) => logout.agent === agent && logout.begin > since && logout.end <= begin)
  let last: { readonly key: string; readonly form: Form; readonly begin: number } | undefined
  for (const submit of [...submits].sort((a, b) => a.agent - b.agent || a.begin - b.begin)) {
    const key = `${submit.agent} ${submit.what}`
    const isUnderWay =
      last?.key === key && last.form.answers.some(({ end }) => end > submit.begin) && !hasLoggedOut(submit, last.begin)
    const isSame = isUnderWay && !isExcused(submit, view)
    const form = isSame && last ? last.form : { begin: submit.begin, until: 0, answers: [], sent: [] }
    if (!isSame) forms.push(form)
    form.answers.push(submit)
    form.until = Math.max(form.until, submit.end + SEEN_MS, ...endsOf(submit, view))
    last = { key, form, begin: submit.begin }
  }
  for (const { answers } of forms) answers.sort((a, b) => a.end - b.end)
  return forms
}

/**
 * May this form have sent one more? Only after an answer that left the session as it was, because nobody was logged in, or somebody already
 * was, or the user is not known yet: then the second submit comes for the site after the first.
 */
function mayHaveSent(
  { begin, until, answers, sent }: Form,
  { seen }: Asked,
  isFirst: (call: Asked) => boolean,
): boolean {
  if (seen < begin || seen > until) return false
  const before = sent.at(-1)
  if (!before) return true
  const answer = answers[sent.length - 1]
  if (!answer || seen <= answer.end) return false
  const isIn = before.outcome === 'loggedin' && !before.isSpoilt && answer.status !== 503
  return !isIn || !isFirst(before)
}

/** Whoever takes over from a process or a store that is gone, or late on a busy machine, may have to send the form after all. */
const isExcused = (span: Span, view: HistoryView) =>
  view.isTroubled(span, ['store', 'loss', 'process', 'clock'], 500) ||
  view.troublesIn(span, ['busy'], 500).some(({ begin, end }) => end - begin > SERIOUS_MS)

/** What a platform has not read yet it reads when it is well again. */
const endsOf = (span: Span, view: HistoryView) =>
  view.troublesIn(span, ['platform', 'process', 'busy']).map(({ end }) => end + SEEN_MS)

/** Gives each Authenticate a form that it may be of, the one whose time is over first. @returns how many there are too many */
function withoutForm(authenticates: readonly Asked[], forms: readonly Form[]): number {
  const soonest = [...forms].sort((a, b) => a.until - b.until)
  const isFirst = (call: Asked) =>
    !authenticates.some(({ sid, outcome, seen }) => sid === call.sid && outcome === 'loggedin' && seen < call.seen)
  let tooMany = 0
  for (const one of [...authenticates].sort((a, b) => a.seen - b.seen)) {
    const form = soonest.find((candidate) => mayHaveSent(candidate, one, isFirst))
    if (form) form.sent.push(one)
    else tooMany += 1
  }
  return tooMany
}

const oneAuthenticate: Promised = (view) => {
  const { entries, calls } = view.history
  const submits = groupBy(
    entries.filter(({ what }) => what === 'login' || what === 'wrong'),
    ({ account }) => account,
  )
  return [...submits].flatMap(([account, list]) => {
    const sent = calls.filter(({ operation, username }) => operation === 'authenticate' && username === account)
    const tooMany = withoutForm(sent, formsOf(list, view))
    return tooMany > 0 ? [`${tooMany} Authenticates of ${account} that belong to no form of their own`] : []
  })
}

/** Calls are seen a moment late. */
const NEAR_MS = 100
/** A site gives up a call after 700 ms. A machine that was busy for longer works off what has waited. */
const HELD_BACK_MS = 2000

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
  'I7 one Authenticate a form': oneAuthenticate,
  'I7 one Session Status a check': oneCheck,
}
