/** The life of SSO2 sessions. Interface: "States and transitions". Each function changes the world it is given. */
import { createHash, randomBytes } from 'node:crypto'
import type { EpochSeconds } from '../../protocol/claims'
import { nextStatus, type Trigger } from './machine'
import { type LoggedinSession, putSession, removeSession, type SsoSession, type World } from './world'

/** 128 random bits, for session IDs, cookies, tickets and access tokens. */
export function randomId(): string {
  return randomBytes(16).toString('base64url')
}

/** A name for a session's browser: it does not give its cookie away. */
export function browserKey({ browser }: SsoSession): string {
  return createHash('sha256').update(browser).digest('hex').slice(0, 12)
}

/** The session, unless there is none or it was inactive for too long: then it is forgotten here and now. */
export function findSession(world: World, sid: string | undefined, now: EpochSeconds): SsoSession | undefined {
  const session = sid === undefined ? undefined : world.sessions.get(sid)
  if (!session) return undefined
  if (!isForgotten(world, session, now)) return session
  removeSession(world, session)
  return undefined
}

/** The session of a browser, by its cookie. */
export function sessionOfBrowser(world: World, browser: string | undefined, now: EpochSeconds): SsoSession | undefined {
  return browser === undefined ? undefined : findSession(world, world.sidByBrowser.get(browser), now)
}

/** Was the session inactive for so long that it is pruned? */
export function isForgotten(world: World, { lastSeenAt }: SsoSession, now: EpochSeconds): boolean {
  return now - lastSeenAt >= world.config.limits.pruneAfterSeconds
}

/** Opens an anonymous session. `browser` is its cookie, when it has one already. */
export function openSession(world: World, browser: string | undefined, now: EpochSeconds): SsoSession {
  sweep(world, now)
  const session: SsoSession = {
    sid: randomId(),
    browser: browser ?? randomId(),
    status: 'anon',
    createdAt: now,
    lastSeenAt: now,
  }
  putSession(world, session)
  return session
}

/** Notes that the session was used, and gives it as it is now. */
export function touch<S extends SsoSession>(world: World, session: S, now: EpochSeconds): S {
  if (session.lastSeenAt === now) return session
  const seen = { ...session, lastSeenAt: now }
  putSession(world, seen)
  return seen
}

/** Logs an account in: the move `accepted`. */
export function logIn(world: World, session: SsoSession, accountId: string): LoggedinSession {
  if (move(session, 'accepted') !== 'loggedin') throw new Error('the table lets nobody log in here')
  const { sid, browser, createdAt, lastSeenAt } = session
  const next: LoggedinSession = { sid, browser, createdAt, lastSeenAt, status: 'loggedin', accountId }
  putSession(world, next)
  return next
}

/** Ends a session: the moves `logout` and `logout_all`. */
export function endSession(world: World, session: SsoSession, trigger: 'logout' | 'logout_all'): SsoSession {
  if (move(session, trigger) !== 'terminated') throw new Error('the table does not end the session here')
  const { sid, browser, createdAt, lastSeenAt } = session
  const next: SsoSession = { sid, browser, createdAt, lastSeenAt, status: 'terminated' }
  putSession(world, next)
  return next
}

/** The logged-in sessions of an account, forgotten ones dropped on the way. */
export function sessionsOfAccount(world: World, accountId: string, now: EpochSeconds): SsoSession[] {
  const sids = [...(world.sidsByAccount.get(accountId) ?? [])]
  return sids.flatMap((sid) => findSession(world, sid, now) ?? [])
}

/** Ends every active session of an account and says how many there were. */
export function endSessionsOfAccount(world: World, accountId: string, now: EpochSeconds): number {
  const sessions = sessionsOfAccount(world, accountId, now)
  for (const session of sessions) endSession(world, session, 'logout_all')
  return sessions.length
}

function move({ status }: SsoSession, trigger: Trigger): string | undefined {
  return nextStatus(status, trigger)
}

/** Drops forgotten sessions from the front: each is looked at once, whatever their number. */
function sweep(world: World, now: EpochSeconds): void {
  for (const session of world.sessions.values()) {
    if (!isForgotten(world, session, now)) return
    removeSession(world, session)
  }
}
