/**
 * Exchanges a ticket for an access token and a user, logs the user in, begins sessions, and ends the ones that they follow. No other code changes
 * the user of a browser. The order of steps is what keeps a login and a logout that happen at once from missing each other:
 * docs/internals/architecture.md, "Begin a session". Ticket, token, user and session ID stay in local variables, so that parallel logins cannot mix them
 * up. Interface: "SSO2", point 3. Threats L2, L9, L10, L13.
 */
import {
  type AnonymousRecord,
  isLoggedIn,
  isSameLogin,
  lifetimeOf,
  RECORD_VERSION,
  type SsoRecord,
  type User,
} from '../../decide/record'
import { Sso2ResponseError } from '../../errors'
import type { EpochMs } from '../../protocol/claims'
import { isObject, parseForeignJson } from '../../protocol/json'
import type { TicketToken } from '../../protocol/session-token'
import { ownValue } from '../../protocol/token'
import { PlatformApi } from '../../remote/platform-api'
import { readGrant } from '../../remote/ticket'
import { accountOf, namesOf } from '../../storage/account-index'
import type { Secrets } from '../../storage/records'
import { newSessionId, sessionKey, shortHash } from '../../storage/site-store'
import type { Context } from '../context'
import { callListener, HOOKS_MS, runHook } from '../hooks'
import type { LoadUser } from '../site'
import { endSsoSession } from './log-out'

/**
 * `done`: a session has begun. `renewed`: the session was this login already. `user_unknown`: the ticket could not be used, so the SSO session is
 * stored and checked again after 30 s. `lost`: another request has moved or ended the session. `voided`: the login was logged out in the
 * meantime. `too_late`: the response headers are sent, so the browser can get no cookie.
 */
type BeginOutcome = 'done' | 'renewed' | 'user_unknown' | 'lost' | 'voided' | 'too_late'

/** Has the browser the session? */
export const hasBegun = (outcome: BeginOutcome) => outcome === 'done' || outcome === 'renewed'

/**
 * Exchanges the ticket of a token, and logs the user in. Landing, login form and status check all use this function.
 * @param startedAt when the attempt began that led to the token, before it was requested
 * @throws {Sso2UnavailableError} if Redis does not answer
 */
export async function logInByTicket(ctx: Context, token: TicketToken, startedAt: EpochMs): Promise<BeginOutcome> {
  const loaded = await userOfTicket(ctx, token)
  if (!loaded) return rememberUnknown(ctx, token.sid, startedAt)
  const outcome = await beginLogin(ctx, loaded, startedAt)
  const { onLogin, config } = ctx.site
  if (onLogin && outcome === 'done') await callListener('onLogin', config.log, () => onLogin(ctx.req, loaded.user))
  return outcome
}

/** @returns `undefined` if the exchange, the REST API or a hook of the site failed. A log line names the step and the cause */
async function userOfTicket({ site }: Context, token: TicketToken): Promise<LoadedUser | undefined> {
  const { config } = site
  const { sid, at } = token
  let step: 'exchangeTicket' | 'loadUser' = 'exchangeTicket'
  let accessToken: string | undefined
  try {
    const signal = AbortSignal.timeout(HOOKS_MS)
    const exchanged = await runHook('exchangeTicket', async () => site.exchange(at, { sid, signal }), signal)
    const grant = readGrant(exchanged, site.now())
    step = 'loadUser'
    accessToken = grant.token
    const api = new PlatformApi({ apiUrl: config.apiUrl, agent: config.agent, accessToken })
    const loadUserContext = { accessToken, api, sid }
    const user = readUser(await runHook('loadUser', async () => site.loadUser(loadUserContext), signal))
    if (site.exchangeHealth.noteSuccess()) {
      config.log.recovered('exchangeTicket', 'The token endpoint works again.')
      config.log.recovered('loadUser', 'The user path works again.')
    }
    return { user, secrets: { sid, accessToken }, accessUntil: grant.expiresAt }
  } catch (error) {
    site.exchangeHealth.noteFailure(error)
    config.log.failed(step, error, [at, sid, accessToken])
    return undefined
  }
}

/** Keeps a known login of the same SSO session. Any other session is stored as pending. */
async function rememberUnknown(ctx: Context, sid: string, startedAt: EpochMs): Promise<BeginOutcome> {
  const { record } = ctx
  if (isLoggedIn(record) && record.sidHash === shortHash(sid)) return 'user_unknown'
  const outcome = await beginAnonymous(ctx, sid, { startedAt, pending: true })
  return hasBegun(outcome) ? 'user_unknown' : outcome
}

/** Reads a user: JSON with at least `accountId`. @throws {Sso2ResponseError} with the name of the wrong field */
function readUser(value: unknown): User {
  const user: unknown = value === undefined ? undefined : parseForeignJson(JSON.stringify(value))
  const accountId = isObject(user) ? ownValue(user, 'accountId') : undefined
  if (!isObject(user) || typeof accountId !== 'string' || accountId === '')
    throw new Sso2ResponseError('loadUser', undefined, 'accountId: a text is required')
  return { ...user, accountId }
}

/** The default `loadUser`: GET of `userPath`. Returns `item` of the response, or the body. `account_id` is also returned as `accountId`. */
export function defaultLoadUser(userPath: string): LoadUser {
  return async ({ api }) => {
    const body = await api.get(userPath)
    const item = ownValue(body, 'item')
    const fields = isObject(item) ? item : body
    const accountId = ownValue(fields, 'accountId') ?? ownValue(fields, 'account_id')
    return { ...fields, accountId } as User // checked by readUser
  }
}

/** A user, and the secrets of the login. */
interface LoadedUser {
  readonly user: User
  readonly secrets: Secrets
  /** Expiry of the access token in seconds since 1970, if the authorization server sent one. */
  readonly accessUntil: number | undefined
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
  if (outcome === 'voided') await endSsoSession(ctx, secrets.sid) // the logout that voided it may not have known its SSO session
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
