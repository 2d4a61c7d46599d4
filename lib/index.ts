/** express-sso2: SSO2 single sign-on for Express in one `app.use(sso)`. */

/// <reference types="express-session" preserve="true" />

export type { Agents } from './config/agents'
export type { BrandOptions, LoginName, LoginPageLinks, ViewPolicy } from './config/branding'
export type { RedisClient } from './config/redis-client'
export type { Language } from './config/texts'
export type { TextCode } from './config/texts/en'
export type { LoginError, LoginNumbers, LoginResult } from './decide/login'
export type { LogoutResult } from './decide/logout-mark'
export type { DegradedReason, User } from './decide/record'
export * from './errors'
export type { Logger } from './log/log'
export {
  type AuthenticateClaims,
  type LogoutAllClaims,
  type LogoutClaims,
  type SessionStatus,
  type SessionStatusClaims,
  sso2ErrorCodes,
} from './protocol/claims'
export type { SessionToken } from './protocol/session-token'
export {
  type AccessTokenSource,
  type CallOptions,
  PlatformApi,
  type PlatformApiOptions,
  scopes,
} from './remote/platform-api'
export type {
  Administrator,
  AdministratorAccount,
  GiftReceiver,
  Market,
  MarketplaceGroup,
} from './remote/platform-types'
export type { Sso2ClientOptions } from './remote/sso2-client'
export { Sso2Client } from './remote/sso2-client'
export type { AccessToken, ExchangeContext, ExchangeTicket, TicketExchange } from './remote/token-endpoint'
export { type ConnectHandler, type Sso2, sso2 } from './sso2'
export type { Credentials } from './web/flows/login-form'
export type { DenialReason, Guard, RequireLoginOptions } from './web/guards'
export type { Health } from './web/health'
export type { Sso2Event } from './web/hooks'
export type {
  ConfirmLogoutContext,
  CustomViews,
  LoginContext,
  PageContext,
  ProblemContext,
  ViewContexts,
} from './web/pages/views'
export type { LoadUser, LoadUserContext, OnLogin, OnLogout } from './web/site'
export type { Sso2Options } from './web/sso2-options'
export type { Sso2Request } from './web/sso2-request'
