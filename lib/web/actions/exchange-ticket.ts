/**
 * Exchanges a ticket for an access token and a user, and logs the user in. Landing, login and status check all use this code. Ticket, access
 * token, user and session ID are passed through local variables only, so that parallel logins cannot mix them up.
 * Interface: "SSO2", point 3. Threats L9, O12.
 */
import { RECOVERIES } from '../../decide/log-lines'
import { isLoggedIn, type LoggedInRecord, type SsoRecord, type User, withFailedRenewal } from '../../decide/record'
import { Sso2ResponseError } from '../../errors'
import { isObject, parseForeignJson } from '../../protocol/json'
import type { SessionToken } from '../../protocol/session-token'
import { ownValue } from '../../protocol/token'
import { PlatformApi } from '../../remote/platform-api'
import { readGrant } from '../../remote/ticket'
import type { LoginStart } from '../../storage/session-index'
import { shortHash } from '../../storage/site-store'
import { callListener, HOOKS_MS, runHook } from '../hooks'
import type { RequestContext } from '../request-context'
import type { LoadUser, LoginHook } from '../site'
import { beginAnonymousSession, type LoadedUser, type SignInResult, signInUser } from './sign-in'

/** The outcome of a ticket exchange. `user_unknown`: the ticket could not be used. The SSO session is stored and checked again soon. */
export type TicketResult =
  | { readonly outcome: 'signed_in'; readonly user: LoadedUser['user'] }
  | { readonly outcome: Failed }
type Failed = 'user_unknown' | Exclude<SignInResult, 'done'>

/**
 * Exchanges the ticket of a verified token, and logs the user in.
 * @param start time noted before the token was requested or used
 * @param checkId name of the status check that returned the token, if any
 */
export async function exchangeTicketForUser(
  context: RequestContext,
  token: SessionToken,
  start: LoginStart,
  checkId?: string,
): Promise<TicketResult> {
  const loaded = await loadTicketUser(context, token)
  if (loaded === undefined) return { outcome: await rememberUnknown(context, token.sid ?? '', checkId) }
  const established = await signInUser(context, loaded, start, checkId)
  if (established !== 'done' && established !== 'renewed') return { outcome: established }
  const { onLogin, config } = context.site
  if (onLogin && established === 'done')
    await callListener('onLogin', config.log, () => onLogin(context.req, loaded.user))
  return { outcome: 'signed_in', user: loaded.user }
}

const HOOKS: readonly LoginHook[] = ['exchangeTicket', 'loadUser']

/** @returns `undefined` if the exchange, the REST API or a hook of the site failed. A log line names the step and the cause */
async function loadTicketUser({ site }: RequestContext, token: SessionToken): Promise<LoadedUser | undefined> {
  const { config } = site
  const { sid, at } = token
  let step: LoginHook = 'exchangeTicket'
  let beganAt = performance.now()
  let accessToken: string | undefined
  try {
    if (sid === undefined || at === undefined) throw new Sso2ResponseError('token', undefined, 'no ticket')
    const signal = AbortSignal.timeout(HOOKS_MS)
    const exchanged = await runHook('exchangeTicket', signal, async () => site.exchange(at, { sid, signal }))
    const grant = readGrant(exchanged, site.now())
    step = 'loadUser'
    beganAt = performance.now()
    accessToken = grant.token()
    const api = new PlatformApi({ apiUrl: config.apiUrl, agent: config.agent, accessToken })
    const loadUserContext = { accessToken, api, sid }
    const user = readUser(await runHook('loadUser', signal, async () => site.loadUser(loadUserContext)))
    if (site.exchangeHealth.noteSuccess()) for (const hook of HOOKS) config.log.over(hook, RECOVERIES[hook])
    return { user, token, secrets: { sid, accessToken }, accessUntil: grant.expiresAt }
  } catch (error) {
    site.exchangeHealth.noteFailure(error)
    const failure = { step, error, isHookOfSite: site.customLoginHooks.has(step), beganAt }
    config.log.failed(step, failure, [at, sid, accessToken])
    return undefined
  }
}

/** Keeps a known login of the same SSO session unchanged. Any other session is stored as pending. */
async function rememberUnknown(context: RequestContext, sid: string, checkId: string | undefined): Promise<Failed> {
  if (isLoginOf(context.stored.value, sid)) return 'user_unknown'
  const remembered = await beginAnonymousSession(context, { sid, pending: true, checkId })
  return remembered === 'done' ? 'user_unknown' : remembered
}

/** Notes that an Identify redirect returned an unusable ticket. The user stays logged in. The next redirect for a ticket waits a minute. */
export async function recordFailedRedirect(context: RequestContext, sid: string): Promise<void> {
  const now = context.site.now()
  await context.stored.update((found) => (isLoginOf(found, sid) ? withFailedRenewal(found, now) : undefined))
}

function isLoginOf(record: SsoRecord | undefined, sid: string): record is LoggedInRecord {
  return isLoggedIn(record) && record.sidHash === shortHash(sid)
}

/** Reads a user: JSON with at least `accountId`. @throws {Sso2ResponseError} with the name of the wrong field */
function readUser(value: unknown): User {
  const user: unknown = value === undefined ? undefined : parseForeignJson(JSON.stringify(value))
  const accountId = isObject(user) ? ownValue(user, 'accountId') : undefined
  if (!isObject(user) || typeof accountId !== 'string' || accountId === '') {
    throw new Sso2ResponseError('loadUser', undefined, 'accountId: a text is required')
  }
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
