/** Logout: final here at once, whatever the SSO system answers; what it has not confirmed is kept and retried. Threats S12, F12. */
import { isMark, makeMark } from '../decide/binding'
import { parseRecord, type SsoRecord } from '../decide/record'
import { CONFIRMED, ENDED_SECONDS, sessionKey } from '../storage/records'
import { seal, unseal } from '../storage/seal'
import { StoreUnavailableError } from '../storage/unavailable'
import { dropCookie, readCookie, setCookie } from './cookies'
import { publish } from './events'
import { deviceOf } from './facts'
import { openBox } from './sign-in'
import type { Site } from './site'
import { setRecord, type Visit } from './visit'

/** What a logout came to at the SSO system; here it is done in any case. */
export type LogoutResult = 'confirmed' | 'pending' | 'nothing'

interface KeptLogout {
  readonly sid: string
  readonly aid?: string
  readonly ipa: string
  readonly uas: string
}

const RETRY_CLAIM_SECONDS = 2
/** Begins what stands in the signed-out cookie for a session that could not be read; no hash begins so. */
const UNREAD = '~'

/** Ends the browser's session, or all of the account's. */
export async function endSession(visit: Visit, isAll: boolean): Promise<LogoutResult> {
  const started = performance.now()
  const { record } = visit
  const result = await endHere(visit, isAll).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailableError)) throw error
    return endThere(visit, record)
  })
  publish('logout', {
    operation: isAll ? 'logoutall' : 'logout',
    outcome: result,
    durationMs: performance.now() - started,
    sidHash: record?.sidHash,
  })
  return result
}

async function endHere(visit: Visit, isAll: boolean): Promise<LogoutResult> {
  const { site, req, record, key } = visit
  if (!visit.isStoreAvailable || (!key && (await isLost(visit)))) return forgetUnread(visit)
  const result = key ? await endStored(visit, key, record, isAll) : 'nothing'
  visit.key = undefined
  setRecord(visit, null)
  visit.served = undefined
  await site.sessions.end(req)
  return result
}

/** Ends one stored session: here first, then at the SSO system, and later there if it does not answer. */
async function endStored(
  visit: Visit,
  key: string,
  record: SsoRecord | undefined,
  isAll: boolean,
): Promise<LogoutResult> {
  const { site } = visit
  await site.records.end(key)
  if (!record) return 'nothing'
  const accountId = record.status === 'loggedin' ? record.user.accountId : undefined
  await site.records.markSidEnded(record.sidHash)
  if (accountId !== undefined) await endOthers(site, accountId, key, isAll)
  const box = openBox(visit, record)
  if (!box) return 'nothing'
  const logout: KeptLogout = {
    sid: box.sid,
    ...(isAll && accountId !== undefined ? { aid: accountId } : {}),
    ...deviceOf(visit.req),
  }
  if (await isLoggedOutThere(site, logout)) return 'confirmed'
  await site.records.keepLogout(record.sidHash, seal(JSON.stringify(logout), site.config.boxKeys()), site.now() + 1)
  setSignedOut(visit, record.sidHash)
  site.logouts.start()
  return 'pending'
}

/** The store can be read and not written: the SSO session ends now, ours at the next contact. */
async function endThere(visit: Visit, record: SsoRecord | undefined): Promise<LogoutResult> {
  const box = record && openBox(visit, record)
  if (box) await isLoggedOutThere(visit.site, { sid: box.sid, ...deviceOf(visit.req) })
  visit.served = undefined
  return forgetUnread(visit)
}

/** Has the store forgotten the session that the browser names? Then nobody can end its SSO session, and Identify must not bring it back. */
async function isLost({ site, req }: Visit): Promise<boolean> {
  const [, id] = /^s(?::|%3A)([\w-]{43})\./.exec(readCookie(req, site.config.cookies.session) ?? '') ?? []
  return id !== undefined && (await site.records.read(sessionKey(id))) === null
}

/** Nobody knows the session now: its key goes into the signed-out cookie, to be ended at the next contact. */
function forgetUnread(visit: Visit): LogoutResult {
  setSignedOut(visit, UNREAD + (visit.unreadKey ?? visit.key ?? ''))
  dropCookie(visit.res, visit.site.config, visit.site.config.cookies.session)
  return 'pending'
}

