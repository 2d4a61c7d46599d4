/**
 * `sso2()` creates and connects the parts of one site, and closes them. The file holds no rules of a login: decisions are in lib/decide, their
 * effects in lib/web. Continue in lib/web/router.ts for the path of a request.
 */
import { IncomingMessage, type ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import { type Config, makeConfig } from './config'
import { type LoginError, type LoginNumbers, neutralised } from './decide/login'
import { makeDoctorTarget } from './doctor-target'
import { Sso2SetupError } from './errors'
import { IdentifyHealth } from './remote/identify-health'
import { LoginHealth } from './remote/login-health'
import { type PlatformApi, ServiceApi, scopes } from './remote/platform-api'
import { Sso2Client } from './remote/sso2-client'
import { formExchange, serviceTokenSource, type TokenEndpoint } from './remote/token-endpoint'
import { AccountIndex } from './storage/account-index'
import type { Kv } from './storage/kv'
import { Locks } from './storage/locks'
import { MemoryKv } from './storage/memory-kv'
import { PendingLogouts } from './storage/pending-logouts'
import { Records } from './storage/records'
import { RedisKv } from './storage/redis-kv'
import { startLogoutTimer } from './web/flows/retry-logouts'
import { defaultLoadUser } from './web/flows/ticket-user'
import { type Guard, identifyGuard, type RequireLoginOptions, requireLogin } from './web/guards'
import { type Health, health } from './web/health'
import { returnToOf } from './web/http/request-facts'
import { Limits } from './web/limits'
import { builtInPages } from './web/pages/views'
import { middleware, router } from './web/router'
import { loginText } from './web/routes/login'
import { SiteSessions } from './web/session/site-sessions'
import { RunningOperations, type Site } from './web/site'
import type { Sso2Options } from './web/sso2-options'

/**
 * A handler that works without Express. Pass the handler to `app.use` or to `engine.use` of socket.io. A listener of `upgrade` can call the
 * handler too, with `{}` as the response. The handler calls `next` once, with or without an error.
 */
export type ConnectHandler = (
  request: IncomingMessage,
  response: Partial<ServerResponse>,
  next: (error?: unknown) => void,
) => void

/** A request handler that runs session, router and middleware in order. A site can also mount the three parts separately. */
export interface Sso2 extends RequestHandler {
  /**
   * Sets `req.session`, `req.sessionID` and `req.sessionStore`, as express-session does. `regenerate()` and `destroy()` end the
   * session on this site only, so the next page load restores the login. To log out, call `req.sso2.logout()`. Changes to
   * `req.session.cookie` do not affect a cookie already set. More: docs/sessions.md.
   */
  readonly session: ConnectHandler
  /** Handles the routes of the package: landing, login, logout and logout of all sessions. Mount the router before `middleware`. */
  readonly router: RequestHandler
  /** Sets `req.sso2`, and redirects page loads of a browser without a session to Identify. */
  readonly middleware: ConnectHandler
  /**
   * Returns a guard that lets logged-in users pass. Other navigations are redirected to the login page and return after the login. Any
   * other request gets 401 JSON with the `loginUrl`. With `{ fresh: true }` a user passes only after a status check that starts during the
   * request. If the SSO system does not answer, the response is 503.
   */
  requireLogin(options?: RequireLoginOptions): Guard
  /** Returns a guard that identifies the visitor of a single route, if option `identify` is `'on-demand'`. */
  identify(): Guard
  /**
   * Validates the return address of a custom form.
   * @param value the submitted `return_to`: a path or an address
   * @returns the address, if on the site or a trusted origin. Otherwise the address of the front page
   */
  returnTo(value: unknown): string
  /**
   * Returns the text of a failed login, as the built-in login page shows it: in the language and with the texts of the site, and with one text
   * for several errors if `loginMessages` is `'neutral'`. For your own form: `sso.text(result.error, result)`.
   * @param error the code of a failed login
   * @param numbers the numbers of the result, or of a JSON response
   */
  text(error: LoginError, numbers?: LoginNumbers): string
  /** The five operations of SSO2, for use outside a request. */
  readonly client: Sso2Client
  /** The REST API with a service token, for calls that need no user. */
  readonly api: PlatformApi
  /** Probes the session store, and reports the known state of the other systems. Never throws because of an outage. */
  health(): Promise<Health>
  /** Waits up to ten seconds for running operations, then closes the connections opened by `sso2()`. A Redis client of the site stays open. */
  close(): Promise<void>
}

/**
 * Creates single sign-on for one site: `app.use(sso2())`.
 * @param options a missing option is read from the environment
 * @throws {Sso2ConfigError} with a list of every problem of options and environment
 * @throws {Sso2SetupError} if `options` is no object, for example in `app.use(sso2)`
 */
export function sso2(options: Sso2Options = {}): Sso2 {
  if (options instanceof IncomingMessage)
    throw new Sso2SetupError('sso2 is no middleware. Write const sso = sso2(), then app.use(sso)')
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new Sso2SetupError('The options of sso2() must be an object')
  const config = makeConfig(options, process.env, { now: () => Date.now() })
  const client = new Sso2Client({ ...config, clientSecret: config.clientSecrets() })
  const { apiUrl, tokenUrl = '', clientId, agent } = config
  const clientSecret = () => config.clientSecrets()[client.secretInUse] ?? ''
  const endpoint = { tokenUrl, clientId, clientSecret, ticketExchange: options.ticketExchange ?? {}, agent }
  const now = secondsOf(config)
  const accessToken = serviceTokenSource(endpoint, scopes.marketplaceGroups, now)
  const api = new ServiceApi({ apiUrl, agent, accessToken })
  const kv = openStore(config) // last, because an error above would leave the connection open
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
  // both parts also accept requests without the properties of Express
  const parts = inOrder as typeof inOrder & Pick<Sso2, 'session' | 'middleware'>
  const stopLogoutTimer = startLogoutTimer(site)
  let closing: Promise<void> | undefined
  const closed = () => {
    closing ??= close(site, stopLogoutTimer, kv)
    return closing
  }
  if (config.clientSecrets().length > 1) client.probe().catch(() => {}) // finds out which secret the SSO system uses, before the first visitor arrives
  const { exchangeTicket, ticketExchange = {}, loadUser } = options
  const examined = { config, exchangeTicket, ticketExchange, namesUsers: loadUser !== undefined, close: closed }
  return Object.assign(makeDoctorTarget(handler, examined), parts, {
    requireLogin: (guard?: RequireLoginOptions) => requireLogin(site, guard),
    identify: (...given: unknown[]) => {
      if (given.length > 0) throw new Sso2SetupError('Write sso.identify(). It takes no options')
      return identifyGuard(site)
    },
    returnTo: (value: unknown) => returnToOf(config, value),
    text: (error: LoginError, numbers: LoginNumbers = {}) =>
      loginText(config, neutralised(config.loginMessages, { ok: false, ...numbers, error })),
    client,
    api,
    health: () => health(site),
    close: closed,
  })
}

/** Authenticate may take 8 s, and the exchange of its ticket needs more time. */
const DRAIN_MS = 10_000

/** Waits for running operations, then closes every connection. Requests that arrive in the meantime are served. */
async function close(site: Site, stopLogoutTimer: () => Promise<void>, kv: Kv): Promise<void> {
  await site.runningOperations.idle(DRAIN_MS)
  await stopLogoutTimer() // last, because a running logout may be left for later
  site.identifyHealth.close()
  site.client.close()
  await kv.close()
}

/** Returns the clock of the site, in seconds. */
const secondsOf =
  ({ clock }: Config) =>
  () =>
    Math.floor(clock.now() / 1000)

const openStore = (config: Config): RedisKv | MemoryKv =>
  config.redis === undefined ? new MemoryKv(() => config.clock.now()) : new RedisKv(config.redis, config)

function makeSite(
  config: Config,
  options: Sso2Options,
  endpoint: TokenEndpoint,
  client: Sso2Client,
  kv: RedisKv | MemoryKv,
): Site {
  const now = secondsOf(config)
  const parts = { kv, prefix: config.prefix, keys: config.encryptionKeys }
  const records = new Records(parts)
  return {
    config,
    client,
    identifyHealth: new IdentifyHealth(client, config),
    records,
    accounts: new AccountIndex(parts),
    locks: new Locks(parts),
    pendingLogouts: new PendingLogouts(parts),
    sessions: new SiteSessions({
      config,
      records,
      client: kv instanceof RedisKv ? kv.client : kv,
      now,
    }),
    exchange: options.exchangeTicket ?? formExchange(endpoint),
    loadUser: options.loadUser ?? defaultLoadUser(config.userPath),
    loginHealth: new LoginHealth(),
    shouldIdentify: options.shouldIdentify,
    onLogin: options.onLogin,
    onLogout: options.onLogout,
    views: options.views ?? {},
    builtIn: builtInPages(config),
    limits: new Limits(config, kv instanceof RedisKv ? kv : undefined, now),
    runningOperations: new RunningOperations(),
    now,
  }
}
