/** `req.sso2`: the login of a request, for handlers of the site. The work is in lib/web/actions. */

import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Request } from 'express'
import type { LoginResult } from '../decide/login'
import type { LogoutResult } from '../decide/logout'
import { isAccessTokenExpired, isLoggedIn, mayStillBeRenewed, type User, withoutAccessToken } from '../decide/record'
import { ANONYMOUS, type DegradedReason, type Identity, showRecord, userOfLogin } from '../decide/request-decision'
import { validateReferer, validateReturnTo, withoutFlowParameter } from '../decide/return-to'
import { NotLoggedInError, Sso2SetupError, Sso2UnavailableError } from '../errors'
import { PlatformApi } from '../remote/platform-api'
import type { AccessTokenSource } from '../remote/rest-call'
import { storeUnavailable } from '../storage/site-store'
import { identifyAddress } from './actions/identify'
import { type Credentials, logIn } from './actions/log-in'
import { logOut } from './actions/log-out'
import { resolveUser } from './actions/resolve-user'
import { isForPage, isLoginPage, loginUrl, queryParameters, returnToOf } from './http/request-facts'
import { pageAddress, type RequestContext, statusChecksOf } from './request-context'

declare global {
  namespace Express {
    interface Request {
      /** The logged-in user, and methods to log in and out. Set by `sso.middleware`. */
      sso2: Sso2Request
    }
  }
}

/** The context of a request, and the identity shown now. Each action of the request replaces the identity. */
export interface IdentityHolder {
  readonly context: RequestContext
  identity: Identity
}

/** `req.sso2`: the login of a request. Printing shows only `status` and `user`, so that logs contain no secret. */
export class Sso2Request {
  readonly #holder: IdentityHolder
  /** @internal */
  constructor(holder: IdentityHolder) {
    this.#holder = holder
  }
  /** @internal Returns the context, for this package only. No property exposes the context. */
  static holderBehind(request: Sso2Request | undefined): IdentityHolder | undefined {
    return request !== undefined && #holder in request ? request.#holder : undefined
  }

  /** `'loggedin'`, `'anon'` or `'none'`. `'none'`: no SSO session, for example for a bot, without cookies, on a skipped path or in an outage. */
  get status(): 'loggedin' | 'anon' | 'none' {
    return this.#holder.identity.record?.status ?? 'none'
  }
  /** The user returned by `loadUser`. Set if and only if `status` is `'loggedin'`. */
  get user(): User | undefined {
    return userOfLogin(this.#holder.identity)
  }
  /** Time of the last status check. `undefined` if `status` is `'none'`. */
  get checkedAt(): Date | undefined {
    const { record } = this.#holder.identity
    return record && new Date(record.checkedAt * 1000)
  }
  /** The reason why the login could not be verified. `undefined` if all systems work. */
  get degraded(): DegradedReason | undefined {
    return this.#holder.identity.degraded
  }

  /**
   * Logs in with one Authenticate call, within `loginLimit`. Interface: "POST {sso_url}/authenticate". On success the session ID is new, and
   * `status` and `user` of the request are set. A custom form must check that the request comes from its own page.
   * @returns `{ ok: true, user }`, or `{ ok: false, error }` for every documented code and every outage
   */
  async login(credentials: Credentials): Promise<LoginResult> {
    const { context } = this.#holder
    const result = await context.site.runningOperations.run(() => logIn(context, credentials), context.res)
    if (result.ok || !context.stored.value) this.#holder.identity = storedIdentity(context)
    return result
  }
  /**
   * Ends the session, on this site and at the SSO system. Redirect to `identifyUrl()` afterwards. Interface: "POST {sso_url}/logout".
   * @returns whether the SSO system confirmed the logout. The browser is logged out of the site in every case
   */
  logout(): Promise<LogoutResult> {
    return this.#logOut(false)
  }
  /**
   * Ends all sessions of the account, on every site. Redirect to `identifyUrl()` afterwards. Interface: "POST {sso_url}/logoutall".
   * @returns whether the SSO system confirmed the logout. The browser is logged out of the site in every case
   */
  logoutAll(): Promise<LogoutResult> {
    return this.#logOut(true)
  }
  /**
   * Calls Session Status now, at any age of the last status check. Interface: "POST {sso_url}/sessionstatus". The session ID never changes
   * after the response headers are sent.
   * @returns the status after the check
   * @throws {Sso2UnavailableError} with `operation` `'store'`, if the session store does not answer
   */
  async check(): Promise<'loggedin' | 'anon' | 'none'> {
    const { context } = this.#holder
    if ((await context.stored.reread()) === 'unavailable') throw storeUnavailable()
    const identity = await resolveUser(context, { identify: 'never', fresh: statusChecksOf(context.stored) })
    if (identity === 'answered' || identity.degraded === 'store_unavailable') throw storeUnavailable()
    this.#holder.identity = identity
    return this.status
  }
  /**
   * Returns the address of the login page, for a link.
   * @param returnTo a path or an address of the site. Default: the page of the request, and on the login page the page that it returns to
   * @throws {Sso2SetupError} if there is no login page (`routes.login: false`)
   */
  loginUrl(returnTo?: string): string {
    const { context } = this.#holder
    const { config } = context.site
    if (config.loginPage === undefined) throw new Sso2SetupError('There is no login page: option routes.login is false')
    return loginUrl(config.loginPage, returnToOf(config, returnTo ?? pageForLogin(context)))
  }
  /**
   * Returns the Identify address for the browser, valid for ten seconds. Sets the binding cookie if the browser has none. Interface: "Identify:
   * browser redirect".
   * @param returnTo a path or an address of the site. Default: the front page
   */
  identifyUrl(returnTo?: string): string {
    const { context } = this.#holder
    const { config } = context.site
    const address = validateReturnTo(returnTo, config.returnPolicy) ?? `${config.siteUrl}/`
    return identifyAddress(context, withoutFlowParameter(address))
  }
  /**
   * The REST API with the user's access token. The token is renewed if the protocol allows a renewal. Otherwise calls throw
   * `AccessTokenExpiredError`.
   * @throws {NotLoggedInError} if the request has no logged-in user
   */
  get api(): PlatformApi {
    const { context, identity } = this.#holder
    const accessToken = accessTokenOf(context, identity)
    if (accessToken === undefined) throw new NotLoggedInError()
    const { apiUrl, agent } = context.site.config
    return new PlatformApi({ apiUrl, agent, accessToken })
  }

  /** Returns only status and user. */
  toJSON(): { status: string; user: User | undefined } {
    return { status: this.status, user: this.user }
  }
  /** @internal */
  [inspect.custom](): object {
    return this.toJSON()
  }

  async #logOut(isAll: boolean): Promise<LogoutResult> {
    const { context } = this.#holder
    this.#holder.identity = ANONYMOUS
    const result = await context.site.runningOperations.run(() => logOut(context, isAll), context.res)
    this.#holder.identity = ANONYMOUS // a login of the same request may have set a user in the meantime
    return result
  }
}

