/** Defines the state of the emulated platform: plain data with indexes, so that no call searches all sessions. */

import { createSecretKey, type KeyObject } from 'node:crypto'
import type { EpochSeconds } from '../../protocol/claims'
import type { Account, Address, Client, Config, Limits, SavedSession, Subscription } from '../config/options'

interface SessionBase {
  readonly sid: string
  /** The browser's cookie, which may outlive the session. */
  readonly browser: string
  readonly createdAt: EpochSeconds
  /** Time of the last Identify, Authenticate or Session Status. */
  readonly lastSeenAt: EpochSeconds
}

/** A session between the SSO2 system and a browser. Interface: "SSO2 session states". */
export type SsoSession = SessionBase &
  (
    | { readonly status: 'anon' }
    | { readonly status: 'loggedin'; readonly accountId: string }
    | { readonly status: 'terminated' }
  )

/** A session with a logged-in user. */
export type LoggedinSession = Extract<SsoSession, { status: 'loggedin' }>

/** A session in which a user can log in. */
export type OpenSession = Exclude<SsoSession, { status: 'terminated' }>

/** Failed attempts with a username. */
export interface Attempts {
  failed: number
  /** End of the lock, or 0 without a lock. */
  frozenUntil: EpochSeconds
}

/** An issued one-time password. */
export interface Otp {
  readonly code: string
  readonly expiresAt: EpochSeconds
  consumed: boolean
}

/** An account and its changing state. */
export interface AccountState {
  account: Account
  readonly attempts: Attempts
  /** The latest one-time passwords. Used and expired passwords stay, to distinguish them from wrong passwords. */
  otps: Otp[]
}

/** A client, with its secret as a key. */
export interface ClientState {
  readonly client: Client
  readonly key: KeyObject
}

/** An Authorization Ticket. Interface: "SSO2", 3. */
interface Ticket {
  readonly clientId: string
  readonly accountId: string
  readonly sid: string
  readonly expiresAt: EpochSeconds
}

/** An access token. Without account and session, the token is for the client itself. */
export interface AccessToken {
  readonly clientId: string
  readonly accountId: string | undefined
  readonly sid: string | undefined
  readonly scopes: readonly string[]
  readonly expiresAt: EpochSeconds
}

/** The state of the platform. Maps with `expiresAt` are ordered by expiry, `sessions` by `lastSeenAt`. */
export interface World {
  readonly config: Config
  readonly clients: ReadonlyMap<string, ClientState>
  readonly accountsByName: ReadonlyMap<string, AccountState>
  readonly accountsById: ReadonlyMap<string, AccountState>
  /** Attempts with usernames without an account. They are counted too, so that responses do not reveal accounts. */
  readonly attemptsByUnknownName: Map<string, Attempts>
  readonly sessions: Map<string, SsoSession>
  readonly sidByBrowser: Map<string, string>
  /** Logged-in sessions only. */
  readonly sidsByAccount: Map<string, Set<string>>
  readonly tickets: Map<string, Ticket>
  readonly accessTokens: Map<string, AccessToken>
  /** Active subscriptions: products by normalised address. */
  readonly productsByAddress: ReadonlyMap<string, ReadonlySet<string>>
}

/** Creates the world of a configuration. */
export function createWorld(config: Config, now: EpochSeconds): World {
  const states = config.accounts.map((account) => accountState(account, now))
  const world: World = {
    config,
    clients: new Map(config.clients.map((client) => [client.clientId, clientState(client)])),
    accountsByName: new Map(states.map((state) => [state.account.username, state])),
    accountsById: new Map(states.map((state) => [state.account.accountId, state])),
    attemptsByUnknownName: new Map(),
    sessions: new Map(),
    sidByBrowser: new Map(),
    sidsByAccount: new Map(),
    tickets: new Map(),
    accessTokens: new Map(),
    productsByAddress: indexSubscriptions(config.accounts.flatMap(({ subscriptions }) => subscriptions)),
  }
  const oldestFirst = [...config.sessions].sort((a, b) => b.idleSeconds - a.idleSeconds)
  for (const saved of oldestFirst) putSession(world, restored(saved, now))
  // an ended session may have been seen last, after the browser got its next session
  for (const { sid, browser, status } of config.sessions)
    if (status !== 'terminated') world.sidByBrowser.set(browser, sid)
  return world
}

function clientState(client: Client): ClientState {
  return { client, key: createSecretKey(Buffer.from(client.clientSecret, 'utf8')) }
}

function accountState(account: Account, now: EpochSeconds): AccountState {
  const frozenUntil = account.frozenForSeconds > 0 ? now + account.frozenForSeconds : 0
  return { account, attempts: { failed: account.failedAttempts, frozenUntil }, otps: [] }
}

function restored(saved: SavedSession, now: EpochSeconds): SsoSession {
  const { sid, browser, status, accountId } = saved
  const base = { sid, browser, createdAt: now - saved.ageSeconds, lastSeenAt: now - saved.idleSeconds }
  return status === 'loggedin' && accountId !== undefined
    ? { ...base, status, accountId }
    : { ...base, status: status === 'terminated' ? 'terminated' : 'anon' }
}

/** Adds or replaces a session, and updates the indexes. */
export function putSession(world: World, session: SsoSession): void {
  const before = world.sessions.get(session.sid)
  if (before) unindexAccount(world, before)
  // A session that was used moves to the end, so that the map stays in order of inactivity.
  if (before && before.lastSeenAt !== session.lastSeenAt) world.sessions.delete(session.sid)
  world.sessions.set(session.sid, session)
  if (!before) world.sidByBrowser.set(session.browser, session.sid) // a call about an old session does not make the session current again
  if (session.status === 'loggedin') {
    const sids = world.sidsByAccount.get(session.accountId)
    if (sids) sids.add(session.sid)
    else world.sidsByAccount.set(session.accountId, new Set([session.sid]))
  }
}

/** Removes a session. The browser keeps a newer session. */
export function removeSession(world: World, session: SsoSession): void {
  unindexAccount(world, session)
  world.sessions.delete(session.sid)
  if (world.sidByBrowser.get(session.browser) === session.sid) world.sidByBrowser.delete(session.browser)
}

function unindexAccount(world: World, session: SsoSession): void {
  if (session.status !== 'loggedin') return
  const sids = world.sidsByAccount.get(session.accountId)
  sids?.delete(session.sid)
  if (sids?.size === 0) world.sidsByAccount.delete(session.accountId)
}

/** Removes expired entries from the front of a map that is ordered by expiry. */
export function dropExpired(map: Map<string, { readonly expiresAt: EpochSeconds }>, now: EpochSeconds): void {
  for (const [key, { expiresAt }] of map) {
    if (expiresAt > now) return
    map.delete(key)
  }
}

const addressFields = [
  'first_name',
  'last_name',
  'street',
  'street_number',
  'zip_code',
  'city',
  'country_code',
] as const satisfies (keyof Address)[]

/** Returns a text for an address, without differences of case and spaces. */
export function addressKey(address: Address): string {
  const parts = addressFields.map((field) => (address[field] ?? '').normalize('NFC').toLowerCase().replace(/\s/gu, ''))
  return JSON.stringify(parts)
}

function indexSubscriptions(subscriptions: readonly Subscription[]): Map<string, Set<string>> {
  const index = new Map<string, Set<string>>()
  for (const { productCode, address, active } of subscriptions) {
    if (!active) continue
    const key = addressKey(address)
    index.set(key, (index.get(key) ?? new Set()).add(productCode))
  }
  return index
}

export function limitsOf(world: World): Limits {
  return world.config.limits
}
