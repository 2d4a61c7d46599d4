/** Everything that the handlers of one site share, each part as far as they need it; made once by `sso2()`. */
import type { Request } from 'express'
import type { Config } from '../config'
import type { MacKeys } from '../decide/binding'
import type { LoginError } from '../decide/login'
import type { LogoutResult } from '../decide/logout'
import type { User } from '../decide/record'
import type { RequestPolicy } from '../decide/request-decision'
import type { StoredEntry } from '../decide/stored-entry'
import type { IdentifyHealth } from '../remote/identify-health'
import type { LoginDependencies } from '../remote/make-clients'
import type { PlatformApi } from '../remote/platform-api'
import type { Sso2Client } from '../remote/sso2'
import type { ExchangeTicket } from '../remote/ticket'
import type { LoginLocks } from '../storage/login-locks'
import type { LogoutOutbox } from '../storage/logout-outbox'
import type { Records } from '../storage/records'
import type { SessionIndex } from '../storage/session-index'
import type { Unavailable } from '../storage/unavailable'
import type { UnreadLogouts } from '../storage/unread-logouts'
import type { Limits } from './limits'
import type { RunningOperations } from './running-operations'

/** What `loadUser` is given. */
export interface LoadUserContext {
  /** What the ticket was exchanged for. */
  readonly accessToken: string
  /** The REST API with that token. */
  readonly api: PlatformApi
  /** SSO2 session ID. */
  readonly sid: string
}

/** Names the user of an access token; may be the site's own. */
export type LoadUser = (context: LoadUserContext) => Promise<User> | User

/** The two steps from a ticket to a user. */
export type Hook = 'exchangeTicket' | 'loadUser'

/** Is called once after each login established on this site. */
export type OnLogin = (req: Request, user: User) => void | Promise<void>
/** Is called once after each logout requested on this site. */
export type OnLogout = (req: Request, result: LogoutResult) => void | Promise<void>

/** The state of a request's session. */
export interface SessionState {
  /** Key of the session that the browser's cookie leads to; undefined without a cookie of ours that can be read. */
  readonly key: string | undefined
  /** What stands there; 'unavailable' when the store did not answer, or is known to be away for a stranger whom nobody could store. */
  readonly stored: StoredEntry | Unavailable
  /** A cookie of our name came that this process cannot read: doubled, or signed by a secret it does not know. */
  readonly isUnreadable: boolean
  /** Is it a session of the site's own? */
  readonly isExternal: boolean
}

/** The session that follows. */
export interface NextSession {
  readonly id: string
  /** Data of the old session as it was taken out of the store; null: none. */
  readonly taken: string | null
  /** False: starts empty. */
  readonly keepsData: boolean
  /** Whose login it is; `undefined` for an anonymous session. */
  readonly accountId: string | undefined
}

/** `req.session`, as far as the rest of the package has to do with it. */
export interface Sessions {
  /** Reads the state of the request's session. */
  stateOf(req: Request): Promise<SessionState>
  /** When the request arrived, in milliseconds since 1970: before its session was read. */
  arrivalOf(req: Request): number
  /** How long the data of the request's session is to live from now on, in seconds; `undefined` if there is none here. */
  dataLifeOf(req: Request): number | undefined
  /** ID for the session that follows; '' where the session is the site's own. @param sidHash its session of the SSO system */
  nextId(req: Request, sidHash: string): string
  /** Gives this request the session that follows. @returns its ID, or 'unavailable' when data could not be saved */
  renew(req: Request, next: NextSession): Promise<string | Unavailable>
  /** The session has ended: the request goes on with an empty one. */
  end(req: Request): Promise<void>
  /** Another request has ended or moved the session: this one goes on without any, and leaves the browser's cookie alone. */
  leave(req: Request): void
  /** Gives this request the session that another request of the same browser got. */
  adopt(req: Request, sessionId: string): Promise<void>
}

/** What every view is given. */
export interface PageContext {
  /** New for every answer, and known to `contentSecurityPolicy`: goes into the `nonce` of the page's scripts and styles. */
  readonly nonce: string
}

/** What the login view shows. */
export interface LoginContext extends PageContext {
  /** Where the form is posted. */
  readonly action: string
  /** Goes into the hidden field `return_to`. */
  readonly returnTo: string
  /** What was typed before; never a password. */
  readonly username: string
  /** A stable code; `undefined` where nothing went wrong. */
  readonly error: LoginError | undefined
  /** The error, or the notice that the session had ended, in words. */
  readonly message: string | undefined
  /** Before the account is frozen, where the SSO system told them. */
  readonly remainingAttempts: number | undefined
  /** Until the account can be used again. */
  readonly frozenForSeconds: number | undefined
}

/** What the logout confirmation shows. */
export interface ConfirmLogoutContext extends PageContext {
  /** Where the form is posted. */
  readonly action: string
  /** Goes into the hidden field `return_to`. */
  readonly returnTo: string
  /** Ends all sessions of the account. */
  readonly isAll: boolean
}

/** What the problem page shows. */
export interface ProblemContext extends PageContext {
  /** Of HTTP. */
  readonly status: number
  /** Of its text, for example `page_unavailable`. */
  readonly code: string
  /** The same in words. */
  readonly message: string
  /** The site's front page. */
  readonly homeUrl: string
}

/** What each view is given, by its name. */
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

/** Views of the site's own. A view that is absent is built in. */
export type CustomViews = { readonly [Name in keyof Views]?: Views[Name] | undefined }

/** The pages that a site has without views of its own. */
export interface BuiltInPages {
  readonly views: Views
  /** Content-Security-Policy of all of them. */
  readonly policy: string
}

/** The parts of one site. */
export interface Site {
  readonly config: Config
  readonly client: Sso2Client
  /** The health of Identify. */
  readonly identifyHealth: IdentifyHealth
  readonly records: Records
  readonly sessionIndex: SessionIndex
  readonly loginLocks: LoginLocks
  readonly logoutOutbox: LogoutOutbox
  readonly sessions: Sessions
  readonly exchange: ExchangeTicket
  readonly loadUser: LoadUser
  /** Which of the two are the site's own, and not the package's. */
  readonly ownHooks: ReadonlySet<Hook>
  /** The health of token endpoint and user path: while one is away, no login waits for it. */
  readonly loginDependencies: LoginDependencies
  readonly shouldIdentify: (req: Request) => boolean
  readonly onLogin: OnLogin | undefined
  readonly onLogout: OnLogout | undefined
  /** The site's own. */
  readonly views: CustomViews
  readonly builtIn: BuiltInPages
  readonly limits: Limits
  readonly unreadLogouts: UnreadLogouts
  /** Retries kept logouts in the background. */
  readonly logoutWorker: { start(): void }
  /** Runs operations that must end before the site may be closed. */
  readonly runningOperations: RunningOperations
  readonly policy: RequestPolicy
  readonly macKeys: MacKeys
  /** Seconds since 1970. */
  now(): number
}
