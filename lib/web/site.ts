/** The parts that the handlers of a site share, as interfaces. `sso2()` creates them once. */

import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Request, Response } from 'express'
import type { Config } from '../config'
import type { LoginError } from '../decide/login'
import type { LogoutMark, LogoutResult } from '../decide/logout-mark'
import type { ReturnCount } from '../decide/loop-guard'
import type { User } from '../decide/record'
import type { MacKeys, SignedCookie } from '../decide/signed-cookie'
import type { IdentifyHealth } from '../remote/identify-health'
import type { PlatformApi } from '../remote/platform-api'
import type { Sso2Client } from '../remote/sso2'
import type { ExchangeHealth, ExchangeTicket } from '../remote/ticket'
import type { AccountIndex } from '../storage/account-index'
import type { Locks } from '../storage/locks'
import type { PendingLogouts } from '../storage/pending-logouts'
import type { Records } from '../storage/records'
import type { Limits } from './limits'
import type { RequestSession } from './session/request-session'

/** Argument of `loadUser`. */
export interface LoadUserContext {
  /** Access token that the ticket was exchanged for. */
  readonly accessToken: string
  /** The REST API with the access token. */
  readonly api: PlatformApi
  /** SSO2 session ID. */
  readonly sid: string
}

/** Loads the user of an access token: the option `loadUser` or the default. */
export type LoadUser = (context: LoadUserContext) => Promise<User> | User

/** The two steps from a ticket to a user. */
export type LoginHook = 'exchangeTicket' | 'loadUser'

/** Is called once after each login established on this site. */
export type OnLogin = (req: Request, user: User) => void | Promise<void>
/** Is called once after each logout requested on this site, but not for a logout by the hook. */
export type OnLogout = (req: Request, result: LogoutResult) => void | Promise<void>

/** Finds the session of a request. */
interface Sessions {
  sessionOf(req: Request): Promise<RequestSession>
}

/** Signed cookies of the package. */
interface SiteCookies {
  readonly logoutMark: SignedCookie<LogoutMark>
  readonly returns: SignedCookie<ReturnCount>
}

/** Context of every view. */
export interface PageContext {
  /** Value for the attribute `nonce` of scripts and styles. New for each response, and included in `contentSecurityPolicy`. */
  readonly nonce: string
}

/** Context of the login view. */
export interface LoginContext extends PageContext {
  /** Address for the form's POST, with the query of the page. A form without `action` also keeps the fragment. */
  readonly action: string
  /** Value of the hidden field `return_to`. */
  readonly returnTo: string
  /**
   * Address for the link "Go back", and value of the hidden field `back_to`: the page of the site that the user came from, or the front page.
   * Never a page that needs a login.
   */
  readonly backUrl: string
  /** The username typed before. */
  readonly username: string
  /** A stable error code. `undefined` without an error. */
  readonly error: LoginError | undefined
  /** Text of the error, or of the notice about an ended session. */
  readonly message: string | undefined
  /** Attempts that are left, if the SSO system sent a number. The login limits may leave fewer. */
  readonly remainingAttempts: number | undefined
  /** Seconds until the platform unlocks the account, if the account is locked. */
  readonly frozenForSeconds: number | undefined
  /** Seconds until the site accepts the next attempt, if a login limit is reached. */
  readonly retryAfterSeconds: number | undefined
}

/** Context of the logout confirmation. */
export interface ConfirmLogoutContext extends PageContext {
  /** Address for the form's POST. */
  readonly action: string
  /** Value of the hidden field `return_to`. */
  readonly returnTo: string
  /** Does the form end all sessions of the account? */
  readonly isAll: boolean
}

/** Context of the problem page. */
export interface ProblemContext extends PageContext {
  /** HTTP status. */
  readonly status: number
  /** Code of the text, for example `page_unavailable`. */
  readonly code: string
  /** Text of the problem. */
  readonly message: string
  /** Address of the site's front page. */
  readonly homeUrl: string
  /** Address of the login page, where the request needs a login: for a link in a new tab, because a form may have been sent. */
  readonly loginUrl: string | undefined
  /** Can the user try again by a link to the address of the page (`href=""`)? */
  readonly canReload: boolean
  /** With `not_allowed`: name, username or e-mail address of the user, if `loadUser` returned one. */
  readonly accountName: string | undefined
  /** With `not_allowed`: address of the logout page, from which the user returns to log in with another account. */
  readonly otherAccountUrl: string | undefined
}

/** Context of each view, by the name of the view. */
export interface ViewContexts {
  /** The login page. Default: the built-in page. */
  readonly login: LoginContext
  /** The page that asks before a logout. Default: the built-in page. */
  readonly confirmLogout: ConfirmLogoutContext
  /** The page that says what went wrong. Default: the built-in page. */
  readonly problem: ProblemContext
}

/** Views: context in, HTML out. */
export type Views = {
  readonly [Name in keyof ViewContexts]: (context: ViewContexts[Name]) => string | Promise<string>
}

/** Views of the site, which also get request and response: `req.session`, for example, has the basket for a header. A missing view is built in. */
export type CustomViews = {
  readonly [Name in keyof ViewContexts]?:
    | ((context: ViewContexts[Name], req: Request, res: Response) => string | Promise<string>)
    | undefined
}

/** The built-in pages. */
export interface BuiltInPages {
  readonly views: Views
  readonly policy: string
}

/** The parts of a site. */
export interface Site {
  readonly config: Config
  readonly client: Sso2Client
  readonly identifyHealth: IdentifyHealth
  readonly records: Records
  readonly accounts: AccountIndex
  readonly locks: Locks
  readonly pendingLogouts: PendingLogouts
  readonly sessions: Sessions
  readonly cookies: SiteCookies
  readonly exchange: ExchangeTicket
  readonly loadUser: LoadUser
  /** Custom hooks of the site. */
  readonly customLoginHooks: ReadonlySet<LoginHook>
  /** Do token endpoint and user path work? */
  readonly exchangeHealth: ExchangeHealth
  readonly shouldIdentify: (req: Request) => boolean
  readonly onLogin: OnLogin | undefined
  readonly onLogout: OnLogout | undefined
  readonly views: CustomViews
  readonly builtIn: BuiltInPages
  readonly limits: Limits
  /** Operations to finish before the site is closed. */
  readonly runningOperations: RunningOperations
  readonly macKeys: MacKeys
  /** Seconds since 1970. */
  now(): number
}

/** The operations in progress of one site. */
export class RunningOperations {
  readonly #running = new Set<Promise<unknown>>()

  /** Runs an operation. @param res the response counts too, until sent or until the connection is closed */
  run<T>(operation: () => Promise<T>, res?: Response): Promise<T> {
    // listens from the start, because a serverless host emits no later event. An upgrade has no response
    const sent = typeof res?.once === 'function' ? finished(res).catch(() => {}) : undefined
    const result = operation()
    const over: Promise<unknown> = Promise.allSettled([result, sent]).then(() => this.#running.delete(over))
    this.#running.add(over)
    return result
  }

  /** Resolves when no operation is in progress, or after `maxMs` milliseconds. */
  async idle(maxMs: number): Promise<void> {
    const timer = new AbortController()
    const late = sleep(maxMs, true, { signal: timer.signal }).catch(() => true)
    while (this.#running.size > 0 && (await Promise.race([Promise.all(this.#running), late])) !== true);
    timer.abort()
  }
}
