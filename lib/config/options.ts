/** Options that become configuration, as a site writes them. The comments are written by `npm run docs`, from the schema. */
import type { Logger } from './log'
import type { LookOptions } from './look'
import type { RedisClient } from './redis-client'

/** Options that become configuration, as a site writes them. */
export interface ConfigOptions extends LookOptions {
  /**
   * Base address of the SSO system. Must be an address such as https://sso.example. Required; `SSO2_URL` in the
   * environment.
   */
  readonly ssoUrl?: string | undefined
  /**
   * The API client ID: `cid` of request tokens and `aud` of Session Tokens. Must be 1 to 200 printable characters
   * without spaces. Required; `SSO2_CLIENT_ID` in the environment.
   */
  readonly clientId?: string | undefined
  /**
   * The API client's secret. Of several, all verify, and the one that the SSO system takes signs; the first of them to
   * begin with (docs/key-rotation.md). Must be a text of at least 32 bytes, or an array of such texts. Required;
   * `SSO2_CLIENT_SECRET` in the environment.
   */
  readonly clientSecret?: string | readonly string[] | undefined
  /** Takes a `clientSecret` of fewer than 32 bytes, where the platform has given out one. Default: false. */
  readonly allowWeakSecret?: boolean | undefined
  /**
   * The organisation ID: `iss` of request tokens. Differs from `clientId` and `ssoIdentifier`. Must be 1 to 200
   * printable characters without spaces. Required; `SSO2_ORGANISATION_ID` in the environment.
   */
  readonly organisationId?: string | undefined
  /**
   * Public address of the site, with its mount path if it has one. Never taken from the Host header. Must be an address
   * such as https://www.example. Required; `SSO2_SITE_URL` in the environment.
   */
  readonly siteUrl?: string | undefined
  /**
   * Base address of the REST API. Must be an address such as https://api.example. Required; `SSO2_API_URL` in the
   * environment.
   */
  readonly apiUrl?: string | undefined
  /**
   * Access token endpoint of the authorization server, where tickets are exchanged. Must be an address such as
   * https://login.example/token. Required unless `exchangeTicket` is given; `SSO2_TOKEN_URL` in the environment.
   */
  readonly tokenUrl?: string | undefined
  /**
   * Signs cookies and seals what is stored. Of several, the first signs and all verify. Must be a text of at least 32
   * bytes, or an array of such texts. Required; `SSO2_SESSION_SECRET` in the environment.
   */
  readonly sessionSecret?: string | readonly string[] | undefined
  /**
   * Where sessions are kept. A client that is given stays open when `sso.close()` is called. Must be an address
   * redis:// or rediss://, or an ioredis client. Default: memory; refused in production; `REDIS_URL` in the
   * environment.
   */
  readonly redis?: string | RedisClient | undefined
  /**
   * The SSO system's own identifier: `aud` of request tokens and `iss` of Session Tokens. Must be 1 to 200 printable
   * characters without spaces. Default: `'sso-service'`; `SSO2_IDENTIFIER` in the environment.
   */
  readonly ssoIdentifier?: string | undefined
  /**
   * Path below `apiUrl` that names the user of an access token. `item` of its answer, or the answer itself, becomes the
   * user, `account_id` also as `accountId`. Must be a path that begins with /. Default: `'/external/api/v1/me'`;
   * `SSO2_USER_PATH` in the environment.
   */
  readonly userPath?: string | undefined
  /** The session that is behind `req.session`. */
  readonly session?:
    | {
        /**
         * Name of the session's cookie; over https `__Host-` stands before it, and the helper cookies share its stem.
         * Two sites on one host name need two names, for cookies know no ports. Must be 1 to 64 letters, digits, dots,
         * dashes or underscores. Default: `sso2.sid`.
         */
        readonly cookieName?: string | undefined
        /**
         * Begins every key in the store. Must be at most 100 characters without spaces or braces. Default: the client
         * ID and a colon.
         */
        readonly prefix?: string | undefined
        /**
         * How long a logged-in session lives unused; an anonymous one lives a day at most. Must be a whole number from
         * 60 to 31536000 (seconds). Default: `1209600` (14 days).
         */
        readonly idleSeconds?: number | undefined
        /**
         * How long a session lives at all. Nothing that a handler sets makes it longer. Must be a whole number from 60
         * to 31536000 (seconds). Default: `7776000` (90 days).
         */
        readonly absoluteSeconds?: number | undefined
      }
    | undefined
  /** Where the pages of this package are, below the mount path of `siteUrl`; `false` switches one off. */
  readonly routes?:
    | {
        /**
         * The landing page. Its full address is what the admin portal must have for the API client. Must be a path that
         * begins with /, or false. Default: `'/sso2/landing'`.
         */
        readonly landing?: string | false | undefined
        /**
         * The login page: a path of ours, or the address of the site's own page on its origin or a trusted one, to
         * which guards then lead with `return_to`. Must be a path that begins with /, the address of a login page, or
         * false. Default: `'/login'`.
         */
        readonly login?: string | false | undefined
        /**
         * `GET` asks, `POST` logs out of this session. Must be a path that begins with /, or false. Default:
         * `'/logout'`.
         */
        readonly logout?: string | false | undefined
        /**
         * `GET` asks, `POST` ends all sessions of the account. Must be a path that begins with /, or false. Default:
         * `'/logout-all'`.
         */
        readonly logoutAll?: string | false | undefined
      }
    | undefined
  /**
   * `'always'`: a page load without a session goes through the SSO system first; `'on-demand'`: only guarded routes and
   * the login page do. A page whose address has more than 2,048 characters never does. Default: `'always'`;
   * `SSO2_IDENTIFY` in the environment.
   */
  readonly identify?: 'always' | 'on-demand' | undefined
  /**
   * Age at which a session is checked with the SSO system again. Must be a whole number from 1 to 86400 (seconds).
   * Default: `360`; `SSO2_RECHECK_SECONDS` in the environment.
   */
  readonly recheckSeconds?: number | undefined
  /**
   * How much longer a stale login is served while the SSO system does not answer. Must be a whole number from 0 to 3600
   * (seconds). Default: `900`; `SSO2_GRACE_SECONDS` in the environment.
   */
  readonly graceSeconds?: number | undefined
  /**
   * Bound on one Session Status call, connecting included. Authenticate has 8000, the other calls 3000. Must be a whole
   * number from 50 to 30000 (milliseconds). Default: `2000`; `SSO2_TIMEOUT_MS` in the environment.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Leeway on the times of tokens: how far the clocks of site and SSO system may be apart. Must be a whole number from
   * 0 to 60 (seconds). Default: `5`.
   */
  readonly clockToleranceSeconds?: number | undefined
  /**
   * Further origins that a return address, or the login page, may have. Must be an array of addresses such as
   * https://sister.example. Default: `[]`.
   */
  readonly trustedReturnOrigins?: readonly string[] | undefined
  /**
   * Failed logins for each address and user name before the SSO system is asked no more; further limits follow from it
   * (docs/login-limits.md). `false` switches all of them off. Must be { attempts, perSeconds } or false. Default: `{
   * attempts: 10, perSeconds: 60 }`.
   */
  readonly loginLimit?:
    | {
        /** Failed attempts that are let through. Must be a whole number from 1 to 10000 (attempts). Default: `10`. */
        readonly attempts?: number | undefined
        /** The time in which they are counted. Must be a whole number from 1 to 86400 (seconds). Default: `60`. */
        readonly perSeconds?: number | undefined
      }
    | false
    | undefined
  /**
   * `'neutral'`: one message for a wrong password or one-time password, a frozen and an inactive account, so that
   * nobody learns which names there are. Default: `'detailed'`.
   */
  readonly loginMessages?: 'detailed' | 'neutral' | undefined
  /** Source of time in milliseconds since 1970, for tests: `emulator.clock` fits. Default: the system's. */
  readonly clock?: { now(): number } | undefined
  /**
   * Where the operator is told what stops a login: one line a minute and cause, never a secret. pino and winston fit.
   * Default: the console.
   */
  readonly logger?: Logger | undefined
}
