/** `sso2()`: one site's parts, made and wired. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import { type Config, makeConfig } from './config'
import type { Health } from './decide/health'
import type { RequestPolicy } from './decide/request-decision'
import { makeDoctorTarget } from './doctor-target'
import { endpointOf, makeClient, makeIdentifyHealth, makeLoginDependencies, serviceApi } from './remote/make-clients'
import type { PlatformApi } from './remote/platform-api'
import type { Sso2Client } from './remote/sso2'
import { formExchange, type TokenEndpoint } from './remote/ticket'
import { Counts } from './storage/counts'
import type { Kv } from './storage/kv'
import { LoginLocks } from './storage/login-locks'
import { LogoutOutbox } from './storage/logout-outbox'
import { openStore } from './storage/open-store'
import { Records } from './storage/records'
import { SessionIndex } from './storage/session-index'
import { storeUnavailable } from './storage/unavailable'
import { UnreadLogouts } from './storage/unread-logouts'
import { defaultLoadUser } from './web/actions/exchange-ticket'
import { LogoutRetryWorker } from './web/actions/logout-retry-worker'
import { moveSession, removeFromIndex } from './web/actions/sign-in'
import { type Guard, identifyGuard, type RequireLoginOptions, requireLogin } from './web/guards'
import { health } from './web/health'
import { guardedShouldIdentify } from './web/hooks'
import { isNavigationByPerson, returnToOf } from './web/http/request-facts'
import { Limits } from './web/limits'
import type { Sso2Options } from './web/options'
import { builtInPages } from './web/pages/views'
import { middleware, router } from './web/router'
import { RunningOperations } from './web/running-operations'
import { SiteSessions } from './web/session/site-sessions'
import type { Site } from './web/site'
import { Sso2Request } from './web/sso2-request'
import { StoredRecord } from './web/stored-record'

/**
 * A handler that needs no Express: `app.use` takes it, socket.io's `engine.use`, and a listener of `upgrade` calls it with `{}` for the
 * answer that an upgrade does not have. `next` is called once, with an error or without.
 */
export type ConnectHandler = (
  request: IncomingMessage,
  response: Partial<ServerResponse>,
  next: (error?: unknown) => void,
) => void

/** A request handler that is session, router and middleware in order, and carries them for sites that mount them apart. */
export interface Sso2 extends RequestHandler {
  /**
   * Gives the request its `req.session`, `req.sessionID` and `req.sessionStore`, as express-session does. `regenerate()` keeps the login;
   * `destroy()` ends it on this site alone, and the next page load brings it back: a logout is `req.sso2.logout()`. What is set on
   * `req.session.cookie` does not change a cookie that the browser has. docs/session-differences.md has the rest.
   */
  readonly session: ConnectHandler
  /** The pages of this package: landing, login, logout and logout of all sessions. Stands before `middleware`. */
  readonly router: RequestHandler
  /** Gives the request its `req.sso2`, and sends a browser that nobody knows through Identify. */
  readonly middleware: ConnectHandler
  /**
   * A guard: lets logged-in users pass; a navigation goes to the login page and comes back, everything else gets 401 JSON with the
   * `loginUrl`. With `{ fresh: true }` it passes only on an answer that was asked for after the request began, and says 503 without one.
   */
  requireLogin(options?: RequireLoginOptions): Guard
  /** A guard that identifies the visitor of one route, where option `identify` is `'on-demand'`. */
  identify(): Guard
  /**
   * Where to go on after a form of the site's own.
   * @param value what came as `return_to`: a path or an address
   * @returns that address where it is of this site or a trusted origin, else the front page's
   */
  returnTo(value: unknown): string
  /** The five operations of SSO2, for use outside a request. */
  readonly client: Sso2Client
  /** The REST API with a service token, for calls that need no identity. */
  readonly api: PlatformApi
  /** Asks the store and tells what is known of the rest; never throws for an outage. */
  health(): Promise<Health>
  /** Closes what `sso2()` itself opened. A client that the site gave stays open. */
  close(): Promise<void>
}

/**
 * Single sign-on for one site: `app.use(sso2())`.
 * @param options what is left out comes from the environment
 * @throws {Sso2ConfigError} that lists every problem of options and environment
 */
