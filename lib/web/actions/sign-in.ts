/**
 * The only place where privilege changes: the old session ends first, then come new session ID, record, indexes, and only then the
 * response. A login that finds a logout ends the session that it has just begun. Threats L2, L9, L10, L13.
 */
import {
  beginningOf,
  CURRENT_VERSION,
  indexLifeOf,
  isIndexDue,
  isLoggedIn,
  isOtherAccount,
  isSameStanding,
  type LoggedInRecord,
  type SsoRecord,
  type User,
} from '../../decide/record'
import { checkStateAfter } from '../../decide/status-check'
import { isGone, mayFollow, mayMove } from '../../decide/stored-entry'
import { sessionKey, shortHash } from '../../storage/keys'
import type { Secrets } from '../../storage/records'
import type { LoginStart } from '../../storage/session-index'
import type { Unavailable } from '../../storage/unavailable'
import type { RequestContext } from '../request-context'
import type { Site } from '../site'
import type { StoredRecord } from '../stored-record'
import { revokeSurplus } from './revoke-local-sessions'

/** A user with what the ticket brought. */
export interface NamedUser {
  readonly user: User
  readonly secrets: Secrets
  /** End of the access token's life in seconds since 1970, where the authorization server told. */
  readonly accessUntil: number | undefined
}

/** The outcome of a change of privilege. `lost_race`: another request has changed the session, or logged it out, in the meantime. */
export type SignInResult = 'done' | 'lost_race' | Unavailable

function makeRecord({ site, stored }: RequestContext, secrets: Secrets, accountId?: string, checkedAt?: number) {
  const now = site.now()
  return {
    v: CURRENT_VERSION,
    since: beginningOf(stored.value, accountId, now),
    checkedAt: checkedAt ?? now,
    sidHash: shortHash(secrets.sid),
    box: site.records.seal(secrets),
  }
}

interface Anonymous {
  readonly sid: string
  /** When the SSO system said so, in seconds since 1970. Default: now. */
  readonly checkedAt?: number
  /** The SSO system says logged in, but the user could not be loaded yet. */
  readonly pending?: true
  /** Name of the browser that has just brought it, where it counts. */
  readonly browser?: string | undefined
  /** The name of the status check that says so, if one does. */
  readonly question?: string | undefined
}

/** Stores an anonymous session. */
export async function stayAnonymous(
  context: RequestContext,
  { sid, checkedAt, pending, browser, question }: Anonymous,
): Promise<SignInResult> {
  const more = { ...(pending ? { pending } : {}), ...(browser === undefined ? {} : { browser }) }
  const record: SsoRecord = { ...makeRecord(context, { sid }, undefined, checkedAt), status: 'anon', ...more }
  return (await writeInPlace(context, record, question)) ?? storeRecord(context, afterQuestion(record, question))
}

/**
 * Logs a named user in: one function for landing, login form and Session Status.
 * @param question the name of the status check that brought the ticket, if one did
 * @returns `'renewed'` if this session was the same user's login already, and only its access token is new
 */
export async function signIn(
  context: RequestContext,
  named: NamedUser,
  start: LoginStart,
  question?: string,
): Promise<SignInResult | 'renewed'> {
  const { user, secrets, accessUntil } = named
  const made = makeRecord(context, secrets, user.accountId)
  const access = accessUntil === undefined ? {} : { accessUntil }
  const record: LoggedInRecord = { ...made, status: 'loggedin', user, ...access }
  const inPlace = await writeInPlace(context, record, question)
  if (inPlace === undefined) return storeRecord(context, afterQuestion(record, question), start)
  return inPlace === 'done' ? 'renewed' : inPlace
}

const afterQuestion = <T extends SsoRecord>(record: T, question: string | undefined): T =>
  question === undefined ? record : { ...record, asked: question }

/**
 * Same person, same session: only the record changes. A status check of another request stays in progress.
 * @returns nothing where a new session is needed
 */
async function writeInPlace(
  { site, stored }: RequestContext,
  record: SsoRecord,
  question: string | undefined,
): Promise<SignInResult | undefined> {
  if (!isSameStanding(stored.value, record)) return undefined
  if (stored.value) keepInIndex(site, stored.key, stored.value)
  // the record of a session never passes to another user: that makes a new session ID
  const written = await stored.update((found) => ({ ...record, ...checkStateAfter(found, question) }))
  return written === 'done' || written === 'unavailable' ? written : 'lost_race'
}

/** Removes a session that has ended, or has another ID now, from its indexes. */
export async function removeFromIndex(site: Site, key: string | undefined, record: SsoRecord | undefined) {
  if (isLoggedIn(record) && key !== undefined) await site.sessionIndex.remove(entryOf(key, record))
}

