/**
 * The sessions of each account, and the marks of logouts. A login writes its session into the index and reads the marks afterwards. A logout
 * writes the marks and reads the index afterwards. So one of the two always sees the other.
 */
import { randomUUID } from 'node:crypto'
import { isVoidedByLogoutOfAll } from '../decide/logout-mark'
import { isLoggedIn, type SsoRecord } from '../decide/record'
import type { EpochMs } from '../protocol/claims'
import { RETRIED_SECONDS } from './pending-logouts'
import type { NamedSession } from './records'
import { SiteStore, shortHash } from './site-store'

/** Beyond so many logins of an account, the oldest one ends. */
const MAX_SESSIONS = 1000
const EVERY = 2 ** 31 - 1
const INDEX_SECONDS = 90 * 86_400
/** A mark outlives every login that was in progress. */
const MARK_SECONDS = 600

/** The index of a site. Every method may throw `Sso2UnavailableError`. */
export class AccountIndex extends SiteStore {
  /** Names this process, whose clock has no spread against itself. */
  readonly #process = randomUUID()

  /** Adds a session. @returns the oldest sessions, if the account has too many */
  async add(session: NamedSession, startedAt: EpochMs): Promise<NamedSession[]> {
    const { account } = session
    const [index, added] = [this.key('acct', account), memberOf(session)]
    const count = await this.kv.addMember(index, added, startedAt, INDEX_SECONDS)
    if (count <= MAX_SESSIONS) return []
    const oldest = (await this.kv.members(index, count - MAX_SESSIONS)).filter((member) => member !== added)
    if (oldest.length > 0) await this.kv.removeMembers(index, oldest)
    return oldest.map(sessionOf(account))
  }

  async list(account: string): Promise<NamedSession[]> {
    return (await this.kv.members(this.key('acct', account), EVERY)).map(sessionOf(account)) // with those of logins in progress
  }

  /** Removes sessions of an account, of which there is at least one. */
  remove(account: string, sessions: readonly NamedSession[]): Promise<void> {
    return this.kv.removeMembers(this.key('acct', account), sessions.map(memberOf))
  }

  /** Marks an SSO session as logged out. */
  markSession(sidHash: string): Promise<void> {
    return this.kv.set(this.key('out', sidHash), '1', MARK_SECONDS)
  }

  /** Marks an account as logged out everywhere. @param confirmedAt when the SSO system confirmed it, in milliseconds. Default: not yet */
  markAccount(account: string, confirmedAt?: EpochMs): Promise<void> {
    return confirmedAt === undefined
      ? this.kv.set(this.key('all', account), 'open', RETRIED_SECONDS)
      : this.kv.set(this.key('all', account), `${confirmedAt}:${this.#process}`, MARK_SECONDS)
  }

  /** Has a logout voided a login? Asked after the login is in the index. An SSO session that was logged out never returns. */
  async isVoided({ sidHash, startedAt }: SsoRecord, account: string): Promise<boolean> {
    const [out, all] = await Promise.all([this.kv.get(this.key('out', sidHash)), this.kv.get(this.key('all', account))])
    if (out !== null || all === null) return out !== null
    const [confirmedAt = '', process] = all.split(':')
    const isOwnClock = process === this.#process
    return isVoidedByLogoutOfAll(confirmedAt === 'open' ? confirmedAt : Number(confirmedAt), startedAt, isOwnClock)
  }
}

const memberOf = ({ sidHash, key }: NamedSession) => `${sidHash}:${key}`

const sessionOf = (account: string) => (member: string) => {
  const [sidHash = '', key = ''] = member.split(':')
  return { key, sidHash, account }
}

/** Returns the name of an account in the index, and in the data of its sessions. */
export const accountName = (accountId: string): string => shortHash(accountId)

/** Returns the name of the account that is logged in. */
export const accountOf = (record: SsoRecord | undefined): string | undefined =>
  isLoggedIn(record) ? accountName(record.user.accountId) : undefined

/** Returns the names of a session. @param record of the session, or of the one that follows it */
export function namesOf(key: string, record: SsoRecord): NamedSession {
  return { key, sidHash: record.sidHash, account: accountOf(record) ?? '' }
}
