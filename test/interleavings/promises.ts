import type { Aftermath, History } from './execution'
import type { PlatformCall } from './platform-gate'
import { doings, type Scenario } from './scenario'
import type { Seen } from './world'

/* The promises that an execution is judged by. Each looks at one history and tells what it broke. */

/** A promise that was broken, and how. */
export interface Broken {
  readonly promise: string
  readonly text: string
}

type Promised = (history: History) => (string | undefined)[]

export function judge(history: History): Broken[] {
  return Object.entries(promises).flatMap(([promise, find]) =>
    [...new Set(find(history))].flatMap((text) => (text === undefined ? [] : [{ promise, text }])),
  )
}

const userOf = ({ view }: Seen) => view?.user
const isForm = (seen: Seen, path: string) => seen.method === 'POST' && seen.path === path
const isDone = ({ status }: Seen) => status < 400

/** What must not end a login, nor empty a basket. */
const ENDERS = new Set(['logout', 'logoutAll', 'expiry', 'terminate', 'loginGrace'])
const has = (scenario: Scenario, names: ReadonlySet<string>) => doings(scenario).some((name) => names.has(name))
const endsNothing = ({ scenario, hasFault }: History) =>
  !hasFault && !has(scenario, ENDERS) && !/[eE]nded$/.test(scenario.state)

/** Logouts that count for a browser: its own, and those of all sessions. A browser whose session has run out logs out of none. */
function logoutsOf({ world, scenario }: History, browser: string): Seen[] {
  const isIts = (seen: Seen) => (seen.browser === browser && isForm(seen, '/logout')) || isForm(seen, '/logout-all')
  const hasSession = ({ session, logout }: Seen) =>
    session !== undefined && !(logout === 'no_session' && doings(scenario).includes('expiry'))
  return world.seen.filter((seen) => isDone(seen) && hasSession(seen) && isIts(seen))
}

/** Calls by which the platform took a password of this form's actor. */
const takenFor = ({ world }: History, form: Seen) =>
  world.calls.filter(
    ({ operation, sts, actor }) => operation === 'authenticate' && sts === 'loggedin' && actor === form.actor,
  )

/** Did the platform take this form's password after it had ended all sessions of the account? Then it is a new login. */
function isTakenAfter(history: History, form: Seen, logout: Seen): boolean {
  const all = history.world.calls.find(
    ({ operation, asked }) => operation === 'logoutall' && asked > logout.left && asked < logout.arrived,
  )
  return isForm(form, '/login') && all !== undefined && takenFor(history, form).some(({ asked }) => asked > all.asked)
}

/** Was this form sent during the logout, and its password taken in an SSO session that is not logged out since? Then it is a new login. */
function isTakenElsewhere(history: History, form: Seen, logout: Seen): boolean {
  if (!isForm(form, '/login') || logout.path !== '/logout' || form.left < logout.left) return false
  const taken = takenFor(history, form).find(({ asked }) => asked > form.left && asked < form.arrived)
  const isItsEnd = ({ operation, sid, asked }: PlatformCall) =>
    operation === 'logout' && sid === taken?.sid && asked > (taken?.asked ?? 0)
  return taken !== undefined && !history.world.calls.some(isItsEnd)
}

/** The logout since which no login has come back, at a mark. A form sent after its answer is a new login, whatever came of it. */
function outSince(history: History, browser: string, at: number): Seen | undefined {
  const { world } = history
  const last = logoutsOf(history, browser)
    .filter((logout) => logout.arrived < at)
    .at(-1)
  if (!last) return undefined
  const isNew = (seen: Seen) =>
    (seen.isLogin && seen.arrived > last.arrived) ||
    seen.left > last.arrived ||
    isTakenAfter(history, seen, last) ||
    isTakenElsewhere(history, seen, last)
  const isIn = world.seen.some(
    (seen) => seen.browser === browser && seen.as !== undefined && isNew(seen) && seen.left < at,
  )
  return isIn ? undefined : last
}

/** With a fault, the other browsers of the account may need the next check to hear of it. */
function isExcused({ hasFault, aftermath }: History, seen: Seen, logout: Seen): boolean {
  const isLater = aftermath.some(({ later }) => later && seen.left >= later.left)
  return hasFault && logout.browser !== seen.browser && !isLater
}

const finalLogout: Promised = (history) =>
  history.world.seen.map((seen) => {
    const user = userOf(seen)
    const logout = user === undefined ? undefined : outSince(history, seen.browser, seen.left)
    if (!logout || isExcused(history, seen, logout)) return undefined
    const when = seen.left > history.acted[1] ? 'at the end' : 'meanwhile'
    const way = isDirect(history, seen) ? 'directly' : 'after a navigation'
    return `${logout.path} had answered, and ${seen.browser} is shown ${user} ${when}, ${way}`
  })

const isDirect = ({ aftermath }: History, seen: Seen) => aftermath.some(({ direct }) => direct === seen)

