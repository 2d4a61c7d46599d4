/**
 * Changes the privilege of a session. No other code does. The old session ends first. The new session ID, record and index entries follow, and
 * last the response. If a login finds a logout, the login ends the session that it has just begun. Threats L2, L9, L10, L13.
 */
import {
  CURRENT_VERSION,
  hasMovedOrEnded,
  indexLifeOf,
  isLoggedIn,
  isOtherAccount,
  isSameLogin,
  type LoggedInRecord,
  mayBeReplaced,
  mayMove,
  mustRenewIndex,
  type SsoRecord,
  sessionStart,
  type User,
  withRecordedClaims,
} from '../../decide/record'
import { checkStateAfter } from '../../decide/status-check'
import type { SessionToken } from '../../protocol/session-token'
import type { Secrets } from '../../storage/records'
import type { Entry, LoginStart, Surplus } from '../../storage/session-index'
import { sessionKey, shortHash, type Unavailable } from '../../storage/site-store'
import type { RequestContext } from '../request-context'
import type { Site } from '../site'
import { StoredRecord } from '../stored-record'

/** A user, and the secrets of the login. */
export interface LoadedUser {
  readonly user: User
  /** The Session Token that reports the login. */
  readonly token: SessionToken
  readonly secrets: Secrets
  /** Expiry of the access token in seconds since 1970, if the authorization server sent an expiry. */
  readonly accessUntil: number | undefined
}

/**
 * The outcome of a change of privilege. `lost_race`: another request has changed the session, or logged it out, in the meantime. `too_late`:
 * the response headers are sent, so the browser can get no cookie of a new session. Nothing is changed.
 */
export type SignInResult = 'done' | 'lost_race' | 'too_late' | Unavailable

function makeRecord({ site, stored }: RequestContext, secrets: Secrets, accountId?: string, checkedAt?: number) {
  const now = site.now()
  return {
    v: CURRENT_VERSION,
    since: sessionStart(stored.value, accountId, now),
    checkedAt: checkedAt ?? now,
    sidHash: shortHash(secrets.sid),
    sealedSecrets: site.records.seal(secrets),
  }
}

interface Anonymous {
  readonly sid: string
  /** Time of the report by the SSO system, in seconds since 1970. Default: now. */
  readonly checkedAt?: number
  /** The SSO system reports a login, but the user could not be loaded yet. */
  readonly pending?: true
  readonly browser?: string | undefined
  /** Name of the status check with the report, if any. */
  readonly checkId?: string | undefined
}

/** Stores an anonymous session. */
export async function beginAnonymousSession(
  context: RequestContext,
  { sid, checkedAt, pending, browser, checkId }: Anonymous,
): Promise<SignInResult> {
  const more = { ...(pending ? { pending } : {}), ...(browser === undefined ? {} : { browser }) }
  const record: SsoRecord = { ...makeRecord(context, { sid }, undefined, checkedAt), status: 'anon', ...more }
  return (await writeInPlace(context, record, checkId)) ?? storeRecord(context, withEndedCheck(record, checkId))
}

/**
 * Logs a user in. Landing, login form and status check all use this function.
 * @param checkId name of the status check that returned the ticket, if any
 * @returns `'renewed'` if the session was already a login of the same user, and only the access token is new
 */
export async function signInUser(
  context: RequestContext,
  loaded: LoadedUser,
  start: LoginStart,
  checkId?: string,
): Promise<SignInResult | 'renewed'> {
  const { user, token, secrets, accessUntil } = loaded
  const made = makeRecord(context, secrets, user.accountId)
  const access = accessUntil === undefined ? {} : { accessUntil }
  const record = withRecordedClaims({ ...made, status: 'loggedin', user, ...access }, token)
  const inPlace = await writeInPlace(context, record, checkId)
  if (inPlace === undefined) return storeRecord(context, withEndedCheck(record, checkId), start)
  return inPlace === 'done' ? 'renewed' : inPlace
}

const withEndedCheck = <T extends SsoRecord>(record: T, checkId: string | undefined): T =>
  checkId === undefined ? record : { ...record, lastCheckId: checkId }

/**
 * Changes only the record, if the user and the SSO session are the same. A status check of another request stays in progress.
 * @returns `undefined` if a new session is needed
 */
async function writeInPlace(
  { site, stored }: RequestContext,
  record: SsoRecord,
  checkId: string | undefined,
): Promise<SignInResult | undefined> {
  if (!isSameLogin(stored.value, record)) return undefined
  if (stored.value) renewIndexEntries(site, stored.key, stored.value)
  // another user always gets a new session ID: the record of a session never changes its user
  const written = await stored.update((found) => ({ ...record, ...checkStateAfter(found, checkId) }))
  return written === 'done' || written === 'unavailable' ? written : 'lost_race'
}

/** Removes a session from its indexes, after the session has ended or moved to a new ID. */
export async function removeFromIndex(site: Site, key: string | undefined, record: SsoRecord | undefined) {
  if (isLoggedIn(record) && key !== undefined) await site.sessionIndex.remove(entryOf(key, record))
}

