/** Asks Session Status for one session: one caller at a time among all processes; the claim is a compare-and-set on the record. */
import { randomUUID } from 'node:crypto'
import { isLoggedIn, type SsoRecord, wantsTicket } from '../../decide/record'
import { type Identity, useStaleRecord } from '../../decide/request-decision'
import { afterFailedCheck, afterUnchangedCheck, decideStatus, withCheckLock } from '../../decide/status-check'
import { TokenError, type TokenFault } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import type { LoginStart } from '../../storage/session-index'
import { publish } from '../events'
import { deviceOf } from '../http/request-facts'
import type { RequestContext } from '../request-context'
import type { StoredRecord } from '../stored-record'
import { keepInIndex, removeFromIndex } from './sign-in'

/** `'again'`: the record has changed, or somebody else asks, so decide anew; else what may be shown, for the store takes no writes. */
export type CheckResult = 'again' | Identity
/** An answer that brought a ticket, for whoever can redeem it. @see settle */
export interface LoginToken {
  readonly token: SessionToken
  readonly start: LoginStart
  /** The name of the status check that brought it. */
  readonly question: string
}

/** Claims the check and asks. */
export async function checkSession(context: RequestContext, record: SsoRecord): Promise<CheckResult | LoginToken> {
  const { site, stored } = context
  const question = randomUUID()
  const claimedNow = withCheckLock(record, question, site.now())
  const start = site.sessionIndex.startNow()
  const claim = await stored.replace(claimedNow, site.sessions.dataLifeOf(context.req))
  if (claim === 'changed') return 'again'
  if (claim === 'unavailable') return useStaleRecord({ now: site.now() }, record, site.policy, 'store_unavailable')
  keepInIndex(site, stored.key, record)
  const { secrets } = stored
  if (!secrets) return endRecord(context, record.sidHash)
  const started = performance.now()
  const answer = await askSessionStatus(context, record, secrets.sid)
  const decision = decideStatus(record, answer)
  publish('check', {
    operation: 'sessionstatus',
    outcome: decision.action,
    durationMs: performance.now() - started,
    sidHash: record.sidHash,
    reason: 'reason' in decision ? decision.reason : undefined,
  })
  switch (decision.action) {
    case 'keep':
      return writeCheckResult(context, (found) => afterUnchangedCheck(found, site.now(), question))
    case 'sign_in':
      return { token: decision.token, start, question }
    case 'identify':
      return (await dropAnonymousRecord(context, record.sidHash)) ?? endRecord(context, record.sidHash)
    case 'keep_for_now':
      return writeCheckResult(context, (found) => afterFailedCheck(found, site.now(), question))
  }
}

/** The answer, or why it was refused; `undefined` when none came. */
async function askSessionStatus(
  context: RequestContext,
  record: SsoRecord,
  sid: string,
): Promise<SessionToken | TokenFault | undefined> {
  const { site, req } = context
  try {
    const lks = wantsTicket(record, site.now(), site.config.recheckSeconds) ? 'anon' : 'loggedin'
    return await site.client.sessionStatus({ sid, lks, ...deviceOf(req) })
  } catch (error) {
    return error instanceof TokenError ? error.reason : undefined
  }
}

/** Writes the result of the status check. If Redis takes no writes it holds for this request: without a response, within the grace period. */
export async function writeCheckResult(
  { site, stored }: RequestContext,
  next: (found: SsoRecord) => SsoRecord,
): Promise<CheckResult> {
  const written = await stored.update(next)
  if (written !== 'unavailable' || stored.value === undefined) return 'again'
  return useStaleRecord({ now: site.now() }, next(stored.value), site.policy, 'store_unavailable')
}

/** Drops the record of an anonymous session that the SSO system has forgotten: its data stays. @returns nothing if it is a login's now */
async function dropAnonymousRecord({ stored }: RequestContext, sidHash: string): Promise<CheckResult | undefined> {
  const dropped = await stored.drop(({ value }) => value?.sidHash === sidHash && !isLoggedIn(value))
  if (dropped === 'unavailable') return { record: undefined, degraded: 'store_unavailable' }
  return dropped === 'done' ? 'again' : undefined
}

/** The session has ended at the SSO system: whatever others have made of its record meanwhile, it ends here too. */
export async function endRecord({ stored, site, req }: RequestContext, sidHash: string): Promise<CheckResult> {
  const { key } = stored
  let { value } = stored
  const isIt = (found: StoredRecord) => {
    value = found.value
    return value?.sidHash === sidHash
  }
  const revoked = await stored.revoke(isIt, 'ended')
  if (revoked.outcome === 'unavailable') return { record: undefined, degraded: 'store_unavailable' }
  if (revoked.outcome === 'changed' && value?.sidHash !== sidHash) return 'again' // what is there now is another one's
  if (revoked.outcome === 'done') await removeFromIndex(site, key, value)
  await site.sessions.end(req)
  stored.forget()
  return 'again'
}
