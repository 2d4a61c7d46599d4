/** The parts that the handlers of a site share, as interfaces. `sso2()` creates them once. */
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Request, Response } from 'express'
import type { Config } from '../config'
import type { LogoutResult } from '../decide/logout-mark'
import type { User } from '../decide/record'
import type { IdentifyHealth } from '../remote/identify-health'
import type { LoginHealth } from '../remote/login-health'
import type { PlatformApi } from '../remote/platform-api'
import type { Sso2Client } from '../remote/sso2-client'
import type { ExchangeTicket } from '../remote/token-endpoint'
import type { AccountIndex } from '../storage/account-index'
import type { Locks } from '../storage/locks'
import type { PendingLogouts } from '../storage/pending-logouts'
import type { Records } from '../storage/records'
import type { Limits } from './limits'
import type { BuiltInPages, CustomViews } from './pages/views'
import type { SiteSessions } from './session/site-sessions'

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

/** Is called once after each login established on this site. */
export type OnLogin = (req: Request, user: User) => void | Promise<void>
/** Is called once after each logout requested on this site, but not for a logout by the hook. */
export type OnLogout = (req: Request, result: LogoutResult) => void | Promise<void>

/** The parts of a site. */
export interface Site {
  readonly config: Config
  readonly client: Sso2Client
  readonly identifyHealth: IdentifyHealth
  readonly records: Records
  readonly accounts: AccountIndex
  readonly locks: Locks
  readonly pendingLogouts: PendingLogouts
  readonly sessions: SiteSessions
  readonly exchange: ExchangeTicket
  readonly loadUser: LoadUser
  /** Do token endpoint and user path work? */
  readonly loginHealth: LoginHealth
  readonly shouldIdentify: ((req: Request) => boolean) | undefined
  readonly onLogin: OnLogin | undefined
  readonly onLogout: OnLogout | undefined
  readonly views: CustomViews
  readonly builtIn: BuiltInPages
  readonly limits: Limits
  /** Operations to finish before the site is closed. */
  readonly runningOperations: RunningOperations
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
