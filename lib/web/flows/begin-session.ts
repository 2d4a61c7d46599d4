/**
 * Logs in the user of a ticket, begins sessions, and ends the ones that they follow. No other code changes the user of a browser. The order of
 * steps is what keeps a login and a logout that happen at once from missing each other: docs/internals/architecture.md, "Begin a session". User,
 * secrets and session ID stay in local variables, so that parallel logins cannot mix them up. Interface: "SSO2", point 3. Threats L2, L9, L10, L13.
 */
import {
  type AnonymousRecord,
  isLoggedIn,
  isSameLogin,
  lifetimeOf,
  RECORD_VERSION,
  type SsoRecord,
} from '../../decide/record'
import type { EpochMs } from '../../protocol/claims'
import type { TicketToken } from '../../protocol/session-token'
import { accountOf, namesOf } from '../../storage/account-index'
import { newSessionId, sessionKey, shortHash } from '../../storage/site-store'
import type { Context } from '../context'
import { callListener } from '../hooks'
import { logOutSsoSession } from './log-out'
import { type LoadedUser, userOfTicket } from './ticket-user'

/**
 * `done`: a session has begun. `renewed`: the browser's session was updated in place. `not_renewed`: it was and is, but the ticket could not be used.
 * `user_unknown`: the ticket could not be used, so the SSO session is stored and checked again after 30 s. `lost`: another request has moved or
 * ended the session. `voided`: the login was logged out in the meantime. `too_late`: the response headers are sent, so the browser can get no cookie.
 */
type BeginOutcome = 'done' | 'renewed' | 'not_renewed' | 'user_unknown' | 'lost' | 'voided' | 'too_late'

/** Does the browser have the session? */
export const hasBegun = (outcome: BeginOutcome) => outcome === 'done' || outcome === 'renewed'

/**
 * Exchanges the ticket of a token, and logs the user in. Landing, login form and status check all use this function.
 * @param startedAt when the attempt began that led to the token, before it was requested
 * @throws {Sso2UnavailableError} if Redis does not answer
 */
export async function logInByTicket(ctx: Context, token: TicketToken, startedAt: EpochMs): Promise<BeginOutcome> {
  const loaded = await userOfTicket(ctx.site, token)
  if (!loaded) return rememberUnknown(ctx, token.sid, startedAt)
  const outcome = await beginLogin(ctx, loaded, startedAt)
  const { onLogin, config } = ctx.site
  if (onLogin && outcome === 'done') await callListener('onLogin', config.log, () => onLogin(ctx.req, loaded.user))
  return outcome
}

/** Keeps a known login of the same SSO session. Any other session is stored as pending. */
async function rememberUnknown(ctx: Context, sid: string, startedAt: EpochMs): Promise<BeginOutcome> {
  const { record } = ctx
  if (isLoggedIn(record) && record.sidHash === shortHash(sid)) return 'not_renewed'
  const outcome = await beginAnonymous(ctx, sid, { startedAt, pending: true })
  return hasBegun(outcome) ? 'user_unknown' : outcome
}

async function beginLogin(ctx: Context, loaded: LoadedUser, startedAt: EpochMs): Promise<BeginOutcome> {
  const { site, record: before } = ctx
  const { user, secrets, accessUntil } = loaded
  const [sidHash, checkedAt] = [shortHash(secrets.sid), site.now()]
  const known = { user, sealed: site.records.seal(secrets), checkedAt, accessUntil }
  if (isSameLogin(before, sidHash, user.accountId)) return (await ctx.update(known)) ? 'renewed' : 'lost'
  const isOther = isLoggedIn(before) && before.user.accountId !== user.accountId
  const since = isOther ? checkedAt : (before?.since ?? checkedAt)
  const record: SsoRecord = { v: RECORD_VERSION, status: 'loggedin', since, startedAt, sidHash, ...known }
  const outcome = await moveTo(ctx, record)
  if (outcome === 'voided') await logOutSsoSession(ctx, secrets.sid) // the logout that voided it may not have known its SSO session
  return outcome
}

/** Stores an anonymous session. A live anonymous session is updated in place, and never moved. */
export async function beginAnonymous(ctx: Context, sid: string, begin: Pick<AnonymousRecord, 'startedAt' | 'pending'>) {
  const { site, session, record: before } = ctx
  const record: SsoRecord = {
    v: RECORD_VERSION,
    status: 'anon',
    since: isLoggedIn(before) ? site.now() : (before?.since ?? site.now()),
    checkedAt: site.now(),
    sidHash: shortHash(sid),
    sealed: site.records.seal({ sid }),
    ...begin,
    browser: session.isExternal && ctx.binding !== undefined ? shortHash(ctx.binding) : undefined,
  }
  const { key, entry } = session
  const isEmptied = entry !== 'unavailable' && entry.state === 'empty' && !session.isExternal // an emptied record does not say whose it was
  const isInPlace = isEmptied || before?.status === 'anon'
  if (key === undefined || !isInPlace) return moveTo(ctx, record)
  const isWritten = await site.records.update(key, record, lifetimeOf(record, site.now(), site.config))
  if (!isWritten) return 'lost'
  session.entry = { state: 'live', record }
  return 'renewed'
}

/**
 * Gives the browser a session with a new ID, and ends its session before. The data move along, unless they serve another account. Then index
 * and record, then the marks of logouts. The browser gets no cookie of a session that is not established.
 */
async function moveTo(ctx: Context, record: SsoRecord): Promise<BeginOutcome> {
  const { session, site, res } = ctx
  const former = session.key
  if (res.headersSent !== false) return 'too_late'
  const account = accountOf(record)
  const id = newSessionId()
  const ended = await endBefore(ctx, session.isExternal ? '' : sessionKey(id), record)
  if (ended === 'lost') {
    await session.leave('keep_cookie')
    return 'lost'
  }
  try {
    await session.begin({ id, data: ended.data, account })
    const begun = namesOf(session.key ?? '', record)
    const life = lifetimeOf(record, site.now(), site.config)
    const [oldest] = await Promise.all([
      account === undefined ? [] : site.accounts.add(begun, record.startedAt),
      site.records.begin(begun.key, record, life),
    ])
    if (account !== undefined && (await site.accounts.isVoided(record, account))) {
      await site.records.end(begun)
      if (former !== undefined) await site.records.remove(former).catch(() => {}) // what is put next begins a session
      await session.leave('keep_cookie')
      return 'voided'
    }
    session.entry = { state: 'live', record }
    for (const old of oldest) await site.records.end(old)
    return 'done'
  } catch (error) {
    await session.leave('keep_cookie')
    throw error
  }
}

/**
 * Ends the session that another one follows, and takes its data in the same step. Only one of several requests wins.
 * @param next key of the session that follows, '' if only its beginning shows the key
 */
async function endBefore({ site, session }: Context, next: string, record: SsoRecord) {
  const { key, record: before, gone } = session
  if (key === undefined || gone?.next === '') return { data: null }
  const { entry, data } = await site.records.end(namesOf(key, record), next)
  const isLost = entry.state === 'gone' || (before !== undefined && entry.state === 'none')
  return isLost ? 'lost' : { data }
}
