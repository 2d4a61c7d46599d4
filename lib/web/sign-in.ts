/**
 * The only place where privilege changes: the old session dies first, then new session ID, record, session data, and only then the answer.
 * Ticket, access token, user and session ID travel in one chain of local variables. Threats L2, L9, L10.
 */
import type { SsoRecord, User } from '../decide/record'
import { parseRecord, serialiseRecord } from '../decide/record'
import { Sso2ResponseError } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import { PlatformApi } from '../remote/platform-api'
import { readGrant } from '../remote/ticket'
import { sessionKey, shortHash } from '../storage/records'
import { seal, unseal } from '../storage/seal'
import { HOOKS_MS, inTime } from './hooks'
import { readUser } from './user'
import { setRecord, type Visit } from './visit'

/** What is sealed in a record. */
export interface Box {
  readonly sid: string
  readonly accessToken?: string
}

/** A user with what the ticket brought. */
export interface Named {
  readonly user: User
  readonly box: Box
  /** End of the access token's life in seconds since 1970, where the authorization server told. */
  readonly accessUntil: number | undefined
}

/** What became of a change of privilege. */
export type Established = 'done' | 'lost_race'

const MAX_TRIES = 3

/** Opens a record's box; `undefined` when no key fits. */
export function openBox({ site }: Visit, record: SsoRecord): Box | undefined {
  const text = unseal(record.box, site.config.boxKeys())
  return text === undefined ? undefined : JSON.parse(text)
}

function makeRecord({ site, record }: Visit, box: Box): Omit<SsoRecord, 'status'> {
  const now = site.now()
  return {
    since: record?.since ?? now,
    checkedAt: now,
    sidHash: shortHash(box.sid),
    box: seal(JSON.stringify(box), site.config.boxKeys()),
  }
}

/** Stores an anonymous session. @param pending the SSO system says logged in, but the user could not be named yet */
export async function stayAnonymous(visit: Visit, sid: string, pending: boolean): Promise<Established> {
  const record: SsoRecord = { ...makeRecord(visit, { sid }), status: 'anon', ...(pending ? { pending: true } : {}) }
  return visit.record?.status === 'loggedin' ? establish(visit, record, false) : writeInPlace(visit, record)
}

/** Exchanges the token's ticket and names the user. Throws what the exchange, the REST API or the site's hooks throw. */
export async function identify({ site }: Visit, token: SessionToken): Promise<Named> {
  const { sid, at } = token
  if (sid === undefined || at === undefined) throw new Sso2ResponseError('token', undefined, 'no ticket')
  const signal = AbortSignal.timeout(HOOKS_MS)
  const { token: exchanges, user: names } = site.circuits
  const exchange = () => inTime('exchangeTicket', signal, async () => site.exchange(at, { sid, signal }))
  const grant = readGrant(await exchanges.runOnce('token', exchange), site.now())
  const accessToken = grant.token()
  const api = new PlatformApi({ apiUrl: site.config.apiUrl, accessToken })
  const name = () => inTime('identifyUser', signal, async () => site.identifyUser({ accessToken, api, sid }))
  const user = readUser(await names.runOnce('identifyUser', name))
  return { user, box: { sid, accessToken }, accessUntil: grant.expiresAt }
}

/** Logs a named user in: one function for landing, login form and Session Status. */
export async function signIn(visit: Visit, { user, box, accessUntil }: Named): Promise<Established> {
  const { site, record } = visit
  const isOther = record?.status === 'loggedin' && record.user.accountId !== user.accountId
  const since = isOther || !record ? site.now() : record.since
  const access = accessUntil === undefined ? {} : { accessUntil }
  const made: SsoRecord = { ...makeRecord(visit, box), since, status: 'loggedin', user, ...access }
  const isSame = record?.status === 'loggedin' && !isOther && record.sidHash === made.sidHash
  const established = isSame ? await writeInPlace(visit, made) : await establish(visit, made, !isOther)
  if (established === 'done' && visit.key)
    await site.records.addToAccount(user.accountId, visit.key, site.config.absoluteSeconds)
  return established
}

/** Same user, same session: only the record changes. A browser without a session gets one. */
async function writeInPlace(visit: Visit, record: SsoRecord): Promise<Established> {
  if (visit.key === undefined) return establish(visit, record, true)
  const text = serialiseRecord(record)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (await visit.site.records.replace(visit.key, visit.raw, text, lifeOf(visit, record))) return take(visit, text)
    if (!(await reread(visit)) || standingOf(visit.record) !== standingOf(record)) return 'lost_race'
  }
  return 'lost_race'
}

/** What may change only together with the session ID. */
function standingOf(record: SsoRecord | undefined): string | undefined {
  return record?.status === 'loggedin' ? `loggedin ${record.user.accountId}` : record?.status
}

/** New session ID: the old session is buried first, and whoever buries it wins. */
async function establish(visit: Visit, record: SsoRecord, keepData: boolean): Promise<Established> {
  const { site, req } = visit
  const data = keepData ? site.sessions.dataOf(req) : {}
  for (let tries = 0; visit.key !== undefined; tries += 1) {
    if (await site.records.bury(visit.key, visit.raw, 'moved')) break
    if (tries === MAX_TRIES || !(await reread(visit))) return 'lost_race'
  }
  const key = sessionKey(await site.sessions.renew(req, data, record.status === 'loggedin'))
  const text = serialiseRecord(record)
  if (!(await site.records.replace(key, null, text, lifeOf(visit, record)))) return 'lost_race'
  visit.key = key
  return take(visit, text)
}

/** Reads the record again after a lost compare-and-set. @returns false when the session is dead by now */
async function reread(visit: Visit): Promise<boolean> {
  if (visit.key === undefined) return false
  const raw = await visit.site.records.read(visit.key)
  setRecord(visit, raw)
  return parseRecord(raw) !== undefined
}

function take(visit: Visit, text: string): Established {
  setRecord(visit, text)
  visit.served = visit.record
  return 'done'
}

/** How long a record lives unused, in seconds. */
export function lifeOf({ site }: Visit, record: SsoRecord): number {
  const idle = record.status === 'loggedin' ? site.config.idleSeconds : site.config.anonymousIdleSeconds
  return Math.max(1, Math.min(idle, record.since + site.config.absoluteSeconds - site.now()))
}