/** Renews the index entries of a session, once a period. The request does not wait for the renewal. */
export function renewIndexEntries(site: Site, key: string | undefined, record: SsoRecord): void {
  const now = site.now()
  if (key === undefined || !isLoggedIn(record) || !mustRenewIndex(record, now, site.config)) return
  site.sessionIndex.renew(entryOf(key, record), indexLifeOf(record, now, site.config)).catch(() => {})
}

const entryOf = (key: string, { sidHash, user: { accountId } }: LoggedInRecord) => ({ key, sidHash, accountId })

/**
 * Begins a session. The record and the index entries are written in parallel. If a logout finds an entry before the record is written, the
 * logout leaves a deleted-session marker, and no record can replace the marker. An earlier logout is read with the entries.
 */
async function beginSession(
  site: Site,
  stored: StoredRecord,
  key: string,
  record: SsoRecord,
  start: LoginStart | undefined,
): Promise<Exclude<SignInResult, 'too_late'>> {
  const [written, added] = await Promise.all([stored.begin(key, record), addToIndex(site, key, record, start)])
  if (written === 'done' && added !== 'unavailable' && !added.isRevoked) {
    if (isLoggedIn(record)) for (const surplus of added.surplus) await endSurplus(site, entryOf(key, record), surplus)
    return 'done'
  }
  if (written === 'done') await stored.writeMarker(({ value }) => value !== undefined, 'ended')
  if (added !== 'unavailable') await removeFromIndex(site, key, record)
  return written === 'unavailable' || added === 'unavailable' ? 'unavailable' : 'lost_race'
}

async function addToIndex(site: Site, key: string, record: SsoRecord, start: LoginStart | undefined) {
  if (!isLoggedIn(record) || start === undefined) return { isRevoked: false, surplus: [] }
  return site.sessionIndex.add(entryOf(key, record), indexLifeOf(record, site.now(), site.config), start)
}

/**
 * Stores the record under a new session ID. The old session is revoked first, and its data are taken in the same step. Only the
 * request that revokes the session continues.
 */
async function storeRecord(context: RequestContext, record: SsoRecord, start?: LoginStart): Promise<SignInResult> {
  const { site, req, res, stored } = context
  if (res.headersSent !== false) return 'too_late'
  const [before, oldKey] = [stored.value, stored.key]
  const keepsData = !isOtherAccount(before, record)
  const id = site.sessions.nextId(req, record.sidHash)
  const hadRecord = before !== undefined
  const revoked = hasMovedOrEnded(stored)
    ? ({ outcome: 'done', taken: null } as const)
    : await stored.writeMarker((found) => mayBeReplaced(found, hadRecord), 'moved', id)
  if (revoked.outcome !== 'done') return revoked.outcome === 'changed' ? 'lost_race' : revoked.outcome
  const accountId = isLoggedIn(record) ? record.user.accountId : undefined
  const next = { id, taken: revoked.taken, keepsData, accountId }
  const renewed = await site.sessions.renew(req, next)
  const begin = () => beginSession(site, stored, sessionKey(renewed), record, start)
  const [established] = await Promise.all([
    renewed === 'unavailable' ? ('unavailable' as const) : begin(),
    removeFromIndex(site, oldKey, before),
  ])
  if (established !== 'done') {
    stored.forget()
    await site.sessions.replaceWithEmptySession(req) // the browser must get no cookie of a session that does not exist
  }
  return established
}

/** Moves the record of a session to a new ID. @returns `'nothing'` if there is no record to move, for example after a logout */
export async function moveSession(
  site: Site,
  stored: StoredRecord,
  newId: string,
): Promise<'moved' | 'nothing' | Unavailable> {
  const start = site.sessionIndex.startNow()
  const { key } = stored
  let { value } = stored
  const revoked = await stored.writeMarker(
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

/** Ends the surplus sessions of an index, the least recently used first. @param added the new session that exceeded the limit */
async function endSurplus(site: Site, added: Entry, { count, candidates }: Surplus): Promise<void> {
  const found = await Promise.all(candidates.map((key) => readCandidate(site, added, key)))
  const used = found.filter((one) => one !== undefined).sort((a, b) => a.usedAt - b.usedAt)
  await Promise.all(used.slice(0, count).map(({ end }) => end()))
}

async function readCandidate(site: Site, { sidHash, accountId }: Entry, key: string) {
  const stored = new StoredRecord(site, key, 'unavailable')
  if ((await stored.reread()) === 'unavailable') return undefined
  const { value } = stored
  const end = async () => {
    if (value !== undefined && (await stored.writeMarker((found) => found.value === value, 'ended')).outcome !== 'done')
      return // in use
    const entry = isLoggedIn(value)
      ? { sidHash: value.sidHash, accountId: value.user.accountId }
      : { sidHash, accountId }
    await site.sessionIndex.remove({ key, ...entry })
  }
  return { usedAt: value?.checkedAt ?? 0, end }
}
