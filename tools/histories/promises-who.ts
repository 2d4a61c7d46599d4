import type { Asked, Ended, Entry } from './entries'
import { type HistoryView, isDone, mayHaveLoggedIn, name, overlap, type Promised } from './view'

/* Who is shown, and for how long: promises I3 to I6. */

/** Clocks and schedulers are not exact, in seconds. */
const SLACK_SECONDS = 5

/** Pages that show somebody, each with its reader. */
function* shown(view: HistoryView): Generator<{ page: Entry; user: string }> {
  for (const { pages } of view.agents.values())
    for (const page of pages) if (page.user !== undefined) yield { page, user: page.user }
}

/** Submits by which this browser may be logged in under this name on a page. */
const loginsBefore = (view: HistoryView, { agent, end }: Entry, user: string) =>
  view.of(agent).logins.filter((login) => login.account === user && login.begin < end && mayHaveLoggedIn(login))

const rightPerson: Promised = (view) =>
  [...shown(view)]
    .filter(({ page, user }) => loginsBefore(view, page, user).length === 0)
    .map(({ page, user }) => `${name(page)} shows ${user}, who has not logged in there`)

const wrongPassword: Promised = (view) =>
  view.history.entries
    .filter((entry) => entry.what === 'wrong' && entry.status === 200 && !isAnswerOfAnother(view, entry))
    .map((entry) => `${name(entry)} was let in`)

/** The answer of an earlier login was lost: then Session Status says what is true of the session, whatever the password is. */
const isAnswerOfAnother = (view: HistoryView, wrong: Entry) =>
  view.of(wrong.agent).logins.some((login) => login.end < wrong.begin && !isDone(login) && mayHaveLoggedIn(login))

/** Pages that show somebody after a logout, and no login since. @param logoutBefore the last logout that counts for a page */
const shownAfter = (view: HistoryView, logoutBefore: (page: Entry, user: string) => Entry | undefined) =>
  [...shown(view)].flatMap(({ page, user }) => {
    const last = logoutBefore(page, user)
    const isNew = loginsBefore(view, page, user).some(({ end }) => last && end > last.begin)
    return last === undefined || isNew ? [] : [`${name(page)} shows ${user} after ${name(last)}`]
  })

const logoutIsFinal: Promised = (view) =>
  shownAfter(view, ({ agent, begin }) => view.of(agent).logouts.findLast((one) => isDone(one) && one.end < begin))

/** Whoever came with a cookie of before a logout: what the store could not be told then is done when the browser is back. */
const oldCookieIsDead: Promised = (view) =>
  [...view.agents.values()].flatMap(({ all, logouts }) =>
    all.flatMap((entry) => {
      const { what, user, heldAt = 0 } = entry
      if (what !== 'old' || user === undefined) return []
      const told = logouts.filter((logout) => isDone(logout) && logout.logout === 'confirmed')
      const since = told.find((logout) => logout.begin > heldAt && logout.end < entry.begin)
      return since ? [`${name(entry)} with a cookie of before ${name(since)} is shown ${user}`] : []
    }),
  )

/** Of whom "log out everywhere" was said, and the platform had heard it. */
function isOfAll({ history: { calls } }: HistoryView, { account, clock, begin, end }: Entry): boolean {
  const until = clock + (end - begin) / 1000 + 1
  const isIt = (aid: string | undefined) => aid === `account-${account}`
  return calls.some(
    (call) =>
      call.operation === 'logoutall' && isIt(call.aid) && call.clock >= Math.floor(clock) && call.clock <= until,
  )
}

const logoutAllIsForAll: Promised = (view) => {
  const all = view.history.entries.filter(
    (entry) =>
      entry.what === 'logoutAll' &&
      entry.account !== undefined &&
      entry.logout === 'confirmed' &&
      !view.isTroubled(entry, ['store', 'loss', 'process', 'clock'], 1000) &&
      isOfAll(view, entry),
  )
  return shownAfter(view, (page, user) => all.findLast(({ account, end }) => account === user && end < page.begin))
}

