/** Asks the SSO system for the status of a session, once for all processes. Interface: "POST {sso_url}/sessionstatus". */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DegradedReason, type Identity, show } from '../../decide/identity'
import { ageOf, isLoggedIn, isStale, lifetimeOf, needsTicket, type SsoRecord } from '../../decide/record'
import { decideStatus } from '../../decide/status-check'
import { TokenError, type TokenFault } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import { accountName } from '../../storage/account-index'
import { checkLockMs } from '../../storage/locks'
import { shortHash } from '../../storage/site-store'
import type { Context } from '../context'
import { publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import { exchangeTicket } from './exchange-ticket'

const POLL_MS = 50

/**
 * Checks the status of the session. A request makes at most one status check.
 * @param isFresh makes a call of its own, at any age of the last one
 * @returns `'no_answer'` if the record may only be shown within the grace period
 */
export async function checkStatus(ctx: Context, isFresh: boolean): Promise<'settled' | 'no_answer'> {
  const { site, session, record } = ctx
  const { key = '' } = session
  const { clock, timeoutMs } = site.config
  if (!record || !site.client.isAvailable) return 'no_answer'
  if (!isFresh) {
    const check = await site.locks.takeCheck(key, record.checkedAt, timeoutMs)
    if (check === 'failed') return 'no_answer'
    if (check === 'begun') return isWithinGrace(ctx, record) ? 'settled' : waitForCheck(ctx)
  }
  const sid = site.records.open(record)?.sid
  if (sid === undefined) {
    await endSession(ctx) // no secret of this process fits
    return 'settled'
  }
  const startedAt = clock.now()
  const began = performance.now()
  const decision = decideStatus(record, await site.runningOperations.run(() => askStatus(ctx, record, sid)))
  publish('check', {
    operation: 'sessionstatus',
    outcome: decision.action,
    durationMs: performance.now() - began,
    sidHash: record.sidHash,
    reason: 'reason' in decision ? decision.reason : undefined,
  })
  switch (decision.action) {
    case 'no_answer':
      if (!isFresh) await site.locks.failCheck(key, record.checkedAt, timeoutMs)
      return 'no_answer'
    case 'keep':
      await keep(ctx, record)
      break
    case 'sign_in':
      await signInAfterCheck(ctx, record, decision.token, startedAt)
      break
    case 'over':
      await endSession(ctx)
  }
  return 'settled'
}

/** @returns the response, or the reason why it was refused. `undefined` without a response */
async function askStatus(
  { site, req }: Context,
  record: SsoRecord,
  sid: string,
): Promise<SessionToken | TokenFault | undefined> {
  const lks = needsTicket(record, site.now(), site.config.recheckSeconds) ? 'anon' : 'loggedin' // with `anon` a login comes with a ticket
  try {
    return await site.client.sessionStatus({ sid, lks, ...deviceOf(req) })
  } catch (error) {
    return error instanceof TokenError ? error.reason : undefined
  }
}

/** Records the status. The lock of the check is for the status before, so it needs no end. */
async function keep(ctx: Context, record: SsoRecord): Promise<void> {
  const checkedAt = ctx.site.now()
  await ctx.update(isLoggedIn(record) ? { checkedAt } : { checkedAt, pending: undefined })
}

/** Exchanges the ticket, to load the user or to renew the access token. After the headers are sent, the session ID cannot change. */
async function signInAfterCheck(
  ctx: Context,
  record: SsoRecord,
  token: SessionToken,
  startedAt: number,
): Promise<void> {
  if (!isLoggedIn(record) && ctx.res.headersSent !== false) return checkNext(ctx)
  const { outcome } = await exchangeTicket(ctx, token, startedAt)
  if (outcome === 'user_unknown' && isLoggedIn(record)) await keep(ctx, record)
  if (outcome === 'too_late') await endSession(ctx)
}

/** Lets the next request check the status. */
export async function checkNext(ctx: Context): Promise<void> {
  await ctx.update({ checkedAt: 0 })
}

/** Waits for the check of another request or process, which the session needs. */
async function waitForCheck(ctx: Context): Promise<'settled' | 'no_answer'> {
  const { site, session } = ctx
  for (const end = performance.now() + checkLockMs(site.config.timeoutMs); performance.now() < end; ) {
    await sleep(POLL_MS)
    await ctx.reread()
    const { record } = ctx
    if (!record || !isStale(record, site.now(), site.config.recheckSeconds)) return 'settled'
    if (!(await site.locks.isBeingChecked(session.key ?? '', record.checkedAt))) break
  }
  return 'no_answer'
}

function isWithinGrace({ site }: Context, record: SsoRecord): boolean {
  const { recheckSeconds, graceSeconds } = site.config
  return ageOf(record.checkedAt, site.now()) < recheckSeconds + graceSeconds
}

/** Shows a record without a usable response: a login within the grace period, an anonymous session always. */
export function showStale(ctx: Context, reason: DegradedReason): Identity {
  const { record } = ctx
  return show(record && (!isLoggedIn(record) || isWithinGrace(ctx, record)) ? record : undefined, reason)
}

/** Ends the session on this site, because the SSO session is over. An anonymous session keeps its data, and an empty record. Threat S7. */
export async function endSession(ctx: Context): Promise<void> {
  const { site, session, record } = ctx
  const { key } = session
  if (key === undefined || !record) return
  if (isLoggedIn(record)) {
    const account = accountName(record.user.accountId)
    await site.records.end(key, { next: '', sidHash: record.sidHash, account })
    return session.leave('drop_cookie')
  }
  await ctx.reread()
  if (ctx.record?.sidHash !== record.sidHash) return // a newer session has begun in its place
  await site.records.empty(key, lifetimeOf(undefined, site.now(), site.config))
  session.entry = { state: 'empty' }
}

/**
 * Drops an anonymous session that another browser began. A login would log in the other browser too, and its login would log in this one. So the
 * visitor gets a new session. Threats L2, S1.
 */
export async function dropSessionOfOtherBrowser(ctx: Context): Promise<void> {
  if (isOfOtherBrowser(ctx)) await endSession(ctx)
  if (isOfOtherBrowser(ctx)) await ctx.session.leave('drop_cookie') // another one has begun in its place
}

function isOfOtherBrowser({ session, record, binding }: Context): boolean {
  if (!session.isExternal || record?.status !== 'anon' || record.browser === undefined) return false
  return binding === undefined || record.browser !== shortHash(binding)
}