export function sso2(options: Sso2Options = {}): Sso2 {
  const config = makeConfig(options, process.env, { now: () => Date.now() })
  const client = makeClient(config)
  const endpoint = endpointOf(config, client, options.ticketExchange)
  const api = serviceApi(config, endpoint)
  const { kv } = openStore(config) // last, so that nothing is left open where something throws
  const site = makeSite(config, options, endpoint, client, kv)
  const inOrder = { session: site.sessions.handler, router: router(site), middleware: middleware(site) }
  const handler: RequestHandler = (req, res, next) => {
    inOrder.session(req, res, (sessionError?: unknown) => {
      if (sessionError) return next(sessionError)
      inOrder.router(req, res, (routeError?: unknown) =>
        routeError ? next(routeError) : inOrder.middleware(req, res, next),
      )
    })
  }
  // what Express adds to a request is looked at where it is there, and nowhere else
  const parts = inOrder as typeof inOrder & Pick<Sso2, 'session' | 'middleware'>
  let closing: Promise<void> | undefined
  const closed = () => {
    closing ??= close(site, kv)
    return closing
  }
  site.logoutWorker.start()
  if (config.clientSecrets().length > 1) client.look() // which of them the SSO system uses, before the first visitor comes
  const { exchangeTicket, ticketExchange = {}, loadUser } = options
  const examined = { config, exchangeTicket, ticketExchange, namesUsers: loadUser !== undefined, close: closed }
  return Object.assign(makeDoctorTarget(handler, examined), parts, {
    requireLogin: (guard?: RequireLoginOptions) => requireLogin(site, guard),
    identify: () => identifyGuard(),
    returnTo: (value: unknown) => returnToOf(config, value),
    client,
    api,
    health: () => health(site),
    close: closed,
  })
}

/** An Authenticate may take 8 s, and its ticket some more. */
const DRAIN_MS = 10_000

/** What is under way comes to its end first, and what comes meanwhile is served. */
async function close(site: OwnSite, kv: Kv): Promise<void> {
  await Promise.all([site.logoutWorker.stop(), site.runningOperations.idle(DRAIN_MS)])
  site.identifyHealth.close()
  site.client.close()
  site.loginDependencies.token?.close()
  site.loginDependencies.user?.close()
  await kv.close()
}

/** What the wiring knows of a site, and no handler. */
type OwnSite = Site & {
  readonly logoutWorker: Pick<LogoutRetryWorker, 'start' | 'stop'>
  readonly sessions: SiteSessions
}

function makeSite(config: Config, options: Sso2Options, endpoint: TokenEndpoint, client: Sso2Client, kv: Kv) {
  const now = () => Math.floor(config.clock.now() / 1000)
  const { prefix, encryptionKeys } = config
  const records = new Records(kv, prefix, encryptionKeys, now)
  const loginLocks = new LoginLocks(kv, prefix, encryptionKeys)
  const counts = new Counts(kv, prefix, () => config.clock.now())
  const sessionIndex = new SessionIndex(kv, prefix, () => config.clock.now())
  const site: OwnSite = {
    config,
    client,
    identifyHealth: makeIdentifyHealth(config, client),
    records,
    sessionIndex,
    loginLocks,
    logoutOutbox: new LogoutOutbox(kv, prefix, encryptionKeys),
    unreadLogouts: new UnreadLogouts(),
    sessions: new SiteSessions(config, records, sessionIndex, now),
    exchange: options.exchangeTicket ?? formExchange(endpoint),
    loadUser: options.loadUser ?? defaultLoadUser(config.userPath),
    ownHooks: new Set((['exchangeTicket', 'loadUser'] as const).filter((hook) => options[hook] !== undefined)),
    loginDependencies: makeLoginDependencies(config, endpoint, options),
    shouldIdentify: options.shouldIdentify ? guardedShouldIdentify(options.shouldIdentify) : isNavigationByPerson,
    onLogin: options.onLogin,
    onLogout: options.onLogout,
    views: options.views ?? {},
    builtIn: builtInPages(config),
    limits: new Limits({ config, loginLocks, counts, now }),
    logoutWorker: { start: () => queue.start(), stop: () => queue.stop() },
    runningOperations: new RunningOperations(),
    policy: policyOf(config),
    macKeys: config.macKeys(),
    now,
  }
  const queue = new LogoutRetryWorker(site)
  followSessions(site)
  return site
}

/** What handlers of the site do to `req.session` is done to its record too. */
function followSessions(site: OwnSite): void {
  site.sessions.onDestroy = (key, record) => removeFromIndex(site, key, record)
  site.sessions.onRegenerate = async (req, newId) => {
    const { key, stored } = await site.sessions.stateOf(req)
    const known = Sso2Request.holderBehind(req.sso2)?.context.stored
    const moved = await moveSession(site, known ?? new StoredRecord(site, key, stored), newId)
    if (moved === 'unavailable') throw storeUnavailable()
    return moved === 'moved'
  }
}

/** A claim outlives one call and its retry, in seconds. */
const LOCK_SPARE_SECONDS = 2

function policyOf({ recheckSeconds, graceSeconds, absoluteSeconds, timeoutMs }: Config): RequestPolicy {
  const lockSeconds = Math.ceil(timeoutMs / 1000) + LOCK_SPARE_SECONDS
  return { recheckSeconds, graceSeconds, absoluteSeconds, lockSeconds }
}
