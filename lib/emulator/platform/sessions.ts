/** Opens, changes and ends SSO2 sessions. Each function changes the given world. Interface: "States and transitions". */
import { createHash, randomBytes } from 'node:crypto'
import type { EpochSeconds } from '../../protocol/claims'
import { TRANSITIONS } from './machine'
import { type LoggedinSession, type OpenSession, putSession, removeSession, type SsoSession, type World } from './world'

/** Returns 128 random bits for session IDs, cookies, tickets and access tokens. */
export function randomId(): string {
  return randomBytes(16).toString('base64url')
}

/** Returns a name of the session's browser that does not reveal its cookie. */
export function browserKey({ browser }: SsoSession): string {
  return createHash('sha256').update(browser).digest('hex').slice(0, 12)
}

/** Finds a session. Removes the session instead if the session was inactive for too long. */
export function findSession(world: World, sid: string | undefined, now: EpochSeconds): SsoSession | undefined {
  const session = sid === undefined ? undefined : world.sessions.get(sid)
  if (!session) return undefined
  if (!isForgotten(world, session, now)) return session
  removeSession(world, session)
  return undefined
}

/** Finds the session of a browser by the browser's cookie. */
export function sessionOfBrowser(world: World, browser: string | undefined, now: EpochSeconds): SsoSession | undefined {
  return browser === undefined ? undefined : findSession(world, world.sidByBrowser.get(browser), now)
}

/** Was the session inactive for so long that the platform prunes it? */
export function isForgotten(world: World, { lastSeenAt }: SsoSession, now: EpochSeconds): boolean {
  return now - lastSeenAt >= world.config.limits.pruneAfterSeconds
}

/** Opens an anonymous session. `browser` is the browser's cookie, if any. */
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

/** Records the use of a session, and returns the changed session. */
export function touch<S extends SsoSession>(world: World, session: S, now: EpochSeconds): S {
  if (session.lastSeenAt === now) return session
  const seen = { ...session, lastSeenAt: now }
  putSession(world, seen)
  return seen
}

/** Logs an account in (transition `accepted`). */
export function logInSsoSession(world: World, session: OpenSession, accountId: string): LoggedinSession {
  const { sid, browser, createdAt, lastSeenAt } = session
  const status = TRANSITIONS[session.status].accepted
  const next: LoggedinSession = { sid, browser, createdAt, lastSeenAt, status, accountId }
  putSession(world, next)
  return next
}

/** Ends a session (transition `logout`). */
export function endSsoSession(world: World, session: SsoSession): SsoSession {
  return terminate(world, session, TRANSITIONS[session.status].logout)
}

function terminate(world: World, session: SsoSession, status: 'terminated'): SsoSession {
  const { sid, browser, createdAt, lastSeenAt } = session
  const next: SsoSession = { sid, browser, createdAt, lastSeenAt, status }
  putSession(world, next)
  return next
}

/** Returns the logged-in sessions of an account, and removes inactive sessions. */
export function sessionsOfAccount(world: World, accountId: string, now: EpochSeconds): LoggedinSession[] {
  const sids = [...(world.sidsByAccount.get(accountId) ?? [])]
  const sessions = sids.map((sid) => findSession(world, sid, now))
  return sessions.filter((session) => session?.status === 'loggedin')
}

/**
 * Ends every logged-in session of an account (transition `logout_all`).
 * @returns the number of ended sessions
 */
export function endSessionsOfAccount(world: World, accountId: string, now: EpochSeconds): number {
  const sessions = sessionsOfAccount(world, accountId, now)
  for (const session of sessions) terminate(world, session, TRANSITIONS[session.status].logout_all)
  return sessions.length
}

/** Removes inactive sessions from the front of the map. Stops at the first active session, because the map is ordered. */
function sweep(world: World, now: EpochSeconds): void {
  for (const session of world.sessions.values()) {
    if (!isForgotten(world, session, now)) return
    removeSession(world, session)
  }
}
