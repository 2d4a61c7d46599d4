/** `req.sso2`: what a handler may know and do. */

import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Request } from 'express'
import type { LoginResult } from '../decide/login'
import type { LogoutResult } from '../decide/logout'
import { isAccessTokenExpired, isLoggedIn, mayStillBeRenewed, type User, withoutAccessToken } from '../decide/record'
import { ANONYMOUS, type DegradedReason, type Identity, identifiedUser, useRecord } from '../decide/request-decision'
import { validateReturnTo, withoutFlowParameter } from '../decide/return-to'
import { NotLoggedInError, Sso2SetupError, Sso2UnavailableError } from '../errors'
import { PlatformApi } from '../remote/platform-api'
import type { AccessTokenSource } from '../remote/rest-call'
import { identifyAddress } from './actions/identify'
import { type Credentials, logIn } from './actions/log-in'
import { logOut } from './actions/log-out'
import { resolveUser } from './actions/resolve-user'
import type { RequestContext } from './request-context'

declare global {
  namespace Express {
    interface Request {
      /** Who is logged in, and what can be done about it. Set by `sso.middleware`. */
      sso2: Sso2Request
    }
  }
}

/** A request's visit, and what of it is shown now: each action of this request gives another value. */
export interface Holder {
  readonly context: RequestContext
  identity: Identity
}

/** `req.sso2`: what a handler may know and do. Printed, it shows `status` and `user` and nothing else. */
export class Sso2Request {
  readonly #holder: Holder
  /** @internal */
  constructor(holder: Holder) {
    this.#holder = holder
  }
  /** @internal The visit, for this package alone: no property leads to it. */
  static holderBehind(request: Sso2Request | undefined): Holder | undefined {
    return request !== undefined && #holder in request ? request.#holder : undefined
  }

  /** `'loggedin'`, `'anon'`, or `'none'`: no SSO session, for a bot, a cookie-less client, a skipped path or in an outage. */
  get status(): 'loggedin' | 'anon' | 'none' {
    return this.#holder.identity.record?.status ?? 'none'
  }
  /** What `loadUser` returned; set if and only if `status` is `'loggedin'`. */
  get user(): User | undefined {
    return identifiedUser(this.#holder.identity)
  }
  /** When the SSO system last said so; `undefined` with `'none'`. */
  get checkedAt(): Date | undefined {
    const { record } = this.#holder.identity
    return record && new Date(record.checkedAt * 1000)
  }
  /** Why less is known than should be; `undefined` where all is well. */
  get degraded(): DegradedReason | undefined {
    return this.#holder.identity.degraded
  }

  /**
   * Logs in: one Authenticate, within `loginLimit`. Interface: "POST {sso_url}/authenticate". On success the session ID is new, and `status`
   * and `user` of this request are set. Forms of the site's own see to it that the request comes from their own page.
   * @returns `{ ok: true, user }`, or `{ ok: false, error }` for every documented code and every outage
   */
  async login(credentials: Credentials): Promise<LoginResult> {
    const { context } = this.#holder
    const result = await context.site.runningOperations.run(() => logIn(context, credentials), context.res)
    const { value } = context.stored
    if (result.ok || !value) this.#holder.identity = value ? useRecord(value) : ANONYMOUS
    return result
  }
  /**
   * Ends this session, here and at the SSO system; then redirect to `identifyUrl()`. Interface: "POST {sso_url}/logout".
   * @returns what it came to there; here it is done in any case
   */
  logout(): Promise<LogoutResult> {
    return this.#logOut(false)
  }
  /**
   * Ends all sessions of this account, on every site; then redirect to `identifyUrl()`. Interface: "POST {sso_url}/logoutall".
   * @returns what it came to there; here it is done in any case
   */
  logoutAll(): Promise<LogoutResult> {
    return this.#logOut(true)
  }
  /**
   * Asks Session Status now, whatever the age of what is known. Interface: "POST {sso_url}/sessionstatus". Never changes the session's ID on an answer that has begun.
   * @returns the status after it
   * @throws {Sso2UnavailableError} with `operation` `'store'`, when the session store is away
   */
  async check(): Promise<'loggedin' | 'anon' | 'none'> {
    const { context } = this.#holder
    const isRead = (await context.stored.reread()) === 'done'
    const { asking, asked } = context.stored.value ?? {}
    const outcome = isRead ? await resolveUser(context, { identify: 'never', fresh: { asking, asked } }) : undefined
    if (outcome?.action !== 'show' || outcome.identity.degraded === 'store_unavailable')
      throw new Sso2UnavailableError('store', true, 'the session store did not answer')
    this.#holder.identity = outcome.identity
    return this.status
  }
  /**
   * The Identify address for this browser, good for ten seconds; sets the binding cookie where there is none. Interface: "Identify: browser
   * redirect".
   * @param returnTo a path or an address of this site, default the site's front page
   */
  identifyUrl(returnTo?: string): string {
    const { context } = this.#holder
    const { config } = context.site
    const judged = validateReturnTo(returnTo, config.returnPolicy) ?? `${config.siteUrl}/`
    return identifyAddress(context, withoutFlowParameter(judged))
  }
  /**
   * The REST API with this user's access token, which is renewed where the protocol allows it.
   * Its calls throw `AccessTokenExpiredError` where it does not.
   * @throws {NotLoggedInError} nobody is logged in on this request
   */
  get api(): PlatformApi {
    const { context, identity } = this.#holder
    const accessToken = accessTokenOf(context, identity)
    if (accessToken === undefined) throw new NotLoggedInError()
    return new PlatformApi({ apiUrl: context.site.config.apiUrl, accessToken })
  }

  /** Status and user, nothing else. */
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
    return context.site.runningOperations.run(() => logOut(context, isAll), context.res)
  }
}

