/** What tests and the portal do to the platform from outside: the same functions in code and over HTTP. */
import type { EpochSeconds } from '../../protocol/claims'
import type { Account, EmulatorOptions } from '../config/options'
import { freeze, frozenSeconds, issueOtp, thaw } from '../platform/credentials'
import { endSession, endSessionsOfAccount, findSession, isForgotten, sessionsOfAccount } from '../platform/sessions'
import { type AccountState, removeSession, type SsoSession } from '../platform/world'
import type { Runtime } from '../runtime'
import type { AccountView, SessionView } from './views'

/** What can be changed about an account. Its running sessions go on. */
export interface AccountChanges {
  /** May it log in? */
  readonly active?: boolean | undefined
  /** Takes the place of the old one. */
  readonly password?: string | undefined
}

/** Steers one account. */
export interface AccountControl {
  /** Changes what is given, and leaves the rest. */
  set(changes: AccountChanges): AccountView
  /** Freezes it from now on, for `freezeSeconds`. */
  freeze(): AccountView
  /** Lifts a freeze, and forgets wrong attempts. */
  unfreeze(): AccountView
  /** Ends all its sessions and says how many there were. */
  logoutAll(): number
  /** Issues a one-time password of six digits; `expiresAt` in seconds. */
  issueOtp(): { otp: string; expiresAt: EpochSeconds }
  /** As it is now. */
  view(): AccountView
}

/** Steers one account, or gives nothing when there is no such user name. */
export function accountControl(runtime: Runtime, username: string): AccountControl | undefined {
  const stateOf = () => runtime.world.accountsByName.get(username)
  if (!stateOf()) return undefined
  const change = (work: (state: AccountState) => void): AccountView => {
    const state = present(stateOf())
    work(state)
    runtime.changed()
    return viewAccount(runtime, state)
  }
  return {
    set: (changes) =>
      change((state) => {
        state.account = changed(state.account, changes)
      }),
    freeze: () => change(({ attempts }) => freeze(runtime.world, attempts, runtime.now())),
    unfreeze: () => change(({ attempts }) => thaw(attempts)),
    logoutAll: () => {
      const { accountId } = present(stateOf()).account
      for (const { sid } of sessionsOfAccount(runtime.world, accountId, runtime.now()))
        runtime.addEvent(sid, 'the platform ends all sessions of the account')
      const ended = endSessionsOfAccount(runtime.world, accountId, runtime.now())
      runtime.changed()
      return ended
    },
    issueOtp: () => {
      const { code, expiresAt } = issueOtp(runtime.world, present(stateOf()), runtime.now())
      runtime.changed()
      return { otp: code, expiresAt }
    },
    view: () => viewAccount(runtime, present(stateOf())),
  }
}

function changed(account: Account, { active, password }: AccountChanges): Account {
  return { ...account, active: active ?? account.active, password: password ?? account.password }
}

function present(state: AccountState | undefined): AccountState {
  if (!state) throw new Error('the account is not there any more')
  return state
}

/** All accounts, in the order of the configuration. */
export function viewAccounts(runtime: Runtime): AccountView[] {
  return [...runtime.world.accountsByName.values()].map((state) => viewAccount(runtime, state))
}

function viewAccount(runtime: Runtime, { account, attempts }: AccountState): AccountView {
  const { accountId, username, name, email, active } = account
  const now = runtime.now()
  const isFrozen = frozenSeconds(attempts, now) > 0
  return {
    accountId,
    username,
    name,
    email,
    active,
    failedAttempts: attempts.failed,
    frozenUntil: isFrozen ? attempts.frozenUntil : null,
    sessions: sessionsOfAccount(runtime.world, accountId, now).length,
  }
}

/** All sessions that are not forgotten, the one that was inactive longest first. */
export function viewSessions(runtime: Runtime): SessionView[] {
  const { world } = runtime
  const now = runtime.now()
  return [...world.sessions.values()].filter((session) => !isForgotten(world, session, now)).map(viewSession)
}

/** One session as tests and the portal see it. */
export function viewSession(session: SsoSession): SessionView {
  const { sid, status, createdAt, lastSeenAt } = session
  return { sid, status, accountId: status === 'loggedin' ? session.accountId : null, createdAt, lastSeenAt }
}

/** Forgets a session, as inactivity does; false when there is none. */
export function pruneSession(runtime: Runtime, sid: string): boolean {
  const session = findSession(runtime.world, sid, runtime.now())
  if (!session) return false
  removeSession(runtime.world, session)
  runtime.addEvent(sid, 'the platform removes the session (pruned)')
  runtime.changed()
  return true
}

/** Ends a session, as Logout does; false when there is none. */
export function terminateSession(runtime: Runtime, sid: string): boolean {
  const session = findSession(runtime.world, sid, runtime.now())
  if (!session) return false
  endSession(runtime.world, session, 'logout')
  runtime.addEvent(sid, 'the platform ends the session')
  runtime.changed()
  return true
}

/**
 * The running state as options: accounts as they are now, sessions, faults and the clock. Passwords and secrets are in
 * it; one-time passwords, tickets and access tokens are not.
 */
export function exportOptions(runtime: Runtime): EmulatorOptions {
  const { config, world, faults } = runtime
  const now = runtime.now()
  return {
    ...config,
    accounts: [...world.accountsByName.values()].map(({ account, attempts }) => ({
      ...account,
      frozenForSeconds: frozenSeconds(attempts, now),
      failedAttempts: attempts.failed,
    })),
    sessions: [...world.sessions.values()]
      .filter((session) => !isForgotten(world, session, now))
      .map((session) => saveSession(session, now)),
    faults: faults.list().map(({ id: _, ...fault }) => fault),
    clockAheadSeconds: runtime.aheadSeconds(),
  }
}

function saveSession(session: SsoSession, now: EpochSeconds) {
  const { sid, browser, status, createdAt, lastSeenAt } = session
  const saved = { sid, browser, status, ageSeconds: now - createdAt, idleSeconds: now - lastSeenAt }
  return status === 'loggedin' ? { ...saved, accountId: session.accountId } : saved
}
