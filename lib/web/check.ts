/** Asks Session Status for one session: one caller at a time among all processes; the claim is a compare-and-set on the record. */
import { setTimeout as sleep } from 'node:timers/promises'
import { claimed, confirmed, type SsoRecord, serialiseRecord, unanswered, wantsTicket } from '../decide/record'
import { decideStatus } from '../decide/status'
import { serveKnown, serveWhileAsked, tolerate, type VisitPolicy } from '../decide/visit'
import { TokenError, type TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import { StoreUnavailableError } from '../storage/unavailable'
import { publish, warn } from './events'
import { deviceOf } from './facts'
import { type Box, identify, lifeOf, openBox, signIn, stayAnonymous } from './sign-in'
import { setRecord, type Visit } from './visit'

/** A claim outlives one call and its retry, in seconds. */
const CLAIM_SPARE_SECONDS = 2
const POLL_MS = 25

/** The time rules of a site. */
export function policyOf({ config }: Visit['site']): VisitPolicy {
  const { recheckSeconds, graceSeconds, absoluteSeconds, timeoutMs } = config
  return {
    recheckSeconds,
    graceSeconds,
    absoluteSeconds,
    claimSeconds: Math.ceil(timeoutMs / 1000) + CLAIM_SPARE_SECONDS,
  }
}

/** What a check came to: the visit is settled, or its session has ended and the browser needs a new one. */
export type Checked = 'settled' | 'ended'

/** Claims the check and asks; whoever loses the claim waits or is served from the record. */
export async function check(visit: Visit, record: SsoRecord): Promise<Checked> {
  const box = openBox(visit, record)
  if (!box) return endRecord(visit)
  return (await claim(visit, record)) ? checkClaimed(visit, record, box) : waitForAnswer(visit, record)
}

/** As `check`, for a record that is only stale: while the store takes no writes, it is good for its grace. */
export async function checkStale(visit: Visit, record: SsoRecord): Promise<Checked> {
  const box = openBox(visit, record)
  if (!box) return endRecord(visit)
  try {
    if (!(await claim(visit, record))) return waitForAnswer(visit, record)
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    const { record: served } = tolerate({ now: visit.site.now() }, record, policyOf(visit.site))
    return settle(visit, { record: served, degraded: 'store_unavailable' })
  }
  return checkClaimed(visit, record, box)
}

/** True for the one who may ask. */
async function claim(visit: Visit, record: SsoRecord): Promise<boolean> {
  const { site, key, raw } = visit
  const text = serialiseRecord(claimed(record, site.now()))
  if (key === undefined || !(await site.records.replace(key, raw, text, lifeOf(visit, record)))) return false
  setRecord(visit, text)
  return true
}

async function checkClaimed(visit: Visit, record: SsoRecord, box: Box): Promise<Checked> {
  const started = performance.now()
  const answer = await ask(visit, record, box.sid)
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
      return keep(visit, record)
    case 'sign_in':
      return completeLogin(visit, record, decision.ticket.token)
    case 'identify':
      return endRecord(visit)
    case 'tolerate':
      return bear(visit, record)
  }
}

/** Nothing usable came: the record stays, and says so to the requests of the next seconds. */
async function bear(visit: Visit, record: SsoRecord): Promise<Checked> {
  const { site, key, raw } = visit
  const text = serialiseRecord(unanswered(record, site.now()))
  if (key && (await site.records.replace(key, raw, text, lifeOf(visit, record)))) setRecord(visit, text)
  else return readAgain(visit)
  return settle(visit, tolerate({ now: site.now() }, record, policyOf(site)))
}

/** The answer, or why it was refused; `undefined` when none came. */
async function ask(visit: Visit, record: SsoRecord, sid: string): Promise<SessionToken | TokenFault | undefined> {
  try {
    const needsTicket = wantsTicket(record, visit.site.now(), visit.site.config.recheckSeconds)
    const lks = needsTicket ? 'anon' : 'loggedin'
    return await visit.site.client.sessionStatus({ sid, lks, ...deviceOf(visit.req) })
  } catch (error) {
    if (!(error instanceof TokenError)) return undefined
    warn(`status:${error.reason}`, `an answer to Session Status was refused: ${error.reason}`)
    return error.reason
  }
}

async function keep(visit: Visit, record: SsoRecord): Promise<Checked> {
  const next = confirmed(record, visit.site.now())
  const text = serialiseRecord(next)
  if (visit.key && (await visit.site.records.replace(visit.key, visit.raw, text, lifeOf(visit, next))))
    setRecord(visit, text)
  else return readAgain(visit)
  return settle(visit, serveKnown(next))
}

/** The ticket names the user, or renews the access token; if that fails, a known login goes on and a new one stays pending. */
async function completeLogin(visit: Visit, record: SsoRecord, token: SessionToken): Promise<Checked> {
  try {
    const named = await identify(visit, token)
    return (await signIn(visit, named)) === 'done' ? 'settled' : readAgain(visit)
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    if (record.status === 'loggedin') return keep(visit, record)
    const sid = token.sid ?? openBox(visit, record)?.sid ?? ''
    if ((await stayAnonymous(visit, sid, true)) === 'lost_race') return readAgain(visit)
    visit.degraded = 'user_unknown'
    return 'settled'
  }
}

/** The session has ended, at the SSO system or by its age: the record goes, with the site's data. */
export async function endRecord(visit: Visit): Promise<Checked> {
  const { site, key, raw, record } = visit
  if (key && !(await site.records.bury(key, raw, 'ended'))) return readAgain(visit)
  if (key && record?.status === 'loggedin') await site.records.removeFromAccount(record.user.accountId, key)
  visit.key = undefined
  setRecord(visit, null)
  visit.served = undefined
  await site.sessions.end(visit.req)
  return 'ended'
}

/** Somebody else changed the record meanwhile: what stands there now counts. */
async function readAgain(visit: Visit): Promise<Checked> {
  setRecord(visit, visit.key ? await visit.site.records.read(visit.key) : null)
  if (!visit.record) return 'ended'
  return settle(visit, serveKnown(visit.record))
}

/** Another request is asking: within the grace the record is good enough, beyond it wait for the answer. */
export async function waitForAnswer(visit: Visit, record: SsoRecord): Promise<Checked> {
  const policy = policyOf(visit.site)
  const isWithinGrace = visit.site.now() - record.checkedAt < policy.recheckSeconds + policy.graceSeconds
  const deadline = Date.now() + (isWithinGrace ? 0 : policy.claimSeconds * 1000)
  const facts = () => ({ now: visit.site.now() })
  do {
    setRecord(visit, visit.key ? await visit.site.records.read(visit.key) : null)
    const found = visit.record
    if (!found) return 'ended'
    if (found.checkedAt > record.checkedAt) return settle(visit, serveKnown(found))
    if (isWithinGrace) return settle(visit, serveWhileAsked(facts(), found, policy))
    if (found.askingAt === undefined) return settle(visit, tolerate(facts(), found, policy))
    await sleep(POLL_MS)
  } while (Date.now() < deadline)
  return settle(visit, tolerate(facts(), record, policy))
}

function settle(
  visit: Visit,
  served: { readonly record?: SsoRecord | undefined; readonly degraded?: Visit['degraded'] },
): Checked {
  visit.served = served.record
  visit.degraded = served.degraded
  return 'settled'
}
