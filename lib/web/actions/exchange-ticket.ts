/**
 * A ticket becomes an access token and a user, and the browser's session his: for landing, login and check alike.
 * Ticket, access token, user and session ID travel in one chain of local variables. Interface: "SSO2", point 3; threats L9, O12.
 */
import { isLoggedIn, type LoggedInRecord, type SsoRecord, type User, withFailedRenewal } from '../../decide/record'
import { Sso2ResponseError } from '../../errors'
import { isObject } from '../../protocol/json'
import type { SessionToken } from '../../protocol/session-token'
import { own } from '../../protocol/token'
import { type Dependency, isNotSent } from '../../remote/dependency'
import { PlatformApi } from '../../remote/platform-api'
import { readGrant } from '../../remote/ticket'
import { shortHash } from '../../storage/keys'
import type { LoginStart } from '../../storage/session-index'
import { callListener, HOOKS_MS, runHook } from '../hooks'
import { dropLogoutCookie, type RequestContext } from '../request-context'
import type { Hook, LoadUser } from '../site'
import { type NamedUser, type SignInResult, signIn, stayAnonymous } from './sign-in'

/** The outcome of a ticket exchange. `user_unknown`: it could not be used; the SSO session is remembered and asked about again soon. */
export type TicketResult =
  | { readonly outcome: 'signed_in'; readonly user: NamedUser['user'] }
  | { readonly outcome: Failed }
type Failed = 'user_unknown' | Exclude<SignInResult, 'done'>

/**
 * Redeems the ticket of a verified token.
 * @param start noted before the token was asked for, or taken
 * @param question the name of the status check that brought it, if one did
 */
export async function exchangeTicketForUser(
  context: RequestContext,
  token: SessionToken,
  start: LoginStart,
  question?: string,
): Promise<TicketResult> {
  const named = await loadTicketUser(context, token)
  if (named === undefined) return { outcome: await rememberUnknown(context, token.sid ?? '', question) }
  const established = await signIn(context, named, start, question)
  if (established !== 'done' && established !== 'renewed') return { outcome: established }
  dropLogoutCookie(context)
  const { onLogin, config } = context.site
  if (onLogin && established === 'done')
    await callListener('onLogin', config.log, () => onLogin(context.req, named.user))
  return { outcome: 'signed_in', user: named.user }
}

/** @returns nothing where the exchange, the REST API or a hook of the site failed: one line tells the operator which, and why */
async function loadTicketUser({ site }: RequestContext, { sid, at }: SessionToken): Promise<NamedUser | undefined> {
  let step: Hook = 'exchangeTicket'
  let beganAt = performance.now()
  let accessToken: string | undefined
  try {
    if (sid === undefined || at === undefined) throw new Sso2ResponseError('token', undefined, 'no ticket')
    const signal = AbortSignal.timeout(HOOKS_MS)
    const exchange = () => runHook('exchangeTicket', signal, async () => site.exchange(at, { sid, signal }))
    const grant = readGrant(await runWatched(site.loginDependencies.token, 'token', exchange), site.now())
    step = 'loadUser'
    beganAt = performance.now()
    accessToken = grant.token()
    const api = new PlatformApi({ apiUrl: site.config.apiUrl, accessToken })
    const loadUserContext = { accessToken, api, sid }
    const name = () => runHook('loadUser', signal, async () => site.loadUser(loadUserContext))
    const user = readUser(await runWatched(site.loginDependencies.user, 'loadUser', name))
    return { user, secrets: { sid, accessToken }, accessUntil: grant.expiresAt }
  } catch (error) {
    const failure = { step, error, isOwn: site.ownHooks.has(step), beganAt }
    if (!isNotSent(error)) site.config.log.failed(step, failure, [at, sid, accessToken])
    return undefined
  }
}

const runWatched = <T>(dependency: Dependency | undefined, operation: string, call: () => Promise<T>) =>
  dependency ? dependency.run(operation, call, 'user_call') : call()

/** A known login of the same session goes on with what it has; any other session is pending. */
async function rememberUnknown(context: RequestContext, sid: string, question: string | undefined): Promise<Failed> {
  if (isLoginOf(context.stored.value, sid)) return 'user_unknown'
  const remembered = await stayAnonymous(context, { sid, pending: true, question })
  return remembered === 'done' ? 'user_unknown' : remembered
}

/** A trip brought a ticket that could not be used: the reader goes on with what he has, and makes no other one for a while. */
export async function recordFailedRedirect(context: RequestContext, sid: string): Promise<void> {
  const now = context.site.now()
  await context.stored.update((found) => (isLoginOf(found, sid) ? withFailedRenewal(found, now) : undefined))
}

function isLoginOf(record: SsoRecord | undefined, sid: string): record is LoggedInRecord {
  return isLoggedIn(record) && record.sidHash === shortHash(sid)
}

/** A user is JSON with at least `accountId`. @throws {Sso2ResponseError} naming the field */
export function readUser(value: unknown): User {
  const user: unknown = value === undefined ? undefined : JSON.parse(JSON.stringify(value))
  const accountId = isObject(user) ? own(user, 'accountId') : undefined
  if (!isObject(user) || typeof accountId !== 'string' || accountId === '') {
    throw new Sso2ResponseError('loadUser', undefined, 'accountId: a text is required')
  }
  return { ...user, accountId }
}

/** The default `loadUser`: GET of `userPath`; its `item`, or the body itself, with `account_id` also as `accountId`. */
export function defaultLoadUser(userPath: string): LoadUser {
  return async ({ api }) => {
    const body = await api.get(userPath)
    const item = own(body, 'item')
    const fields = isObject(item) ? item : body
    const accountId = own(fields, 'accountId') ?? own(fields, 'account_id')
    return { ...fields, accountId } as User // read by readUser, which checks it
  }
}
