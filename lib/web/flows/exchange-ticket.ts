/**
 * Exchanges a ticket for an access token and a user, and logs the user in. Landing, login and status check all use this code. Ticket, token,
 * user and session ID stay in local variables, so that parallel logins cannot mix them up. Interface: "SSO2", point 3. Threat L9.
 */

import { isLoggedIn, type User } from '../../decide/record'
import { Sso2ResponseError } from '../../errors'
import type { EpochMs } from '../../protocol/claims'
import { isObject, parseForeignJson } from '../../protocol/json'
import type { SessionToken } from '../../protocol/session-token'
import { ownValue } from '../../protocol/token'
import { PlatformApi } from '../../remote/platform-api'
import { readGrant } from '../../remote/ticket'
import { shortHash } from '../../storage/site-store'
import type { Context } from '../context'
import { callListener, HOOKS_MS, runHook } from '../hooks'
import type { LoadUser, LoginHook } from '../site'
import { beginAnonymous, type LoadedUser, type SignInOutcome, signIn } from './sign-in'

/** The outcome of an exchange. `user_unknown`: the ticket could not be used. The SSO session is stored and checked again after 30 s. */
export type ExchangeOutcome =
  | { readonly outcome: 'signed_in'; readonly user: User }
  | { readonly outcome: 'user_unknown' | Exclude<SignInOutcome, 'done' | 'renewed'> }

/**
 * @param startedAt when the attempt began that led to the token, before it was requested
 * @throws {Sso2UnavailableError} if Redis does not answer
 */
export async function exchangeTicket(ctx: Context, token: SessionToken, startedAt: EpochMs): Promise<ExchangeOutcome> {
  const { req, site } = ctx
  const loaded = await userOfTicket(ctx, token)
  if (loaded === undefined) return { outcome: await rememberUnknown(ctx, token.sid ?? '', startedAt) }
  const outcome = await signIn(ctx, loaded, startedAt)
  if (outcome !== 'done' && outcome !== 'renewed') return { outcome }
  const { onLogin, config } = site
  if (onLogin && outcome === 'done') await callListener('onLogin', config.log, () => onLogin(req, loaded.user))
  return { outcome: 'signed_in', user: loaded.user }
}

/** @returns `undefined` if the exchange, the REST API or a hook of the site failed. A log line names the step and the cause */
async function userOfTicket({ site }: Context, token: SessionToken): Promise<LoadedUser | undefined> {
  const { config } = site
  const { sid, at } = token
  let step: LoginHook = 'exchangeTicket'
  let accessToken: string | undefined
  try {
    if (sid === undefined || at === undefined) throw new Sso2ResponseError('token', undefined, 'no ticket')
    const signal = AbortSignal.timeout(HOOKS_MS)
    const exchanged = await runHook('exchangeTicket', signal, async () => site.exchange(at, { sid, signal }))
    const grant = readGrant(exchanged, site.now())
    step = 'loadUser'
    accessToken = grant.token
    const api = new PlatformApi({ apiUrl: config.apiUrl, agent: config.agent, accessToken })
    const loadUserContext = { accessToken, api, sid }
    const user = readUser(await runHook('loadUser', signal, async () => site.loadUser(loadUserContext)))
    if (site.exchangeHealth.noteSuccess()) {
      config.log.recovered('exchangeTicket', 'The token endpoint works again.')
      config.log.recovered('loadUser', 'The user path works again.')
    }
    return { user, secrets: { sid, accessToken }, accessUntil: grant.expiresAt }
  } catch (error) {
    site.exchangeHealth.noteFailure(error)
    const failure = { step, error, isHookOfSite: site.customLoginHooks.has(step) }
    config.log.failed(step, failure, [at, sid, accessToken])
    return undefined
  }
}

/** Keeps a known login of the same SSO session. Any other session is stored as pending. */
async function rememberUnknown(ctx: Context, sid: string, startedAt: EpochMs) {
  const { record } = ctx
  if (isLoggedIn(record) && record.sidHash === shortHash(sid)) return 'user_unknown' as const
  const outcome = await beginAnonymous(ctx, { sid, startedAt, isPending: true })
  return outcome === 'done' || outcome === 'renewed' ? ('user_unknown' as const) : outcome
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