/** Hangs `req.sso2` on the request. */
export function attach(context: RequestContext, identity: Identity): Holder {
  const holder: Holder = { context, identity }
  context.req.sso2 = new Sso2Request(holder)
  return holder
}

/** The request's visit. @throws when `sso.middleware` is not mounted before this route */
export function holderOf(req: Request): Holder {
  const holder = Sso2Request.holderBehind(req.sso2)
  if (!holder) throw new Sso2SetupError('Mount sso (or sso.middleware) before this route')
  return holder
}

/** One session asks for a new access token at most once in this time. */
const RENEW_EVERY_SECONDS = 10
const POLL_MS = 50

/** The source of this visitor's access token; `undefined` when nobody is shown as logged in, or no token is known. */
export function accessTokenOf(context: RequestContext, { record }: Identity): AccessTokenSource | undefined {
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

/** @returns another token of the same account than the one that was refused; `undefined` when none can be had now */
async function renew(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  const { site, stored } = context
  const known = await readOther(context, accountId, refused)
  if (known !== undefined || stored.key === undefined) return known
  const claim = await site.records.lockRenewal(stored.key, RENEW_EVERY_SECONDS)
  if (claim === 'unavailable') throw unavailable('the session store')
  if (!claim) return waitForOther(context, accountId, refused)
  await noteRefused(context)
  const { asking, asked } = stored.value ?? {}
  const outcome = await resolveUser(context, { identify: 'never', fresh: { asking, asked } })
  const degraded = outcome.action === 'show' ? outcome.identity.degraded : undefined
  if (degraded === 'store_unavailable') throw unavailable('the session store')
  if (degraded === 'sso_unavailable') throw unavailable('the SSO system')
  return tokenOf(context, accountId, refused)
}

const unavailable = (system: string) =>
  new Sso2UnavailableError('sessionstatus', true, `no new access token: ${system} does not answer`)

/** From here on every check asks for a ticket, and a page load goes through Identify where none came. */
async function noteRefused({ stored }: RequestContext): Promise<void> {
  const written = await stored.update((found) => (isLoggedIn(found) ? withoutAccessToken(found) : undefined))
  if (written === 'unavailable') throw unavailable('the session store')
}

async function waitForOther(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  const start = performance.now()
  for (;;) {
    const token = await readOther(context, accountId, refused)
    if (token !== undefined || !mayStillBeRenewed(context.stored.value, performance.now() - start)) return token
    await sleep(POLL_MS)
  }
}

async function readOther(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  if ((await context.stored.reread()) === 'unavailable') throw unavailable('the session store')
  return tokenOf(context, accountId, refused)
}

/** A call that was begun for one account never goes on with another one's token. */
function tokenOf({ stored }: RequestContext, accountId: string, refused: string): string | undefined {
  const user = identifiedUser({ record: stored.value, degraded: undefined })
  const token = user?.accountId === accountId ? stored.secrets?.accessToken : undefined
  return token === refused ? undefined : token
}