const finalLogoutData: Promised = (history) =>
  history.aftermath.map(({ browser, walked }) => {
    const isOut = outSince(history, browser, walked.left)
    if (isOut && history.scenario.isOwnSession && wasBeside(history, isOut)) return undefined
    return isOut?.browser === browser && walked.view?.basket?.includes('book')
      ? `${browser} still has the basket of before its logout`
      : undefined
  })

/** Was another request of the browser in progress during the logout? A site's own express-session saves what that request had read before. */
const wasBeside = ({ world }: History, logout: Seen) =>
  world.seen.some(
    ({ browser, actor, left, arrived }) =>
      browser === logout.browser && actor !== logout.actor && left < logout.arrived && arrived > logout.left,
  )

const rightPerson: Promised = ({ world }) =>
  world.seen.map((seen) => {
    const user = userOf(seen)
    const isTheirs = world.seen.some(
      (login) => login.browser === seen.browser && login.as === user && login.left < seen.arrived,
    )
    return user === undefined || isTheirs ? undefined : `${seen.browser} is shown ${user}, who never logged in there`
  })

const isYes = ({ operation, sts, err }: PlatformCall) => operation === 'sessionstatus' && sts === 'loggedin' && !err

/** Did the platform say between these marks that somebody is logged in? */
const saidYes = ({ world }: History, asked: number, answered: number) =>
  world.calls.some((call) => isYes(call) && call.asked > asked && call.answered < answered)

const fresh: Promised = (history) =>
  history.world.seen.map((seen) =>
    seen.path === '/sensitive' && seen.status === 200 && !saidYes(history, seen.left, seen.arrived)
      ? 'a fresh page was served though no Session Status asked since has said "loggedin"'
      : undefined,
  )

const check: Promised = (history) =>
  history.world.seen.map((seen) => {
    const { status, called = 0 } = seen.view?.check ?? {}
    const isGrace = history.hasFault && seen.view?.degraded !== undefined
    if (status !== 'loggedin' || isGrace || saidYes(history, called, seen.arrived)) return undefined
    return 'check() says "loggedin" though no Session Status asked since has said so'
  })

const endNoticed: Promised = ({ aftermath, isAnybodyIn }) =>
  aftermath.map(({ browser, later }) =>
    later && !isAnybodyIn && userOf(later) !== undefined
      ? `${browser} is shown ${userOf(later)} past the check, and nobody is logged in at the platform`
      : undefined,
  )

const checkAfterLogout: Promised = (history) =>
  history.world.seen.map((seen) => {
    const { status, called = 0 } = seen.view?.check ?? {}
    const logout = status === 'loggedin' ? outSince(history, seen.browser, called) : undefined
    return logout && !isExcused(history, seen, logout)
      ? 'check() says "loggedin" after a logout had answered'
      : undefined
  })

/**
 * Submits that are with the site at once, in one session, are one form, sent twice. One that arrives after an answer is a new question. So is
 * one that left before a 503, because it may arrive after the site has given up, and before the 503 is sent.
 */
function forms({ world, acted }: History): number {
  const posts = world.seen.filter((seen) => isForm(seen, '/login') && seen.left > acted[0])
  const groups: { key: string; until: number }[] = []
  for (const { browser, session, as, left, answered } of posts.sort((a, b) => a.left - b.left)) {
    const name = `${browser} ${session} ${as}`
    const same = groups.find(({ key, until }) => key === name && until > left)
    if (same) same.until = Math.min(same.until, answered)
    else groups.push({ key: name, until: answered })
  }
  const isAskedAnew = (failed: Seen) =>
    failed.status === 503 && posts.some(({ left, answered }) => left < failed.answered && answered > failed.answered)
  return groups.length + posts.filter(isAskedAnew).length
}

const oneAuthenticate: Promised = (history) => {
  const { world, acted } = history
  const count = world.calls.filter(({ operation, asked }) => operation === 'authenticate' && asked > acted[0]).length
  const most = forms(history)
  return count > most ? [`${count} Authenticates for ${most} form(s)`] : []
}

/** With five attempts, browsers that have never logged in get three: the last but one belongs to a known browser. */
const MAX_WRONG = 3

const notLockedOut: Promised = ({ scenario, world }) => {
  const wrong = world.calls.filter(({ operation, err }) => operation === 'authenticate' && err !== undefined)
  if (!scenario.hasLimits || wrong.length <= MAX_WRONG) return []
  return [`${wrong.length} wrong passwords of unknown browsers were sent to the platform`]
}

const ONLY_PAGES = new Set(['page', 'script', 'save', 'terminate', 'tick'])

const oneCheck: Promised = ({ scenario, world, hasFault }) => {
  const asked = world.calls.filter(({ operation, actor }) => operation === 'sessionstatus' && actor !== undefined)
  const sessions = new Set(asked.map(({ sid }) => sid)).size
  const isOnlyPages = doings(scenario).every((name) => ONLY_PAGES.has(name))
  return isOnlyPages && !hasFault && asked.length > sessions
    ? [`${asked.length} Session Status to check ${sessions} session(s)`]
    : []
}

