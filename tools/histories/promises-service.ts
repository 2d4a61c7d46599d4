import type { Entry, What } from './entries'
import { type HistoryView, name, overlap, type Promised } from './view'

/* Whether pages are served, and how soon: promises I1, I2, I5, I8 and I9. */

const PAGES: ReadonlySet<What> = new Set(['page', 'script', 'put', 'old', 'bot'])
/** Answers that are no fault: of forms and guards, "not now" is one. */
const FAIR: ReadonlySet<number> = new Set([503])
/** Five trips through Identify of three redirects each, the login page, and the page. Browsers give up at twenty. */
const MOST_HOPS = 18
/** The longest that any page may take: one command to each side, one wait for somebody else's answer, and a busy machine, in milliseconds. */
const LONGEST_MS = 5000
/** Within so long after a fault all is as usual: one window of a breaker, and a busy machine, in milliseconds. Promise I9. */
const HEALED_MS = 6500
/** A platform that is away has been noticed after so long by each process, from its own first visitor on, in milliseconds. Matrix, row 1. */
const NOTICED_MS = 8000

const isPage = ({ what }: Entry) => PAGES.has(what)

const serves: Promised = (view) =>
  view.history.entries
    .filter(({ what, status, at }) => at === 'site' && status >= 500 && (PAGES.has(what) || !FAIR.has(status)))
    .map((entry) => `${name(entry)}`)

/** A connection to the site is cut by the end of a process alone. */
const answers: Promised = (view) =>
  view.history.entries
    .filter((entry) => entry.at === 'site' && entry.status === 0 && !view.isTroubled(entry, ['process']))
    .map((entry) => `${name(entry)} got no answer`)

/** While time passes the trips of before are forgotten on the way. */
const noLoop: Promised = (view) =>
  view.history.entries
    .filter((entry) => entry.status === -1 || entry.hops > (view.isTroubled(entry, ['time']) ? 2 : 1) * MOST_HOPS)
    .map((entry) => `${name(entry)} went round ${entry.hops} times`)

/** A browser ends at the platform where that, or a clock, is in trouble; and not for long. */
const spared: Promised = (view) =>
  view.history.entries.flatMap((entry) => {
    if (entry.at === 'site' || (entry.status > 0 && entry.status < 400)) return []
    const troubles = view.troublesIn(entry, ['platform', 'clock', 'time', 'process', 'busy'], 1000)
    if (troubles.length === 0) return [`${name(entry)} ended at the platform, and nothing was wrong`]
    const isKnown = view.troublesIn(entry, ['platform']).some(({ begin }) => entry.begin - begin > NOTICED_MS)
    const isOther = view.isTroubled(entry, ['process', 'clock', 'busy'], NOTICED_MS)
    return isKnown && !isOther ? [`${name(entry)} was sent to a platform that was known to be away`] : []
  })

const bounded: Promised = (view) =>
  view.history.entries
    .filter((entry) => isPage(entry) && entry.slowest > LONGEST_MS && !view.isTroubled(entry, ['process', 'busy']))
    .map((entry) => `${name(entry)} took ${Math.round(entry.slowest)} ms`)

const OUTAGES: ReadonlySet<string | undefined> = new Set(['sso_unavailable', 'store_unavailable'])

/** The loop guard holds for a minute, which passes as others do. */
const GUARDED: ReadonlySet<string | undefined> = new Set(['identify_loop', 'token_refused'])

/** A form that could not be shown because nobody can tell whose logout it was stands behind the same guard. */
function isGuarded(view: HistoryView, { agent, what, begin, clock, degraded }: Entry): boolean {
  if (what !== 'form') return GUARDED.has(degraded)
  const { all, pages } = view.of(agent)
  const isLogoutPending = pages.findLast(({ end }) => end < begin)?.degraded === 'logout_pending'
  const before = all.filter(({ end }) => end < begin)
  return GUARDED.has(degraded) || isLogoutPending || hasBeenAround(before, clock)
}

/** The loop guard in seconds: a page that was redirected twice within a minute is redirected again after a pause. */
const COUNTED_SECONDS = 60
const PAUSE_SECONDS = 5

/** Has the form gone through Identify twice of late, so that the loop guard makes it pause? */
function hasBeenAround(before: readonly Entry[], clock: number): boolean {
  const trips = before.filter(({ what, hops }) => what === 'form' && hops !== 1)
  const [one, two] = trips.slice(-2)
  if (!one || !two) return false
  return clock - two.clock <= PAUSE_SECONDS + 1 && two.clock - one.clock < COUNTED_SECONDS
}

/** The platform refuses the ticket of a session that was logged out under the login: "not now" is a fair answer. */
function isCutOff(view: HistoryView, entry: Entry): boolean {
  if (entry.what !== 'login') return false
  const isOfAll = ({ what, account }: Entry) => what === 'logoutAll' && account === entry.account
  const others = view.history.entries.filter(isOfAll)
  return [...view.of(entry.agent).logouts, ...others].some((logout) => overlap(logout, entry))
}

/** The first page after an outage checks the session. Pages beside that check show the user with the failure of the last one. */
const isBesideCheck = (view: HistoryView, entry: Entry) =>
  entry.degraded === 'sso_unavailable' &&
  entry.user !== undefined &&
  view.of(entry.agent).pages.some((other) => other.degraded === undefined && overlap(other, entry))

/** The faults of the minute before, and how long they have been over: some leave connections behind that pass nothing on. */
function before(view: HistoryView, entry: Entry): string {
  const faults = view.troublesIn(entry, undefined, 60_000).filter(({ part }) => part !== 'busy' && part !== 'time')
  const told = faults.map(({ name, end }) => `${name} (over for ${Math.round(entry.begin - end)} ms)`)
  return told.length > 0 ? `; before: ${told.join(', ')}` : ''
}

const heals: Promised = (view) =>
  view.history.entries
    .filter(({ degraded, status, at }) => at === 'site' && (OUTAGES.has(degraded) || status === 503))
    .filter((entry) => !view.isTroubled(entry, undefined, HEALED_MS) && !isGuarded(view, entry))
    .filter((entry) => !isCutOff(view, entry) && !isBesideCheck(view, entry))
    .map(
      (entry) =>
        `${name(entry)} is ${entry.degraded ?? 'refused'} after ${Math.round(entry.end - entry.begin)} ms, and nothing is wrong any more${before(view, entry)}`,
    )

const logoutsArrive: Promised = ({ history: { aftermath } }: HistoryView) =>
  aftermath.stillIn.map((account) => `${account} is still logged in at the platform`)

export const servicePromises: Readonly<Record<string, Promised>> = {
  'I1 serves': serves,
  'I1 answers': answers,
  'I1 no loop': noLoop,
  'I1 spared a dead platform': spared,
  'I2 bounded': bounded,
  'I5 logouts arrive': logoutsArrive,
  'I8 no spill': ({ history }) => history.spills,
  'I9 heals': heals,
  'I9 works in the end': ({ history }) => history.aftermath.broken,
  'no process ends or warns': ({ history }) => history.mishaps,
}
