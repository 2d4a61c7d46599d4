import type { Entry, What } from './entries'
import { type HistoryView, name, type Promised } from './view'

/* Whether pages are served, and how soon: promises I1, I2, I5 and I9. */

const PAGES: ReadonlySet<What> = new Set(['page', 'script', 'put', 'old'])
/** Answers that are no fault: of forms and guards, "not now" is one. */
const FAIR: ReadonlySet<number> = new Set([503])
/** Five trips through Identify of three redirects each, the login page, and the page. Browsers give up at twenty. */
const MOST_HOPS = 18
/** The longest that any page may take: one command to each side, one wait for somebody else's answer, and a busy machine, in milliseconds. */
const LONGEST_MS = 5000
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

const bounded: Promised = (view) =>
  view.history.entries
    .filter((entry) => isPage(entry) && entry.slowest > LONGEST_MS && !view.isTroubled(entry, ['process', 'busy']))
    .map((entry) => `${name(entry)} took ${Math.round(entry.slowest)} ms`)

const logoutsArrive: Promised = ({ history: { aftermath } }: HistoryView) =>
  aftermath.stillIn.map((account) => `${account} is still logged in at the platform`)

export const servicePromises: Readonly<Record<string, Promised>> = {
  'I1 serves': serves,
  'I1 answers': answers,
  'I1 no loop': noLoop,
  'I2 bounded': bounded,
  'I5 logouts arrive': logoutsArrive,
  'I9 works in the end': ({ history }) => history.aftermath.broken,
  'no process ends or warns': ({ history }) => history.mishaps,
}
