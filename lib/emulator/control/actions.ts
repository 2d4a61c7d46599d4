/** Controls the platform from tests and from the admin portal, with the same functions in code and over HTTP. */
import type { EpochSeconds } from '../../protocol/claims'
import type { Account, EmulatorOptions } from '../config/options'
import { freeze, frozenSeconds, issueOtp, thaw } from '../platform/credentials'
import { endSessionsOfAccount, endSsoSession, findSession, isForgotten, sessionsOfAccount } from '../platform/sessions'
import { type AccountState, removeSession, type SsoSession } from '../platform/world'
import type { Runtime } from '../runtime'
import type { AccountView, SessionView } from './views'

/** Changes of an account. Its sessions are not affected. */
export interface AccountChanges {
  /** Can the user log in? */
  readonly active?: boolean | undefined
  /** New password. */
  readonly password?: string | undefined
}

/** Controls an account. */
export interface AccountControl {
  /** Changes the given fields only. */
  set(changes: AccountChanges): AccountView
  /** Locks the account for `freezeSeconds` from now. */
  freeze(): AccountView
  /** Unlocks the account and resets the counter of wrong attempts. */
  unfreeze(): AccountView
  /**
   * Ends all sessions of the account.
   * @returns the number of ended sessions
   */
  logoutAll(): number
  /** @internal Issues a one-time password of six digits. `expiresAt` is in seconds. */
  issueOtp(): { otp: string; expiresAt: EpochSeconds }
  /** Returns the current state. */
  view(): AccountView
}

/** Returns the controls of an account, or undefined if no account has the username. */
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

/** Returns all accounts, in the order of the configuration. */
export function viewAccounts(runtime: Runtime): AccountView[] {
  return [...runtime.world.accountsByName.values()].map((state) => viewAccount(runtime, state))
}

/** Returns an account as tests and the portal see the account, without the password. */
export function viewAccount(runtime: Runtime, { account, attempts }: AccountState): AccountView {
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
    sessionCount: sessionsOfAccount(runtime.world, accountId, now).length,
  }
}

/** Returns all sessions that have not been pruned, the longest inactive session first. */
export function viewSessions(runtime: Runtime): SessionView[] {
  const { world } = runtime
  const now = runtime.now()
  return [...world.sessions.values()].filter((session) => !isForgotten(world, session, now)).map(viewSession)
}

/** Returns a session as tests and the portal see the session. */
export function viewSession(session: SsoSession): SessionView {
  const { sid, status, createdAt, lastSeenAt } = session
  return { sid, status, accountId: status === 'loggedin' ? session.accountId : null, createdAt, lastSeenAt }
}

/**
 * Removes a session, as the platform does after inactivity.
 * @returns false if the session does not exist
 */
export function pruneSession(runtime: Runtime, sid: string): boolean {
  const session = findSession(runtime.world, sid, runtime.now())
  if (!session) return false
  removeSession(runtime.world, session)
  runtime.addEvent(sid, 'the platform removes the session (pruned)')
  runtime.changed()
  return true
}

/**
 * Ends a session, as Logout does.
 * @returns false if the session does not exist
 */
export function terminateSession(runtime: Runtime, sid: string): boolean {
  const session = findSession(runtime.world, sid, runtime.now())
  if (!session) return false
  endSsoSession(runtime.world, session)
  runtime.addEvent(sid, 'the platform ends the session')
  runtime.changed()
  return true
}

/**
 * Returns the running state as options: accounts, sessions, faults and clock.
 * Includes passwords and secrets, but no one-time passwords, tickets and access tokens.
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
