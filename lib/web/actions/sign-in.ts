/**
 * The only place where privilege changes: the old session dies first, then new session ID, record, lists, and only then the
 * answer. Who is told of a logout meanwhile buries his own work. Threats L2, L9, L10, L13.
 */

import { questionsAfter } from '../../decide/questions'
import {
  beginningOf,
  CURRENT_VERSION,
  isLoggedIn,
  isOtherAccount,
  isSameStanding,
  type LoggedInRecord,
  type SsoRecord,
  type User,
} from '../../decide/record'
import { isGone, mayFollow } from '../../decide/stored'
import { sessionKey, shortHash } from '../../storage/hashes'
import type { Beginning } from '../../storage/lists'
import type { Secrets } from '../../storage/records'
import type { Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'
import type { StoredRecord } from '../stored-record'
import type { Visit } from '../visit'

/** A user with what the ticket brought. */
export interface NamedUser {
  readonly user: User
  readonly secrets: Secrets
  /** End of the access token's life in seconds since 1970, where the authorization server told. */
  readonly accessUntil: number | undefined
}

/** What became of a change of privilege. `lost_race`: somebody else has changed the session, or logged it out, meanwhile. */
export type Established = 'done' | 'lost_race' | Unavailable

const MOST_TRIES = 4

function makeRecord({ site, stored }: Visit, secrets: Secrets, accountId?: string) {
  const now = site.now()
  return {
    v: CURRENT_VERSION,
    since: beginningOf(stored.value, accountId, now),
    checkedAt: now,
    sidHash: shortHash(secrets.sid),
    box: site.records.seal(secrets),
  }
}

interface Anonymous {
  readonly sid: string
  /** The SSO system says logged in, but the user could not be loaded yet. */
  readonly pending?: true
  /** Name of the browser that has just brought it, where it counts. */
  readonly browser?: string | undefined
  /** The name of the status check that says so, if one does. */
  readonly question?: string | undefined
}

/** Stores an anonymous session. */
export async function stayAnonymous(
  visit: Visit,
  { sid, pending, browser, question }: Anonymous,
): Promise<Established> {
  const more = { ...(pending ? { pending } : {}), ...(browser === undefined ? {} : { browser }) }
  const record: SsoRecord = { ...makeRecord(visit, { sid }), status: 'anon', ...more }
  return (await writeInPlace(visit, record, question)) ?? establish(visit, record, question)
}

/**
 * Logs a named user in: one function for landing, login form and Session Status.
 * @param question the name of the status check that brought the ticket, if one did
 * @returns `'renewed'` if this session was the same user's login already, and only its access token is new
 */
export async function signIn(
  visit: Visit,
  named: NamedUser,
  beginning: Beginning,
  question?: string,
): Promise<Established | 'renewed'> {
  const { user, secrets, accessUntil } = named
  const made = makeRecord(visit, secrets, user.accountId)
  const access = accessUntil === undefined ? {} : { accessUntil }
  const record: LoggedInRecord = { ...made, status: 'loggedin', user, ...access }
  const inPlace = await writeInPlace(visit, record, question)
  if (inPlace === undefined) return establishLogin(visit, record, beginning, question)
  return inPlace === 'done' ? 'renewed' : inPlace
}

/**
 * Same person, same session: only the record changes. A status check of another request stays in progress.
 * @returns nothing where a new session is needed
 */
async function writeInPlace(
  { stored }: Visit,
  record: SsoRecord,
  question: string | undefined,
): Promise<Established | undefined> {
  if (!isSameStanding(stored.value, record)) return undefined
  for (let tries = 0; tries < MOST_TRIES && isSameStanding(stored.value, record); tries += 1) {
    const written = await stored.replace({ ...record, ...questionsAfter(stored.value ?? {}, question) })
    if (written !== 'changed') return written
  }
  return 'lost_race'
}

/** A new session, entered in its lists; where it was logged out meanwhile it ends at once. */
async function establishLogin(
  visit: Visit,
  record: LoggedInRecord,
  beginning: Beginning,
  question: string | undefined,
): Promise<Established> {
  const { site, stored } = visit
  const [before, oldKey] = [stored.value, stored.key]
  const established = await establish(visit, record, question)
  if (established !== 'done' || stored.key === undefined) return established
  await leaveLists(site, oldKey, before)
  const entered = await enterLists(site, stored, record, beginning)
  if (entered !== 'done') await giveUp(visit)
  return entered
}

/** Enters a session in its lists; where it was logged out meanwhile it ends at once. */
export async function enterLists(
  site: Site,
  stored: StoredRecord,
  { sidHash, user, since }: LoggedInRecord,
  beginning: Beginning,
): Promise<Established> {
  const until = since + site.config.absoluteSeconds
  const entry = { key: stored.key ?? '', sidHash, accountId: user.accountId, until }
  const isOut = await site.lists.enter(entry, beginning)
  if (isOut === false) return 'done'
  await stored.buryWhile(({ value }) => value !== undefined, 'ended')
  if (isOut === true) await site.lists.leave(entry)
  return isOut === 'unavailable' ? isOut : 'lost_race'
}

/** Takes a session that has ended, or has another ID now, off its lists. */
export async function leaveLists(site: Site, key: string | undefined, record: SsoRecord | undefined): Promise<void> {
  if (!isLoggedIn(record) || key === undefined) return
  await site.lists.leave({ key, sidHash: record.sidHash, accountId: record.user.accountId })
}

/** New session ID: the old session is buried first, and whoever buries it wins; its data go along in the same step. */
async function establish(visit: Visit, record: SsoRecord, question: string | undefined): Promise<Established> {
  const { site, req, res, stored } = visit
  if (res.headersSent !== false) return 'lost_race' // the browser could not be told its new session
  const before = stored.value
  const keepsData = !isOtherAccount(before, record)
  const id = site.sessions.nextId(req)
  const wasThere = before !== undefined
  const buried = isGone(stored)
    ? ({ did: 'done', taken: null } as const)
    : await stored.buryWhile((found) => mayFollow(found, wasThere), 'moved', id)
  if (buried.did !== 'done') return buried.did === 'changed' ? 'lost_race' : buried.did
  const made = question === undefined ? record : { ...record, asked: question }
  const next = { id, taken: buried.taken, keepsData, isLoggedIn: isLoggedIn(record) }
  const renewed = await site.sessions.renew(req, next)
  const written = renewed === 'unavailable' ? renewed : await stored.begin(sessionKey(renewed), made)
  if (written === 'done') return 'done'
  await giveUp(visit)
  return written === 'changed' ? 'lost_race' : written
}

/** Nothing came of it: no cookie of a session that is not there. */
async function giveUp({ site, req, stored }: Visit): Promise<void> {
  stored.forget()
  await site.sessions.end(req)
}
