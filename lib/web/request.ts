/** `req.sso2`: what a handler may know and do. Contract, section 3. */
import { inspect } from 'node:util'
import type { Request } from 'express'
import type { LoginResult } from '../decide/login'
import type { User } from '../decide/record'
import { judgeReturnTo, withoutFlowParameter } from '../decide/return-to'
import type { DegradedReason } from '../decide/visit'
import { NotLoggedInError } from '../errors'
import { PlatformApi } from '../remote/platform-api'
import { accessTokenOf } from './access-token'
import { type Credentials, login } from './authenticate'
import { check } from './check'
import { endSession, type LogoutResult } from './end-session'
import { identifyAddress } from './redirect'
import type { Visit } from './visit'

declare global {
  namespace Express {
    interface Request {
      /** Who is logged in, and what can be done about it. Set by `sso.middleware`. */
      sso2: Sso2Request
    }
  }
}

/** @see the head of the file */
export class Sso2Request {
  readonly #visit: Visit
  /** @internal */
  constructor(visit: Visit) {
    this.#visit = visit
  }
  /** @internal The visit, for this package alone: no property leads to it. */
  static visitBehind(request: Sso2Request | undefined): Visit | undefined {
    return request !== undefined && #visit in request ? request.#visit : undefined
  }

  /** `'none'`: no SSO session, for a bot, a cookie-less client, a skipped path or in an outage. */
  get status(): 'loggedin' | 'anon' | 'none' {
    return this.#visit.served?.status ?? 'none'
  }
  /** What `identifyUser` returned; set if and only if `status` is `'loggedin'`. */
  get user(): User | undefined {
    const { served } = this.#visit
    return served?.status === 'loggedin' ? served.user : undefined
  }
  /** The SSO system's last word. */
  get checkedAt(): Date | undefined {
    const { served } = this.#visit
    return served && new Date(served.checkedAt * 1000)
  }
  /** Why less is known than should be. */
  get degraded(): DegradedReason | undefined {
    return this.#visit.degraded
  }

  /** Logs in. Never throws for a documented code. */
  login(credentials: Credentials): Promise<LoginResult> {
    return login(this.#visit, credentials)
  }
  /** Ends this session; then redirect to `identifyUrl()`. `'pending'`: done here, the SSO system is told later. */
  logout(): Promise<LogoutResult> {
    return endSession(this.#visit, false)
  }
  /** Ends all sessions of this account; then redirect to `identifyUrl()`. */
  logoutAll(): Promise<LogoutResult> {
    return endSession(this.#visit, true)
  }
  /** Asks Session Status now. @returns the status after it */
  async check(): Promise<'loggedin' | 'anon' | 'none'> {
    const { record } = this.#visit
    if (record && this.#visit.isStoreAvailable) await check(this.#visit, record)
    return this.status
  }
  /** The Identify address for this browser. @param returnTo a path or an address of this site, default the site's front page */
  identifyUrl(returnTo?: string): string {
    const { config } = this.#visit.site
    const judged = judgeReturnTo(returnTo, config.returnPolicy) ?? `${config.siteUrl}/`
    return identifyAddress(this.#visit, withoutFlowParameter(judged))
  }
  /**
   * The REST API with this user's access token, which is renewed where the protocol allows it.
   * Its calls throw `AccessTokenExpiredError` where it does not.
   * @throws {NotLoggedInError}
   */
  get api(): PlatformApi {
    const { served, site } = this.#visit
    const accessToken = served?.status === 'loggedin' ? accessTokenOf(this.#visit, served) : undefined
    if (accessToken === undefined) throw new NotLoggedInError()
    return new PlatformApi({ apiUrl: site.config.apiUrl, accessToken })
  }

  /** Status and user, nothing else. */
  toJSON(): { status: string; user: User | undefined } {
    return { status: this.status, user: this.user }
  }
  [inspect.custom](): object {
    return this.toJSON()
  }
}

/** Hangs `req.sso2` on the request. */
export function attach(visit: Visit): void {
  visit.req.sso2 = new Sso2Request(visit)
}

/** The request's visit. @throws when `sso.middleware` is not mounted before this route */
export function visitOf(req: Request): Visit {
  const visit = Sso2Request.visitBehind(req.sso2)
  if (!visit) throw new Error('express-sso2: mount sso (or sso.middleware) before this route')
  return visit
}
