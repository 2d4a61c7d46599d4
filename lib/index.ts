/** express-sso2: SSO2 single sign-on for Express in one `app.use(sso)`. */
import type { Request, RequestHandler } from 'express'
import type { Cluster, Redis } from 'ioredis'
import { type Config, makeConfig } from './config'
import type { ConfigOptions } from './config/schema'
import { Circuit } from './remote/circuit'
import { PlatformApi, scopes } from './remote/platform-api'
import { serviceTokenSource } from './remote/service-token'
import { Sso2Client } from './remote/sso2'
import { type Exchange, formExchange, readGrant, serviceToken, type TicketExchange } from './remote/ticket'
import type { Kv } from './storage/kv'
import { Logins } from './storage/logins'
import { MemoryKv } from './storage/memory-kv'
import { Records } from './storage/records'
import { openRedis, redisKv } from './storage/redis-kv'
import { logoutQueue } from './web/end-session'
import { isNavigationByPerson } from './web/facts'
import { identifyGuard, type RequireLoginOptions, requireLogin } from './web/guards'
import { guardedShouldIdentify } from './web/hooks'
import { landingLimit } from './web/landing-limit'
import { loginLimiter } from './web/login-limit'
import { middleware } from './web/middleware'
import type { Texts } from './web/pages/texts'
import { builtInViews, type Views } from './web/pages/views'
import { router } from './web/router'
import { SiteSessions } from './web/session'
import type { IdentifyUser, Site } from './web/site'
import { defaultIdentifyUser } from './web/user'

export type { LoginError, LoginResult } from './decide/login'
export type { User } from './decide/record'
export type { DegradedReason } from './decide/visit'
export * from './errors'
export {
  type AuthenticateClaims,
  type LogoutAllClaims,
  type LogoutClaims,
  type SessionStatus,
  type SessionStatusClaims,
  sso2ErrorCodes,
} from './protocol/claims'
export type { SessionToken } from './protocol/session-token'
export { PlatformApi, type PlatformApiOptions, scopes } from './remote/platform-api'
export { createdAt } from './remote/platform-time'
export type {
  Administrator,
  AdministratorAccount,
  GiftReceiver,
  Market,
  MarketplaceGroup,
} from './remote/platform-types'
export type { AccessTokenSource, CallOptions } from './remote/rest-call'
export { Sso2Client, type Sso2ClientOptions } from './remote/sso2'
export type { AccessToken, Exchange, ExchangeContext, TicketExchange } from './remote/ticket'
export type { LogoutResult } from './web/end-session'
export type { Sso2Event } from './web/events'
export type { RequireLoginOptions } from './web/guards'
export type { ConfirmLogoutContext, LoginContext, ProblemContext, Views } from './web/pages/views'
export type { Sso2Request } from './web/request'
export type { IdentifyContext, IdentifyUser } from './web/site'

/** Options of `sso2()`; the environment fills what is left out. Contract, section 2. */
export interface Sso2Options extends ConfigOptions {
  readonly exchangeTicket?: Exchange
  readonly ticketExchange?: TicketExchange
  readonly identifyUser?: IdentifyUser
  readonly shouldIdentify?: (request: Request) => boolean
  readonly views?: Partial<Views>
  readonly texts?: Texts
}

/** What is known of the systems around the site. */
export interface Health {
  readonly ok: boolean
  readonly sso: 'ok' | 'unavailable'
  readonly store: 'ok' | 'unavailable'
  /** Our clock minus the SSO system's; `undefined` before its first answer. */
  readonly clockOffsetSeconds: number | undefined
}

/** A request handler that is session, router and middleware in order, and carries them. Contract, section 1. */
export interface Sso2 extends RequestHandler {
  readonly session: RequestHandler
  readonly router: RequestHandler
  readonly middleware: RequestHandler
  requireLogin(options?: RequireLoginOptions): RequestHandler
  identify(): RequestHandler
  readonly client: Sso2Client
  readonly api: PlatformApi
  health(): Promise<Health>
  close(): Promise<void>
}

/**
 * Single sign-on for one site.
 * @throws {Sso2ConfigError} that lists every problem of options and environment
 */