const noLoop: Promised = ({ world }) => {
  const trips = new Map<string, number>()
  return world.seen.map(({ actor, browser, path, location }) => {
    const key = `${actor} ${browser}`
    const count = (trips.get(key) ?? 0) + Number(path === '/sso/identify')
    trips.set(key, location === undefined ? 0 : count)
    return count > 3 ? 'more than three trips through Identify in one navigation' : undefined
  })
}

const PAGES = new Set(['/', '/plain', '/put'])
const SESSION_ENDERS = new Set(['logout', 'logoutAll', 'terminate'])

/**
 * With a fault, pages alone must be served; what a site's own session store fails at is its own. The platform refuses
 * the ticket of a session that was ended meanwhile: then "not now" is a fair answer to a login.
 */
const serves: Promised = ({ scenario, world, hasFault }) =>
  world.seen.map(({ method, path, status }) => {
    const isFair = path === '/login' && status === 503 && has(scenario, SESSION_ENDERS)
    const isExpected = isFair || (hasFault && (scenario.isOwnSession || !PAGES.has(path)))
    return status >= 500 && !isExpected ? `${method} ${path} answered ${status}` : undefined
  })

const STILL_IN = new Set(['loggedIn', 'loggedInLandings', 'stale', 'two', 'twoStale', 'oneOfTwo'])

const loginKept: Promised = (history) => {
  const { scenario, world, acted, aftermath } = history
  if (!endsNothing(history) || isStoredElsewhere(scenario)) return []
  const isIn = ({ browser }: Aftermath) =>
    (browser === 'b1' && (STILL_IN.has(scenario.state) || hasLanded(scenario))) ||
    world.seen.some((seen) => seen.browser === browser && seen.isLogin && seen.left > acted[0])
  return aftermath
    .filter((after) => isIn(after) && !isOvertaken(history, after) && !isApart(history, after.browser))
    .filter(({ direct }) => userOf(direct) === undefined)
    .map(({ browser }) => `${browser} has logged in, nothing has ended it, and it is not logged in`)
}

/** With an express-session of the site's own, its late answers and saves are its own affair. */
const isStoredElsewhere = (scenario: Scenario) =>
  scenario.isOwnSession && doings(scenario).some((name) => name === 'save' || name === 'login')

/**
 * Two tabs of a browser without a session land at once, and it logs in while the answer to one of them is still under way:
 * that answer brings an anonymous session, and nobody on the way knew of the other.
 */
function isOvertaken({ world }: History, { browser }: Aftermath): boolean {
  const login = world.seen.find((seen) => seen.browser === browser && seen.isLogin)
  return world.seen.some(
    (seen) =>
      login !== undefined &&
      seen.browser === browser &&
      seen.path === '/sso2/landing' &&
      seen.session === undefined &&
      seen.left < login.left &&
      seen.arrived > login.arrived,
  )
}

/**
 * Identify has given each of two tabs a session of the SSO system, and the browser has the cookie of one only. A tab that comes back from
 * Identify during a login in the other session says that nobody is logged in, and may be the later word.
 */
function isApart({ scenario, world }: History, browser: string): boolean {
  const logins = world.seen.filter((seen) => seen.browser === browser && seen.isLogin)
  return (
    scenario.state === 'basketApart' &&
    world.seen.some(
      ({ path, left, ...seen }) =>
        seen.browser === browser &&
        path === '/sso2/landing' &&
        logins.some((login) => left > login.left && left < login.arrived),
    )
  )
}

/** Identify knew the browser, and it has come back from there. */
const hasLanded = (scenario: Scenario) =>
  scenario.state === 'known' &&
  scenario.parts.some(({ tab, acts }) => tab.browser === 'b1' && acts[0]?.startsWith('landing'))

const WITHOUT_BOOK = new Set(['stranger', 'basketAlone', 'basketPending', 'lostLandings', 'known'])

const dataKept: Promised = (history) => {
  const { scenario, landed, aftermath } = history
  if (!endsNothing(history) || WITHOUT_BOOK.has(scenario.state) || isStoredElsewhere(scenario)) return []
  if (isApart(history, 'b1')) return []
  const last = aftermath.find(({ browser }) => browser === 'b1')?.walked.view?.basket ?? []
  const saves = doings(scenario).filter((name) => name === 'save').length
  return [
    last.includes('book') ? undefined : 'what was in the basket before is lost',
    ...[...landed].map((item) =>
      saves > 1 || last.includes(item) ? undefined : 'what another tab put into the basket meanwhile is lost',
    ),
  ]
}

/** What a site promises, by name. */
export const promises: Readonly<Record<string, Promised>> = {
  'I1 serves': serves,
  'I1 no loop': noLoop,
  'I3 right person': rightPerson,
  'I4 fresh is fresh': fresh,
  'I4 check() asks': check,
  'I4 an end is noticed': endNoticed,
  'I5 logout is final': finalLogout,
  'I5 logout is final for check()': checkAfterLogout,
  'I5 logout drops the data': finalLogoutData,
  'I6 login kept': loginKept,
  'I6 data kept': dataKept,
  'I7 one Authenticate a form': oneAuthenticate,
  'I7 one Session Status a check': oneCheck,
  'I8 no user is locked out': notLockedOut,
}
