/** Everything that the handlers of one site share; made once by `sso2()`. */
import type { Request } from 'express'
import type { Config } from '../config'
import type { User } from '../decide/record'
import type { Circuit } from '../remote/circuit'
import type { PlatformApi } from '../remote/platform-api'
import type { Sso2Client } from '../remote/sso2'
import type { Exchange } from '../remote/ticket'
import type { Logins } from '../storage/logins'
import type { Records } from '../storage/records'
import type { LandingLimit } from './landing-limit'
import type { LoginLimiter } from './login-limit'
import type { Texts } from './pages/texts'
import type { Views } from './pages/views'
import type { SiteSessions } from './session'

/** What `identifyUser` is given. */
export interface IdentifyContext {
  readonly accessToken: string
  readonly api: PlatformApi
  /** SSO2 session ID. */
  readonly sid: string
}

/** Names the user of an access token; may be the site's own. */
export type IdentifyUser = (context: IdentifyContext) => Promise<User> | User

/** The parts of one site. */
export interface Site {
  readonly config: Config
  readonly client: Sso2Client
  readonly records: Records
  readonly logins: Logins
  readonly sessions: SiteSessions
  readonly exchange: Exchange
  readonly identifyUser: IdentifyUser
  /** Breakers around the two: a token endpoint or REST API that is away costs nobody else a wait. */
  readonly circuits: { readonly token: Circuit; readonly user: Circuit }
  readonly shouldIdentify: (req: Request) => boolean
  readonly views: Views
  readonly texts: Texts
  readonly loginLimit: LoginLimiter
  readonly landingLimit: LandingLimit
  /** Retries kept logouts in the background. */
  readonly logouts: { start(): void }
  /** Seconds since 1970. */
  now(): number
}
