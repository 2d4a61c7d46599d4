/**
 * The sessions of each account, and the marks of logouts. A login writes its session into the index and reads the marks afterwards. A logout
 * writes the marks and reads the index afterwards. So one of the two always sees the other.
 */
import { randomUUID } from 'node:crypto'
import type { LogoutOfAll } from '../decide/logout-mark'
import { isLoggedIn, type SsoRecord } from '../decide/record'
import type { EpochMs } from '../protocol/claims'
import { SiteStore, shortHash } from './site-store'

/** Beyond so many sessions of an account, the oldest login ends. */
const MAX_SESSIONS = 1000
const EVERY = 2 ** 31 - 1
const INDEX_SECONDS = 90 * 86_400
/** A mark outlives every login that was in progress. */
const MARK_SECONDS = 600
/** A logout of all stays open until the SSO system has confirmed it, or until its retries end. */
const OPEN_SECONDS = 86_400

/** A session of an account. */
export interface IndexedSession {
  readonly key: string
  readonly sidHash: string
}

/** The marks of logouts that concern a login. */
export interface LogoutMarks {
  /** Was the SSO session logged out? It never returns. */
  readonly isSessionOut: boolean
  /** The last logout of all sessions of the account. */
  readonly all: LogoutOfAll | undefined
}

/** The index of a site. Every method may throw `Sso2UnavailableError`. */
export class AccountIndex extends SiteStore {
  /** Names this process, whose clock has no spread against itself. */
  readonly #process = randomUUID()

  /** Adds a session. @returns the oldest sessions, if the account has too many */
  async add(account: string, { key, sidHash }: IndexedSession, startedAt: EpochMs): Promise<IndexedSession[]> {
    const [index, added] = [this.#indexKey(account), `${sidHash}:${key}`]
    const count = await this.kv.addMember(index, added, startedAt, INDEX_SECONDS)
    if (count <= MAX_SESSIONS) return []
    const oldest = (await this.kv.members(index, count - MAX_SESSIONS)).filter((member) => member !== added)
    if (oldest.length > 0) await this.kv.removeMembers(index, oldest)
    return oldest.map(sessionOf)
  }

  async list(account: string): Promise<IndexedSession[]> {
    return (await this.kv.members(this.#indexKey(account), EVERY)).map(sessionOf) // with those of logins in progress
  }

  async remove(account: string, sessions: readonly IndexedSession[]): Promise<void> {
    const members = sessions.map(({ sidHash, key }) => `${sidHash}:${key}`)
    if (members.length > 0) await this.kv.removeMembers(this.#indexKey(account), members)
  }

  /** Marks an SSO session as logged out. */
  markSession(sidHash: string): Promise<void> {
    return this.kv.set(this.#outKey(sidHash), '1', MARK_SECONDS)
  }

  /** Marks an account as logged out everywhere. @param confirmedAt when the SSO system confirmed it, in milliseconds. Default: not yet */
  markAccount(account: string, confirmedAt?: EpochMs): Promise<void> {
    return confirmedAt === undefined
      ? this.kv.set(this.#allKey(account), 'open', OPEN_SECONDS)
      : this.kv.set(this.#allKey(account), `${confirmedAt}:${this.#process}`, MARK_SECONDS)
  }

  async marks(sidHash: string, account: string): Promise<LogoutMarks> {
    const [out, all] = await Promise.all([this.kv.get(this.#outKey(sidHash)), this.kv.get(this.#allKey(account))])
    const isSessionOut = out !== null
    if (all === null) return { isSessionOut, all: undefined }
    const [confirmedAt = '', process] = all.split(':')
    return {
      isSessionOut,
      all: {
        confirmedAt: confirmedAt === 'open' ? confirmedAt : Number(confirmedAt),
        isOwnClock: process === this.#process,
      },
    }
  }

  #indexKey(account: string): string {
    return `${this.prefix}acct:{${account}}`
  }
  #allKey(account: string): string {
    return `${this.prefix}all:{${account}}`
  }
  #outKey(sidHash: string): string {
    return `${this.prefix}out:{${sidHash}}`
  }
}

function sessionOf(member: string): IndexedSession {
  const [sidHash = '', key = ''] = member.split(':')
  return { sidHash, key }
}

/** Returns the name of an account in the index, and in the data of its sessions. */
export const accountName = (accountId: string): string => shortHash(accountId)

/** Returns the name of the account that is logged in. */
export const accountOf = (record: SsoRecord | undefined): string | undefined =>
  isLoggedIn(record) ? accountName(record.user.accountId) : undefined
