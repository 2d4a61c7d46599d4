/** `req.sso2`: the login of a request, for handlers of the site. The work is in lib/web/flows. */
import { inspect } from 'node:util'
import type { Request } from 'express'
import type { LoginResult } from '../decide/login'
import type { LogoutResult, LogoutScope } from '../decide/logout-mark'
import { isForPage } from '../decide/navigation'
import { ANONYMOUS, ageOf, type DegradedReason, isLoggedIn, show, type User, userOf } from '../decide/record'
import { validateReferer } from '../decide/return-to'
import { NotLoggedInError, Sso2SetupError } from '../errors'
import { type AccessTokenSource, PlatformApi } from '../remote/platform-api'
import { storeUnavailable } from '../storage/site-store'
import type { Context } from './context'
import { logOut } from './flows/log-out'
import { type Credentials, logInByPassword } from './flows/login-form'
import { visit } from './flows/visit'
import { isLoginPage, loginUrl, queryParameters, returnToOf } from './http/request-facts'
import type { Site } from './site'

declare global {
  namespace Express {
    interface Request {
      /** The logged-in user, and methods to log in and out. Set by `sso.middleware`. */
      sso2: Sso2Request
    }
  }
}

const NO_CREDENTIALS = 'req.sso2.login() got undefined. Mount express.urlencoded() or express.json() before this route'

