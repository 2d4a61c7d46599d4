import type { Entry } from './entries'
import { type HistoryView, isDone, name, overlap, PROBED_MS, type Promised } from './view'

/* What stands in `req.session`, for whom, and how long: promises I3, I5 and I6. */

/** An item as it was put: who put it, which one it was, and for whom the page was. */
interface Item {
  readonly agent: number
  readonly item: string
  readonly user: string | undefined
}

function readItem(text: string): Item {
  const [item = '', user = ''] = text.split('@')
  return { agent: Number(item.split('.')[0]), item, user: user || undefined }
}

/** Pages that found something. */
function* found(view: HistoryView): Generator<{ page: Entry; item: Item }> {
  for (const { pages } of view.agents.values())
    for (const page of pages) for (const text of page.items ?? []) yield { page, item: readItem(text) }
}

/** An anonymous reader's data go along into a login; a login's go nowhere. */
function isStrange({ agent, user, degraded, view }: Entry, item: Item): boolean {
  if (item.agent !== agent) return true
  if (item.user === undefined || item.user === user) return false
  return user !== undefined || (degraded === undefined && view !== 'loggedin')
}

const rightData: Promised = (view) =>
  [...found(view)]
    .filter(({ page, item }) => isStrange(page, item))
    .map(
      ({ page, item }) => `${name(page)} for ${page.user ?? 'nobody'} finds ${item.item} of ${item.user ?? 'nobody'}`,
    )

const puts = (view: HistoryView, agent: number) => view.of(agent).all.filter(({ what }) => what === 'put')

/** Ends of sessions that Redis did not hear of at the logout follow so long after it, in milliseconds. */
const DEFERRED_MS = 5000

/** May the data of before a logout be there yet? Redis, or the machine, was in trouble at the logout. */
const isDeferred = (view: HistoryView, logout: Entry, page: Entry) =>
  logout.logout === 'pending' && view.isTroubled(logout, ['store', 'busy']) && page.begin < logout.end + DEFERRED_MS

const logoutDropsData: Promised = (view) =>
  [...found(view)].flatMap(({ page, item }) => {
    const put = puts(view, page.agent).find((entry) => entry.item === item.item)
    const isBetween = (logout: Entry) => put && put.end < logout.begin && logout.end < page.begin
    const isOver = (entry: Entry) => isDone(entry) && isBetween(entry) && !isDeferred(view, entry, page)
    const logout = view.of(page.agent).logouts.find(isOver)
    return logout ? [`${name(page)} finds ${item.item}, which was put there before ${name(logout)}`] : []
  })

/** What has been put there is there until something ends the session. */
const dataKept: Promised = (view) =>
  [...view.agents.values()].flatMap(({ pages, changes }) =>
    pages.flatMap((page) => {
      const put = pages.findLast(
        ({ what, item, status, end }) => what === 'put' && item && status === 200 && end < page.begin,
      )
      if (!put || page.items?.some((text) => readItem(text).item === put.item)) return []
      const isAlike = page.what !== 'fresh' && page.degraded === undefined && page.user === put.user && hasItems(page)
      const span = { begin: put.begin, end: page.end }
      const isChanged =
        changes.some((change) => overlap(change, span)) ||
        mayBeLost(view, span, put.user) ||
        isLate(view, put) ||
        isBetweenSessions(view, put) ||
        isMoving(view, page)
      return !isAlike || isChanged || put.degraded !== undefined
        ? []
        : [`${name(page)} does not find what ${name(put)} put there`]
    }),
  )

/** The old cookie opens a page without a session, after a landing of another tab has moved the session. The next page has the new cookie. */
const isMoving = (view: HistoryView, page: Entry) =>
  page.view === 'none' &&
  view.of(page.agent).pages.some((other) => other !== page && other.hops > 1 && overlap(other, page))

/** Lean pages do not look. */
const hasItems = ({ items, isLean }: Entry) => items !== undefined || !isLean

/** A store in trouble may not have taken it; a session that ended elsewhere, or was lost, has taken it along. */
function mayBeLost(view: HistoryView, span: { begin: number; end: number }, user: string | undefined): boolean {
  const isEnded = view.history.ends.some(
    (ended) => (user === undefined || ended.account === undefined || ended.account === user) && ended.begin < span.end,
  )
  return isEnded || view.isTroubled(span, ['store', 'loss', 'process', 'busy'], PROBED_MS)
}

/** A session that has moved keeps nothing for whoever still comes with its cookie, for so many milliseconds. */
const MOVED_MS = 5000

/** Did Redis fail in the middle of a login just before, when the session had moved and the browser had no cookie of the new one? */
const isBetweenSessions = (view: HistoryView, put: Entry) =>
  view
    .of(put.agent)
    .logins.some(
      (login) =>
        login.status === 503 &&
        login.end < put.begin &&
        put.begin < login.end + MOVED_MS &&
        view.isTroubled(login, ['store', 'busy']),
    )

/** A session that has ended a moment ago keeps nothing for whoever still comes with its cookie, in seconds. */
const LATE_SECONDS = 60

/** Was the reader logged out everywhere by another browser just before? */
function isLate(view: HistoryView, put: Entry): boolean {
  const isLogin = ({ what, status, user }: Entry) => user !== undefined || (what === 'login' && status === 200)
  const last = view.of(put.agent).all.findLast((entry) => entry.end < put.begin && isLogin(entry))
  return [...view.agents.values()].some(({ logouts }) =>
    logouts.some(
      ({ account, clock, begin, end }) =>
        account !== undefined &&
        (account === last?.user || account === last?.account) &&
        end > last.begin &&
        begin < put.end &&
        put.clock - clock < LATE_SECONDS,
    ),
  )
}

export const dataPromises: Readonly<Record<string, Promised>> = {
  'I3 right data': rightData,
  'I5 logout drops the data': logoutDropsData,
  'I6 data kept': dataKept,
}