/** Renews the entries of a session in its indexes, where that is due: nothing waits for it. */
export function keepInIndex(site: Site, key: string | undefined, record: SsoRecord): void {
  const now = site.now()
  if (key === undefined || !isLoggedIn(record) || !isIndexDue(record, now, site.config)) return
  site.sessionIndex.renew(entryOf(key, record), indexLifeOf(record, now, site.config)).catch(() => {})
}

const entryOf = (key: string, { sidHash, user: { accountId } }: LoggedInRecord) => ({ key, sidHash, accountId })

/**
 * Begins a session: its record and its entries in the indexes are written in parallel. A logout that finds an entry before its record
 * leaves a deleted-session marker there, over which no record is written. A logout that came first is read with the entries.
 */
export async function beginSession(
  site: Site,
  stored: StoredRecord,
  key: string,
  record: SsoRecord,
  start: LoginStart | undefined,
): Promise<SignInResult> {
  const [written, added] = await Promise.all([stored.begin(key, record), addToIndex(site, key, record, start)])
  if (written === 'done' && added !== 'unavailable' && !added.isRevoked) {
    if (isLoggedIn(record))
      for (const surplus of added.surplus) await revokeSurplus(site, entryOf(key, record), surplus)
    return 'done'
  }
  if (written === 'done') await stored.revoke(({ value }) => value !== undefined, 'ended')
  if (added !== 'unavailable') await removeFromIndex(site, key, record)
  return written === 'unavailable' || added === 'unavailable' ? 'unavailable' : 'lost_race'
}

async function addToIndex(site: Site, key: string, record: SsoRecord, start: LoginStart | undefined) {
  if (!isLoggedIn(record) || start === undefined) return { isRevoked: false, surplus: [] }
  return site.sessionIndex.add(entryOf(key, record), indexLifeOf(record, site.now(), site.config), start)
}

const accountIdOf = (record: SsoRecord) => (isLoggedIn(record) ? record.user.accountId : undefined)

/** New session ID: the old session is revoked first, and the request that revokes it wins; its data go along in the same step. */
async function storeRecord(context: RequestContext, record: SsoRecord, start?: LoginStart): Promise<SignInResult> {
  const { site, req, res, stored } = context
  if (res.headersSent !== false) return 'lost_race' // the browser could not be told its new session
  const [before, oldKey] = [stored.value, stored.key]
  const keepsData = !isOtherAccount(before, record)
  const id = site.sessions.nextId(req, record.sidHash)
  const wasThere = before !== undefined
  const revoked = isGone(stored)
    ? ({ outcome: 'done', taken: null } as const)
    : await stored.revoke((found) => mayFollow(found, wasThere), 'moved', id)
  if (revoked.outcome !== 'done') return revoked.outcome === 'changed' ? 'lost_race' : revoked.outcome
  const next = { id, taken: revoked.taken, keepsData, accountId: accountIdOf(record) }
  const renewed = await site.sessions.renew(req, next)
  const begin = () => beginSession(site, stored, sessionKey(renewed), record, start)
  const [established] = await Promise.all([
    renewed === 'unavailable' ? ('unavailable' as const) : begin(),
    removeFromIndex(site, oldKey, before),
  ])
  if (established !== 'done') await undoSignIn(context)
  return established
}

/** Undoes a failed login, so that the browser gets no cookie of a session that does not exist. */
async function undoSignIn({ site, req, stored }: RequestContext): Promise<void> {
  stored.forget()
  await site.sessions.end(req)
}

/** Moves the record of a session to a new ID; nothing is there where the session is logged out meanwhile. */
export async function moveSession(
  site: Site,
  stored: StoredRecord,
  newId: string,
): Promise<'moved' | 'nothing' | Unavailable> {
  const start = site.sessionIndex.startNow()
  const { key } = stored
  let { value } = stored
  const revoked = await stored.revoke(
    (found) => {
      value = found.value
      return mayMove(found)
    },
    'moved',
    newId,
  )
  if (revoked.outcome === 'unavailable') return revoked.outcome
  if (revoked.outcome === 'changed' || value === undefined) {
    stored.forget()
    return 'nothing'
  }
  const [began] = await Promise.all([
    beginSession(site, stored, sessionKey(newId), value, start),
    removeFromIndex(site, key, value),
  ])
  if (began === 'done') return 'moved'
  if (began === 'lost_race') stored.forget()
  return began === 'lost_race' ? 'nothing' : began
}