/** Returns the page to which a login link of the request leads back: no page that only a form or a script asks for, and not the login page. */
function pageForLogin(context: RequestContext): string | undefined {
  const { req, site } = context
  const page = pageAddress(context)
  if (page !== undefined && isLoginPage(site.config, page)) return queryParameters(req).get('return_to') ?? undefined
  return isForPage(req) ? page : validateReferer(req.headers.referer, site.config.returnPolicy)
}

const storedIdentity = ({ stored: { value } }: RequestContext): Identity => (value ? showRecord(value) : ANONYMOUS)

/** Sets `req.sso2`. @param identity default: that of the record as last read */
export function attachSso2Request(context: RequestContext, identity = storedIdentity(context)): IdentityHolder {
  const holder: IdentityHolder = { context, identity }
  context.req.sso2 = new Sso2Request(holder)
  return holder
}

/** Returns the context and identity of a request. @throws {Sso2SetupError} if `sso.middleware` is not mounted before the route */
export function identityHolderOf(req: Request): IdentityHolder {
  const holder = Sso2Request.holderBehind(req.sso2)
  if (!holder) throw new Sso2SetupError('Mount sso (or sso.middleware) before this route')
  return holder
}

/** A session requests at most one new access token in this time. */
const RENEW_EVERY_SECONDS = 10
const POLL_MS = 50

/** Returns the source of the user's access token. `undefined` without a logged-in user or a known token. */
function accessTokenOf(context: RequestContext, { record }: Identity): AccessTokenSource | undefined {
  if (!isLoggedIn(record)) return undefined
  const first = context.site.records.open(record)?.accessToken
  if (first === undefined) return undefined
  const { accountId } = record.user
  let token: string | undefined = first
  let renewal: Promise<string | undefined> | undefined
  const renewed = (useless: string) => {
    // parallel calls share one renewal
    renewal ??= renew(context, accountId, useless).finally(() => {
      renewal = undefined
    })
    return renewal
  }
  return async (refused) => {
    const useless = refused ?? (isAccessTokenExpired(record, context.site.now()) ? first : undefined)
    if (token === undefined || token === useless) token = await renewed(token ?? first)
    return token
  }
}

/** Renews the access token. @returns a new token of the same account. `undefined` if no new token is available now */
async function renew(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  const { site, stored } = context
  const known = await rereadToken(context, accountId, refused)
  if (known !== undefined || stored.key === undefined) return known
  const isLocked = await site.records.lockRenewal(stored.key, RENEW_EVERY_SECONDS)
  if (isLocked === 'unavailable') throw renewalUnavailable('the session store')
  if (!isLocked) return waitForOtherRenewal(context, accountId, refused)
  await recordTokenRefused(context)
  const identity = await resolveUser(context, { identify: 'never', fresh: statusChecksOf(stored) })
  const degraded = identity === 'answered' ? undefined : identity.degraded
  if (degraded === 'store_unavailable') throw renewalUnavailable('the session store')
  if (degraded === 'sso_unavailable') throw renewalUnavailable('the SSO system')
  return tokenOf(context, accountId, refused)
}

const renewalUnavailable = (system: string) =>
  new Sso2UnavailableError('sessionstatus', true, `no new access token: ${system} does not answer`)

/** Notes that the access token was refused. Then each status check requests a ticket. If no ticket arrives, a page load is redirected to Identify. */
async function recordTokenRefused({ stored }: RequestContext): Promise<void> {
  const written = await stored.update((found) => (isLoggedIn(found) ? withoutAccessToken(found) : undefined))
  if (written === 'unavailable') throw renewalUnavailable('the session store')
}

async function waitForOtherRenewal(
  context: RequestContext,
  accountId: string,
  refused: string,
): Promise<string | undefined> {
  const start = performance.now()
  for (;;) {
    const token = await rereadToken(context, accountId, refused)
    if (token !== undefined || !mayStillBeRenewed(context.stored.value, performance.now() - start)) return token
    await sleep(POLL_MS)
  }
}

async function rereadToken(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  if ((await context.stored.reread()) === 'unavailable') throw renewalUnavailable('the session store')
  return tokenOf(context, accountId, refused)
}

/** Returns a new token of the account, if known. A call for one account never uses the token of another account. */
function tokenOf({ stored }: RequestContext, accountId: string, refused: string): string | undefined {
  const user = userOfLogin({ record: stored.value, degraded: undefined })
  const token = user?.accountId === accountId ? stored.secrets?.accessToken : undefined
  return token === refused ? undefined : token
}
