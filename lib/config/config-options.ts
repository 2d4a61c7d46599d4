/** Options that become configuration, as a site writes them. The comments are written by `npm run docs`, from the schema. */

import type { Logger } from '../log/log'
import type { Agents } from './agents'
import type { BrandingOptions } from './branding'
import type { RedisClient } from './redis-client'

/** Options that become configuration, as a site writes them. */
export interface ConfigOptions extends BrandingOptions {
  /**
   * Base address of the SSO system. Must be an address such as https://sso.example. Required. Environment variable:
   * `SSO2_URL`.
   */
  readonly ssoUrl?: string | undefined
  /**
   * The API client ID. Names the site in request and Session Tokens (`cid`, `aud`). Must be 1 to 200 printable
   * characters without spaces. Required. Environment variable: `SSO2_CLIENT_ID`.
   */
  readonly clientId?: string | undefined
  /**
   * The API client's secret. Accepts an array for rotation: all secrets verify. The first one signs, until a response
   * shows that the SSO system uses another one (docs/deployment.md). Must be a text of at least 32 bytes, or an array
   * of such texts. Required. Environment variable: `SSO2_CLIENT_SECRET`.
   */
  readonly clientSecret?: string | readonly string[] | undefined
  /** Accepts a `clientSecret` of fewer than 32 bytes, if the platform has issued one. Default: false. */
  readonly allowWeakSecret?: boolean | undefined
  /**
   * The organisation ID: `iss` of request tokens. Must differ from `clientId` and `ssoIdentifier`. Must be 1 to 200
   * printable characters without spaces. Required. Environment variable: `SSO2_ORGANISATION_ID`.
   */
  readonly organisationId?: string | undefined
  /**
   * Public address of the site, with its mount path if it has one. Never taken from the Host header. Like every
   * address, it is used as browsers write it: host in small letters and punycode, without default port,
   * percent-encoded. Must be an address such as https://www.example. Required. Environment variable: `SSO2_SITE_URL`.
   */
  readonly siteUrl?: string | undefined
  /**
   * Base address of the REST API. Must be an address such as https://api.example. Required. Environment variable:
   * `SSO2_API_URL`.
   */
  readonly apiUrl?: string | undefined
  /**
   * Access token endpoint of the authorization server, where tickets are exchanged. Must be an address such as
   * https://login.example/token. Required unless `exchangeTicket` is given. Environment variable: `SSO2_TOKEN_URL`.
   */
  readonly tokenUrl?: string | undefined
  /**
   * Signs cookies and encrypts stored tokens. Must differ from `clientSecret`. Accepts an array for rotation: all
   * secrets verify, and the first one signs ("Rotate secrets" in docs/deployment.md). Must be a text of at least 32
   * bytes, or an array of such texts. Required. Environment variable: `SSO2_SESSION_SECRET`.
   */
  readonly sessionSecret?: string | readonly string[] | undefined
  /**
   * Redis for sessions: an address, or a client of ioredis. "Redis and Valkey" in docs/deployment.md says what is
   * refused. `sso.close()` leaves a client open that you passed. Must be an address redis:// or rediss://, or an
   * ioredis client. Default: memory, refused in production. Environment variable: `REDIS_URL`.
   */
  readonly redis?: string | RedisClient | undefined
  /**
   * The SSO system's own identifier: `aud` of request tokens and `iss` of Session Tokens. Must be 1 to 200 printable
   * characters without spaces. Default: `'sso-service'`. Environment variable: `SSO2_IDENTIFIER`.
   */
  readonly ssoIdentifier?: string | undefined
  /**
   * Path below `apiUrl` that returns the user of an access token. The `item` of the response (or the response itself)
   * becomes the user. Its `account_id` is also available as `accountId`. Refused in code with `loadUser`. Must be a
   * path that begins with /. Default: `'/external/api/v1/me'`. Environment variable: `SSO2_USER_PATH`.
   */
  readonly userPath?: string | undefined
  /** Cookie, prefix and lifetime of `req.session`. */
  readonly session?:
    | {
        /**
         * Name of the session cookie. Over https the package adds `__Host-`. The helper cookies share its stem. Two
         * sites on one host name need two names, because cookies ignore ports. Must be 1 to 64 letters, digits, dots,
         * dashes or underscores. Default: `sso2.sid`.
         */
        readonly cookieName?: string | undefined
        /**
         * Beginning of every key in Redis. Must be at most 100 characters without spaces or braces. Default: the client
         * ID and a colon.
         */
        readonly prefix?: string | undefined
        /**
         * A logged-in session ends after this time without a request. An anonymous session ends after one day at most.
         * Must be a whole number from 60 to 31536000 (seconds). Default: `1209600` (14 days).
         */
        readonly idleSeconds?: number | undefined
        /**
         * A login ends after this time in any case. Handlers cannot prolong it. Must be a whole number from 60 to
         * 31536000 (seconds). Default: `7776000` (90 days).
         */
        readonly absoluteSeconds?: number | undefined
      }
    | undefined
  /** Paths of the pages of this package, below the path of `siteUrl`. `false` switches a route off. */
  readonly routes?:
    | {
        /**
         * Path of the landing page (the callback URL). The admin portal must have its full address for the API client.
         * Must be a path that begins with /, or false. Default: `'/sso2/landing'`.
         */
        readonly landing?: string | false | undefined
        /**
         * Path of the login page. Or the full address of a custom login page, on the origin of the site or a trusted
         * origin. Guards then redirect to it with `return_to`. Must be a path that begins with /, the address of a
         * login page, or false. Default: `'/login'`.
         */
        readonly login?: string | false | undefined
        /**
         * Path of the logout. `GET` shows a question, `POST` logs out. Must be a path that begins with /, or false.
         * Default: `'/logout'`.
         */
        readonly logout?: string | false | undefined
        /**
         * Path of the logout of all sessions of the account. `GET` shows a question, `POST` logs out. Must be a path
         * that begins with /, or false. Default: `'/logout-all'`.
         */
        readonly logoutAll?: string | false | undefined
      }
    | undefined
  /**
   * `'always'`: a page load without a session is redirected to Identify. `'on-demand'`: only protected routes and the
   * login page are. An address of more than 2,048 characters never is. Default: `'always'`. Environment variable:
   * `SSO2_IDENTIFY`.
   */
  readonly identify?: 'always' | 'on-demand' | undefined
  /**
   * Age of the last status check at which a session is checked again. Must be a whole number from 1 to 86400 (seconds).
   * Default: `360`. Environment variable: `SSO2_RECHECK_SECONDS`.
   */
  readonly recheckSeconds?: number | undefined
  /**
   * How much longer a stale login is served while the SSO system is down or Redis refuses writes. Must be a whole
   * number from 0 to 3600 (seconds). Default: `900`. Environment variable: `SSO2_GRACE_SECONDS`.
   */
  readonly graceSeconds?: number | undefined
  /**
   * Limit of one Session Status call, including the connection. Authenticate has 8000, the other calls have 3000. Must
   * be a whole number from 50 to 30000 (milliseconds). Default: `2000`. Environment variable: `SSO2_TIMEOUT_MS`.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Tolerated difference between the clocks of site and SSO system. Must be a whole number from 0 to 60 (seconds).
   * Default: `5`.
   */
  readonly clockToleranceSeconds?: number | undefined
  /**
   * Further origins that a return address or the login page may have. Must be an array of addresses such as
   * https://sister.example. Default: `[]`.
   */
  readonly trustedReturnOrigins?: readonly string[] | undefined
  /**
   * Failed logins per IP address and username before further logins are refused. More limits: docs/login-pages.md.
   * `false` switches all limits off. Must be { attempts, perSeconds } or false. Default: `{ attempts: 10, perSeconds:
   * 60 }`.
   */
  readonly loginLimit?:
    | {
        /** Failed attempts that are accepted. Must be a whole number from 1 to 10000 (attempts). Default: `10`. */
        readonly attempts?: number | undefined
        /** Time in which they are counted. Must be a whole number from 1 to 86400 (seconds). Default: `60`. */
        readonly perSeconds?: number | undefined
      }
    | false
    | undefined
  /**
   * A browser that has logged in under a username keeps its own budget of attempts for 180 days. A signed cookie
   * remembers this. `false`: no such cookie is set or accepted. Default: `true`.
   */
  readonly rememberDevices?: boolean | undefined
  /**
   * `'neutral'`: the same message for a wrong password, a wrong one-time password, a locked account and an inactive
   * account, so that an attacker does not learn which usernames exist. Default: `'detailed'`.
   */
  readonly loginMessages?: 'detailed' | 'neutral' | undefined
  /**
   * Agent of all server-to-server calls: an outgoing proxy, an own CA, a client certificate (docs/deployment.md). Must
   * be an http.Agent or https.Agent, or { http, https }. Default: Node's own, with keep-alive.
   */
  readonly agent?: Agents | undefined
  /** Source of time in milliseconds since 1970, for tests: `emulator.clock` fits. Default: the system's. */
  readonly clock?: { now(): number } | undefined
  /**
   * Receives log lines about problems that prevent logins: one line per minute and cause, without secrets. pino and
   * winston fit. Default: the console.
   */
  readonly logger?: Logger | undefined
}