async function endOthers(site: Site, accountId: string, own: string | undefined, isAll: boolean): Promise<void> {
  const keys = isAll ? await site.records.keysOfAccount(accountId) : []
  await Promise.all(keys.filter((key) => key !== own).map((key) => site.records.end(key)))
  await Promise.all((isAll ? keys : [own ?? '']).map((key) => site.records.removeFromAccount(accountId, key)))
}

async function isLoggedOutThere({ client }: Site, { sid, aid, ipa, uas }: KeptLogout): Promise<boolean> {
  try {
    const answer =
      aid === undefined ? await client.logout({ sid, ipa, uas }) : await client.logoutAll({ aid, ipa, uas })
    return answer.err === undefined || answer.err === 'session_not_found'
  } catch {
    return false
  }
}

function setSignedOut({ site, res }: Visit, sidHash: string): void {
  const { config } = site
  setCookie(
    res,
    config,
    config.cookies.signedOut,
    `${sidHash}.${makeMark(config.macKeys(), 'signed-out', sidHash, site.now())}`,
    ENDED_SECONDS,
  )
}

/** What this browser logged out of while the SSO system or the store was away: the SSO session's hash, or the key of a session not read. */
export function signedOutOf(visit: Visit): string | undefined {
  const { site, req } = visit
  if (forgotten.has(visit)) return undefined
  const [sidHash = '', ...mark] = (readCookie(req, site.config.cookies.signedOut) ?? '').split('.')
  const isOurs = isMark(site.config.macKeys(), 'signed-out', sidHash, mark.join('.'), site.now(), ENDED_SECONDS)
  return isOurs ? sidHash : undefined
}

/** What is known of a logout that was not confirmed: `unknown` when nobody can tell any more which session it was. */
export type KeptLogoutState = 'confirmed' | 'pending' | 'unknown'

/** Tries an unconfirmed logout again, one process at a time; `confirmed`: the browser may be identified again. */
export async function retryLogout(visit: Visit, signedOut: string): Promise<KeptLogoutState> {
  const isUnread = signedOut.startsWith(UNREAD)
  const state = isUnread
    ? await endUnread(visit, signedOut.slice(UNREAD.length))
    : await retryKept(visit.site, signedOut)
  if (state === 'confirmed') forgetSignedOut(visit)
  return state
}

/** First contact after the store came back. */
async function endUnread(visit: Visit, key: string): Promise<KeptLogoutState> {
  const record = key === '' ? undefined : parseRecord(await visit.site.records.read(key))
  const result = record ? await endStored(visit, key, record, false) : 'nothing'
  return result === 'nothing' ? 'unknown' : result
}

/** Visits on which the cookie that the browser sent does not count any more. */
const forgotten = new WeakSet<Visit>()

/** Pressing "log in" ends an unknown logout's mark: nobody can log it out any more. */
export function forgetSignedOut(visit: Visit): void {
  forgotten.add(visit)
  dropCookie(visit.res, visit.site.config, visit.site.config.cookies.signedOut)
}

async function retryKept(site: Site, sidHash: string): Promise<KeptLogoutState> {
  const kept = await site.records.keptLogout(sidHash)
  if (kept === null) return 'unknown'
  if (kept === CONFIRMED) return 'confirmed'
  if (!(await site.records.claimRetry(sidHash, RETRY_CLAIM_SECONDS))) return 'pending'
  const text = unseal(kept, site.config.boxKeys())
  if (text === undefined) return 'unknown'
  if (!(await isLoggedOutThere(site, JSON.parse(text)))) return 'pending'
  await site.records.confirmLogout(sidHash)
  return 'confirmed'
}

const FIRST_DELAYS_SECONDS = [1, 5, 30, 120]
const LATER_SECONDS = 120

/** Retries kept logouts in the background; begins with the first one. */
export function logoutQueue(site: Site): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let round = 0
  const next = () => {
    timer = setTimeout(run, (FIRST_DELAYS_SECONDS[round] ?? LATER_SECONDS) * 1000 * (1 + Math.random() / 10))
    timer.unref()
    round += 1
  }
  const run = async () => {
    try {
      const due = await site.records.takeDueLogouts(site.now(), site.now() + LATER_SECONDS)
      for (const sidHash of due) await retryKept(site, sidHash)
    } catch {
      // the store is away: the next round finds the queue as it was
    }
    next()
  }
  return {
    start: () => {
      if (timer && round < FIRST_DELAYS_SECONDS.length) return
      clearTimeout(timer)
      round = 0
      next()
    },
    stop: () => clearTimeout(timer),
  }
}