/** The last time that a reader's sessions ended elsewhere after the reader's last login. */
function endedBefore(view: HistoryView, page: Entry, user: string): Ended | undefined {
  const since = Math.max(...loginsBefore(view, page, user).map(({ end }) => end))
  return view.endsOf(user).find(({ begin, end }) => begin > since && end < page.begin)
}

/**
 * The clock from which a browser's six minutes count after an end. A request that was under way has heard of the session before the end,
 * and dates what it heard when it is done. Time may pass at once in between.
 */
function countsFrom(view: HistoryView, agent: number, ended: Ended): number {
  const underWay = view.of(agent).all.filter((entry) => entry.begin < ended.end && entry.end > ended.begin)
  const done = Math.max(ended.end, ...underWay.map(({ end }) => end))
  const passed = view.troublesIn({ begin: ended.begin, end: done }, ['time'])
  return passed.reduce((clock, { clockBegin, clockEnd }) => clock + clockEnd - clockBegin, ended.clock)
}

const endIsNoticed: Promised = (view) => {
  const { recheckSeconds, graceSeconds } = view.history.bounds
  return [...shown(view)].flatMap(({ page, user }) => {
    const ended = endedBefore(view, page, user)
    const late = ended && page.clock - countsFrom(view, page.agent, ended) - recheckSeconds - graceSeconds
    return late !== undefined && late > SLACK_SECONDS
      ? [`${name(page)} shows ${user}, ${Math.round(late)} s too long after the session ended`]
      : []
  })
}

const freshIsFresh: Promised = (view) =>
  [...shown(view)]
    .filter(({ page, user }) => page.what === 'fresh' && endedBefore(view, page, user) !== undefined)
    .map(({ page, user }) => `${name(page)} shows ${user}, whose session has ended`)

/** A reader whom nothing has logged out is not logged out: not by an outage either. */
const loginIsKept: Promised = (view) =>
  [...view.agents.values()].flatMap(({ pages, changes }) =>
    pages.flatMap((page) => {
      if (page.user !== undefined || page.degraded !== undefined) return []
      const before = pages.findLast(({ end }) => end < page.begin)
      if (before?.user === undefined) return []
      const span = { begin: before.begin, end: page.end }
      const isChanged = changes.some((change) => overlap(change, span)) || view.isTroubled(span, ['loss'])
      if (isChanged || mayHaveEnded(view, page, before.user)) return []
      return [`${name(page)} shows nobody, and ${name(before)} showed ${before.user}`]
    }),
  )

/** Whether anything since the reader's last sure login may have ended it: here, elsewhere, or in another browser. */
function mayHaveEnded(view: HistoryView, page: Entry, user: string): boolean {
  const sure = loginsBefore(view, page, user).filter(({ status }) => status === 200 || status === 303)
  const since = Math.max(...sure.map(({ begin }) => begin))
  const isAll = ({ what, account, end }: Entry) => what === 'logoutAll' && account === user && end > since
  // one that was pending is told again until the platform has heard it
  const isTold = ({ operation, aid, seen }: Asked) =>
    operation === 'logoutall' && aid === `account-${user}` && seen > since
  const { entries, calls } = view.history
  return view.endsOf(user).some(({ end }) => end > since) || entries.some(isAll) || calls.some(isTold)
}

export const whoPromises: Readonly<Record<string, Promised>> = {
  'I3 right person': rightPerson,
  'I3 wrong password': wrongPassword,
  'I4 an end is noticed': endIsNoticed,
  'I4 fresh is fresh': freshIsFresh,
  'I5 logout is final': logoutIsFinal,
  'I5 an old cookie is dead': oldCookieIsDead,
  'I5 log out everywhere': logoutAllIsForAll,
  'I6 login kept': loginIsKept,
}
