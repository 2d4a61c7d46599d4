/** Asks the SSO system for the status of a session, once for all processes. Interface: "POST {sso_url}/sessionstatus". */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DegradedReason, type Identity, show } from '../../decide/identity'
import { ageOf, isLoggedIn, isStale, lifetimeOf, needsTicket, type SsoRecord } from '../../decide/record'
import { decideStatus } from '../../decide/status-check'
import { TokenError, type TokenFault } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import { accountName } from '../../storage/account-index'
import { checkLockMs } from '../../storage/locks'
import { unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import { exchangeTicket } from './exchange-ticket'

const POLL_MS = 50

/**
 * Checks the status of the session. A request makes at most one status check.
 * @param isFresh makes a call of its own, at any age of the last one
 * @returns the identity to show, or `undefined` if the session is verified, or over
 */
export async function checkStatus(ctx: Context, isFresh: boolean): Promise<Identity | undefined> {
  const { site, session } = ctx
  const { record } = ctx
  const key = session.key ?? ''
  if (!record || !site.client.isAvailable) return showStale(ctx)
  if (!isFresh) {
    const taken = await takeCheck(ctx, record)
    if (taken === 'failed') return showStale(ctx)
    if (taken === 'begun') return isWithinGrace(ctx, record) ? show(record) : waitForCheck(ctx) // another request asks meanwhile
  }
  if (!site.records.open(record)) return endSession(ctx) // no secret of this process fits
  const startedAt = site.config.clock.now()
  const began = performance.now()
  const decision = decideStatus(record, await site.runningOperations.run(() => askStatus(ctx, record)))
  publish('check', {
    operation: 'sessionstatus',
    outcome: decision.action,
    durationMs: performance.now() - began,
    sidHash: record.sidHash,
    reason: 'reason' in decision ? decision.reason : undefined,
  })
  switch (decision.action) {
    case 'no_answer':
      if (!isFresh) await site.locks.failCheck(key, record.checkedAt, site.config.timeoutMs, site.config.clock.now())
      return showStale(ctx)
    case 'keep':
      return keep(ctx, record)
    case 'sign_in':
      return signInAfterCheck(ctx, record, decision.token, startedAt)
    case 'over':
      return endSession(ctx)
  }
}

const takeCheck = ({ site: { locks, config }, session }: Context, { checkedAt }: SsoRecord) =>
  locks.takeCheck(session.key ?? '', checkedAt, config.timeoutMs, config.clock.now())

/** @returns the response, or the reason why it was refused. `undefined` without a response */
async function askStatus(ctx: Context, record: SsoRecord): Promise<SessionToken | TokenFault | undefined> {
  const { site, req } = ctx
  const sid = site.records.open(record)?.sid
  if (sid === undefined) return undefined
  const lks = needsTicket(record, site.now(), site.config.recheckSeconds) ? 'anon' : 'loggedin' // with `anon` a login comes with a ticket
  try {
    return await site.client.sessionStatus({ sid, lks, ...deviceOf(req) })
  } catch (error) {
    return error instanceof TokenError ? error.reason : undefined
  }
}

/** Records the status. The lock of the check is for the status before, so it needs no end. */
async function keep(ctx: Context, record: SsoRecord): Promise<Identity | undefined> {
  const { site } = ctx
  const checkedAt = site.now()
  const changes = isLoggedIn(record) ? { checkedAt } : { checkedAt, pending: undefined }
  const isWritten = await unlessUnavailable(() => ctx.update(changes))
  return isWritten === 'unavailable' ? show({ ...record, checkedAt }, 'store_unavailable') : undefined // only this request uses the answer
}

/** Exchanges the ticket, to load the user or to renew the access token. After the headers are sent, the session ID cannot change. */
async function signInAfterCheck(
  ctx: Context,
  record: SsoRecord,
  token: SessionToken,
  startedAt: number,
): Promise<Identity | undefined> {
  if (!isLoggedIn(record) && ctx.res.headersSent !== false) {
    await checkNext(ctx)
    return show(record)
  }
  const { outcome } = await exchangeTicket(ctx, token, startedAt)
  if (outcome === 'user_unknown' && isLoggedIn(record)) return keep(ctx, record)
  if (outcome === 'too_late') return endSession(ctx)
  return undefined
}

/** Lets the next request check the status. */
export async function checkNext(ctx: Context): Promise<void> {
  await Promise.all([ctx.update({ checkedAt: 0 }), ctx.site.locks.endCheck(ctx.session.key ?? '', 0)])
}

/** Waits for the check of another request or process, which the session needs. */
async function waitForCheck(ctx: Context): Promise<Identity | undefined> {
  const { site, session } = ctx
  for (const end = performance.now() + checkLockMs(site.config.timeoutMs); performance.now() < end; ) {
    await sleep(POLL_MS)
    await ctx.reread()
    const { record } = ctx
    if (!record || !isStale(record, site.now(), site.config.recheckSeconds)) return undefined
    if (!(await site.locks.isBeingChecked(session.key ?? '', record.checkedAt))) break
  }
  return showStale(ctx)
}

function isWithinGrace({ site }: Context, record: SsoRecord): boolean {
  const { recheckSeconds, graceSeconds } = site.config
  return ageOf(record.checkedAt, site.now()) < recheckSeconds + graceSeconds
}

/** Shows a record without a usable response: a login within the grace period, an anonymous session always. */
export function showStale(ctx: Context, reason: DegradedReason = 'sso_unavailable'): Identity {
  const { record } = ctx
  return show(record && (!isLoggedIn(record) || isWithinGrace(ctx, record)) ? record : undefined, reason)
}

/** Ends the session on this site, because the SSO session is over. An anonymous session keeps its data, and an empty record. Threat S7. */
export async function endSession(ctx: Context): Promise<undefined> {
  const { site, session, record } = ctx
  const { key } = session
  if (key === undefined || !record) return undefined
  if (isLoggedIn(record)) {
    const account = accountName(record.user.accountId)
    await site.records.end(key, { next: '', sidHash: record.sidHash, account })
    await session.leave('drop_cookie')
    return undefined
  }
  await ctx.reread()
  if (ctx.record?.sidHash !== record.sidHash) return undefined // a newer session has begun in its place
  await site.records.empty(key, lifetimeOf(undefined, site.now(), site.config))
  session.entry = { state: 'empty' }
  return undefined
}
