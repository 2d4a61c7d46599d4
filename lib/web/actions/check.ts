/** Asks Session Status for one session: one caller at a time among all processes; the claim is a compare-and-set on the record. */
import { randomUUID } from 'node:crypto'
import { claimed, confirmed, unanswered } from '../../decide/questions'
import { isLoggedIn, type SsoRecord, wantsTicket } from '../../decide/record'
import { decideStatus } from '../../decide/status'
import { type Shown, showUnchecked } from '../../decide/visit'
import { TokenError, type TokenFault } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import type { LoginStart } from '../../storage/session-index'
import { publish } from '../events'
import { deviceOf } from '../http/request-facts'
import type { StoredRecord } from '../stored-record'
import type { Visit } from '../visit'
import { keepInIndex, removeFromIndex } from './sign-in'

/** `'again'`: the record has changed, or somebody else asks, so decide anew; else what may be shown, for the store takes no writes. */
export type Checked = 'again' | Shown
/** An answer that brought a ticket, for whoever can redeem it. @see settle */
export interface Ticket {
  readonly token: SessionToken
  readonly start: LoginStart
  /** The name of the status check that brought it. */
  readonly question: string
}

/** Claims the check and asks. */
export async function check(visit: Visit, record: SsoRecord): Promise<Checked | Ticket> {
  const { site, stored } = visit
  const question = randomUUID()
  const claimedNow = claimed(record, question, site.now())
  const start = site.sessionIndex.startNow()
  const claim = await stored.replace(claimedNow, site.sessions.dataLifeOf(visit.req))
  if (claim === 'changed') return 'again'
  if (claim === 'unavailable') return showUnchecked({ now: site.now() }, record, site.policy, 'store_unavailable')
  keepInIndex(site, stored.key, record)
  const { secrets } = stored
  if (!secrets) return endRecord(visit, record.sidHash)
  const started = performance.now()
  const answer = await ask(visit, record, secrets.sid)
  const decision = decideStatus(record, answer)
  publish('check', {
    operation: 'sessionstatus',
    outcome: decision.do,
    durationMs: performance.now() - started,
    sidHash: record.sidHash,
    reason: 'because' in decision ? decision.because : undefined,
  })
  switch (decision.do) {
    case 'keep':
      return writeAnswer(visit, (found) => confirmed(found, site.now(), question))
    case 'sign_in':
      return { token: decision.token, start, question }
    case 'identify':
      return (await dropAnonymous(visit, record.sidHash)) ?? endRecord(visit, record.sidHash)
    case 'keep_for_now':
      return writeAnswer(visit, (found) => unanswered(found, site.now(), question))
  }
}

/** The answer, or why it was refused; `undefined` when none came. */
async function ask(visit: Visit, record: SsoRecord, sid: string): Promise<SessionToken | TokenFault | undefined> {
  const { site, req } = visit
  try {
    const lks = wantsTicket(record, site.now(), site.config.recheckSeconds) ? 'anon' : 'loggedin'
    return await site.client.sessionStatus({ sid, lks, ...deviceOf(req) })
  } catch (error) {
    return error instanceof TokenError ? error.reason : undefined
  }
}

/** Writes the result of the status check. If Redis takes no writes it holds for this request: without a response, within the grace period. */
export async function writeAnswer({ site, stored }: Visit, next: (found: SsoRecord) => SsoRecord): Promise<Checked> {
  const written = await stored.update(next)
  if (written !== 'unavailable' || stored.value === undefined) return 'again'
  return showUnchecked({ now: site.now() }, next(stored.value), site.policy, 'store_unavailable')
}

/** Drops the record of an anonymous session that the SSO system has forgotten: its data stays. @returns nothing if it is a login's now */
async function dropAnonymous({ stored }: Visit, sidHash: string): Promise<Checked | undefined> {
  const dropped = await stored.drop(({ value }) => value?.sidHash === sidHash && !isLoggedIn(value))
  if (dropped === 'unavailable') return { record: undefined, degraded: 'store_unavailable' }
  return dropped === 'done' ? 'again' : undefined
}

/** The session has ended at the SSO system: whatever others have made of its record meanwhile, it ends here too. */
export async function endRecord({ stored, site, req }: Visit, sidHash: string): Promise<Checked> {
  const { key } = stored
  let { value } = stored
  const isIt = (found: StoredRecord) => {
    value = found.value
    return value?.sidHash === sidHash
  }
  const revoked = await stored.revoke(isIt, 'ended')
  if (revoked.did === 'unavailable') return { record: undefined, degraded: 'store_unavailable' }
  if (revoked.did === 'changed' && value?.sidHash !== sidHash) return 'again' // what is there now is another one's
  if (revoked.did === 'done') await removeFromIndex(site, key, value)
  await site.sessions.end(req)
  stored.forget()
  return 'again'
}