/** `req.sso2`: the login of a request. Printing shows only `status` and `user`, so that logs contain no secret. */
export class Sso2Request {
  readonly #ctx: Context
  /** @internal */
  constructor(ctx: Context) {
    this.#ctx = ctx
  }
  /** @internal Returns the context of a request. No property exposes it. @throws {Sso2SetupError} unless `sso.middleware` of the site has run */
  static contextOf(site: Site, { sso2 }: Partial<Pick<Request, 'sso2'>>): Context {
    if (!sso2) throw new Sso2SetupError('Mount sso (or sso.middleware) before this route')
    if (#ctx in sso2 && sso2.#ctx.site === site) return sso2.#ctx
    throw new Sso2SetupError(
      'req.sso2 is of another sso2(), or of a second copy of the package: see npm ls express-sso2',
    )
  }

  /** `'loggedin'`, `'anon'` or `'none'`. `'none'`: no SSO session, for example for a bot, without cookies, on a skipped path or in an outage. */
  get status(): 'loggedin' | 'anon' | 'none' {
    return this.#ctx.identity.record?.status ?? 'none'
  }
  /** The user returned by `loadUser`. Set if and only if `status` is `'loggedin'`. */
  get user(): User | undefined {
    return userOf(this.#ctx.identity)
  }
  /** Time of the last status check. `undefined` if `status` is `'none'`. */
  get checkedAt(): Date | undefined {
    const { record } = this.#ctx.identity
    return record && new Date(record.checkedAt * 1000)
  }
  /** The reason why the login could not be verified. `undefined` if all systems work. */
  get degraded(): DegradedReason | undefined {
    return this.#ctx.identity.degraded
  }

  /**
   * Logs in with one Authenticate call, within `loginLimit`. Interface: "POST {sso_url}/authenticate". On success the session ID is new, and
   * `status` and `user` of the request are set. A custom form must check that the request comes from its own page.
   * @returns `{ ok: true, user }`, or `{ ok: false, error }` for every documented code and every outage
   * @throws {Sso2SetupError} if `credentials` is `undefined`, as `req.body` is without a body parser
   */
  async login(credentials: Credentials): Promise<LoginResult> {
    if (!credentials) throw new Sso2SetupError(NO_CREDENTIALS)
    const ctx = this.#ctx
    const result = await ctx.site.runningOperations.run(() => logInByPassword(ctx, credentials), ctx.res)
    if (result.ok || !ctx.record) ctx.identity = show(ctx.record)
    return result
  }
  /**
   * Ends the session, on this site and at the SSO system. Redirect to `identifyUrl()` afterwards. Interface: "POST {sso_url}/logout".
   * @returns whether the SSO system confirmed the logout. The browser is logged out of the site in every case
   */
  logout(): Promise<LogoutResult> {
    return this.#logOut('session')
  }
  /**
   * Ends all sessions of the account, on every site. Redirect to `identifyUrl()` afterwards. Interface: "POST {sso_url}/logoutall".
   * @returns whether the SSO system confirmed the logout. The browser is logged out of the site in every case
   */
  logoutAll(): Promise<LogoutResult> {
    return this.#logOut('account')
  }
  /**
   * Calls Session Status now, at any age of the last status check. Interface: "POST {sso_url}/sessionstatus". The session ID never changes
   * after the response headers are sent.
   * @returns the status after the check
   * @throws {Sso2UnavailableError} with `operation` `'store'`, if the session store does not answer
   */
  async check(): Promise<'loggedin' | 'anon' | 'none'> {
    const ctx = this.#ctx
    await ctx.reread()
    const identity = await visit(ctx, { identify: 'never', isFresh: true })
    if (identity === 'answered' || identity.degraded === 'store_unavailable') throw storeUnavailable()
    ctx.identity = identity
    return this.status
  }
  /**
   * Returns the address of the login page, for a link.
   * @param returnTo a path or an address of the site. Default: the page of the request, and on the login page the page that it returns to
   * @throws {Sso2SetupError} if there is no login page (`routes.login: false`)
   */
  loginUrl(returnTo?: string): string {
    const { config } = this.#ctx.site
    if (config.loginPage === undefined) throw new Sso2SetupError('There is no login page: option routes.login is false')
    return loginUrl(config.loginPage, returnToOf(config, returnTo ?? pageForLogin(this.#ctx)))
  }
  /**
   * Returns the Identify address for the browser, valid for ten seconds. Sets the binding cookie if the browser has none. Interface: "Identify:
   * browser redirect".
   * @param returnTo a path or an address of the site. Default: the front page
   */
  identifyUrl(returnTo?: string): string {
    const ctx = this.#ctx
    return ctx.identifyAddress(returnToOf(ctx.site.config, returnTo))
  }
  /**
   * The REST API with the user's access token. A token that has expired is renewed by a status check. If there is no new token, calls throw
   * `AccessTokenExpiredError`.
   * @throws {NotLoggedInError} if the request has no logged-in user
   */
  get api(): PlatformApi {
    const { user } = this
    if (!user) throw new NotLoggedInError()
    const { apiUrl, agent } = this.#ctx.site.config
    return new PlatformApi({ apiUrl, agent, accessToken: accessTokenOf(this.#ctx, user.accountId) })
  }

  /** Returns only status and user. */
  toJSON(): { status: Sso2Request['status']; user: User | undefined } {
    return { status: this.status, user: this.user }
  }
  /** @internal */
  [inspect.custom](): object {
    return this.toJSON()
  }

  async #logOut(scope: LogoutScope): Promise<LogoutResult> {
    const ctx = this.#ctx
    ctx.identity = ANONYMOUS
    const result = await ctx.site.runningOperations.run(() => logOut(ctx, scope), ctx.res)
    ctx.identity = ANONYMOUS // a login of the same request may have set a user in the meantime
    return result
  }
}

/** Returns the page to which a login link of the request leads back: no page that only a form or a script asks for, and not the login page. */
function pageForLogin({ req, site, page }: Context): string | undefined {
  if (page !== undefined && isLoginPage(site.config, page)) return queryParameters(req).get('return_to') ?? undefined
  return isForPage(req) ? page : validateReferer(req.headers.referer, site.config.returnPolicy)
}

/** No renewal follows a status check within this time. */
const RENEW_EVERY_SECONDS = 30

/** Returns the source of the access token of an account. The source has no token if another user is logged in. */
function accessTokenOf(ctx: Context, accountId: string): AccessTokenSource {
  let renewal: Promise<void> | undefined
  return async (refused) => {
    const token = currentToken(ctx, accountId)
    if (token !== undefined && token !== refused) return token
    renewal ??= renew(ctx, accountId, token).finally(() => {
      renewal = undefined
    }) // parallel calls share one renewal
    await renewal
    return currentToken(ctx, accountId)
  }
}

function currentToken({ site, record }: Context, accountId: string): string | undefined {
  if (!isLoggedIn(record) || record.user.accountId !== accountId) return undefined
  const hasExpired = record.accessUntil !== undefined && record.accessUntil <= site.now()
  return hasExpired ? undefined : site.records.open(record)?.accessToken
}

async function renew(ctx: Context, accountId: string, useless: string | undefined): Promise<void> {
  await ctx.reread()
  const { record, site } = ctx
  if (!isLoggedIn(record) || record.user.accountId !== accountId) return
  if (currentToken(ctx, accountId) !== useless) return // another request has renewed the token
  await ctx.update({ accessUntil: 0 }) // so that the next status check asks for a ticket
  if (ageOf(record.checkedAt, site.now()) >= RENEW_EVERY_SECONDS) await visit(ctx, { identify: 'never', isFresh: true })
}