export function sso2(options: Sso2Options = {}): Sso2 {
  const config = makeConfig(options, process.env, { now: () => Date.now() })
  const [client, api] = [makeClient(config), serviceApi(config, options)]
  const { kv, client: redis } = openStore(config) // last, so that nothing is left open where something throws
  const site = makeSite(config, options, client, kv, redis)
  const parts = { session: site.sessions.handler, router: router(site), middleware: middleware(site) }
  const handler: RequestHandler = (req, res, next) => {
    parts.session(req, res, (sessionError?: unknown) => {
      if (sessionError) return next(sessionError)
      parts.router(req, res, (routeError?: unknown) =>
        routeError ? next(routeError) : parts.middleware(req, res, next),
      )
    })
  }
  return Object.assign(handler, parts, {
    requireLogin: (guard?: RequireLoginOptions) => requireLogin(site, guard),
    identify: () => identifyGuard(),
    client,
    api,
    health: () => health(site),
    close: async () => {
      site.logouts.stop()
      client.close()
      await kv.close()
    },
  })
}

function openStore({ redis, clock }: Config): { kv: Kv; client: Redis | Cluster | undefined } {
  if (redis === undefined) return { kv: new MemoryKv(() => clock.now()), client: undefined }
  const client = typeof redis === 'string' ? openRedis(redis) : redis
  return { kv: redisKv(client, typeof redis === 'string'), client }
}

function makeSite(
  config: Config,
  options: Sso2Options,
  client: Sso2Client,
  kv: Kv,
  redis: Redis | Cluster | undefined,
) {
  const now = () => Math.floor(config.clock.now() / 1000)
  const records = new Records(kv, config.prefix)
  const logins = new Logins(kv, config.prefix)
  const texts = options.texts ?? {}
  const site: Site & { logouts: ReturnType<typeof logoutQueue> } = {
    config,
    client,
    records,
    logins,
    sessions: new SiteSessions(config, records, now),
    exchange: options.exchangeTicket ?? formExchange(endpointOf(config, options)),
    identifyUser: options.identifyUser ?? defaultIdentifyUser(config.userPath),
    circuits: { token: new Circuit(), user: new Circuit() },
    shouldIdentify: options.shouldIdentify ? guardedShouldIdentify(options.shouldIdentify) : isNavigationByPerson,
    views: { ...builtInViews(texts), ...options.views },
    texts,
    loginLimit: loginLimiter(config.loginLimit, config.prefix, redis, logins, now),
    landingLimit: landingLimit(config.prefix, redis),
    logouts: { start: () => queue.start(), stop: () => queue.stop() },
    now,
  }
  const queue = logoutQueue(site)
  return site
}

function makeClient(config: Config): Sso2Client {
  const { ssoUrl, clientId, organisationId, ssoIdentifier, timeoutMs, clockToleranceSeconds, clock } = config
  const clientSecret = config.clientSecrets()
  return new Sso2Client({
    ssoUrl,
    clientId,
    clientSecret,
    organisationId,
    ssoIdentifier,
    timeoutMs,
    clockToleranceSeconds,
    clock,
  })
}

function endpointOf(config: Config, { ticketExchange = {} }: Sso2Options) {
  return {
    tokenUrl: config.tokenUrl ?? '',
    clientId: config.clientId,
    clientSecret: config.clientSecret,
    ticketExchange,
  }
}

function serviceApi(config: Config, options: Sso2Options): PlatformApi {
  const now = () => Math.floor(config.clock.now() / 1000)
  const fetchGrant = async () =>
    readGrant(await serviceToken(endpointOf(config, options), scopes.marketplaceGroups), now())
  return new PlatformApi({ apiUrl: config.apiUrl, accessToken: serviceTokenSource(fetchGrant, now) })
}

async function health({ client, records }: Site): Promise<Health> {
  const store = await records.ping().then(
    () => 'ok' as const,
    () => 'unavailable' as const,
  )
  const sso = client.isAvailable ? 'ok' : 'unavailable'
  return { ok: store === 'ok' && sso === 'ok', sso, store, clockOffsetSeconds: client.clockOffsetSeconds }
}
