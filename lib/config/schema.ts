/**
 * What each option is for and must be, in zod. The descriptions are the one text on an
 * option: `npm run docs` writes them into docs/options.md and into the comments of the types, and a missing option is named with its own.
 * `otherwise` says in words what is taken where no value is.
 */
import type { Cluster, Redis } from 'ioredis'
import { z } from 'zod'
import { DEFAULT_SSO_IDENTIFIER } from '../protocol/claims'
import { address, between, identifier, loginRoute, route, secrets } from './checks'
import { hooks } from './hooks'
import { look } from './look'

const DAY = 86_400

/** The path that names the user unless the site says otherwise. */
export const DEFAULT_USER_PATH = '/external/api/v1/me'
const USER_PATH = 'must be a path that begins with /'

function isRedis(value: unknown): boolean {
  if (typeof value === 'string') return /^rediss?:\/\//.test(value)
  return typeof value === 'object' && value !== null && 'mget' in value && 'defineCommand' in value
}

const redis = z.custom<string | Redis | Cluster>(
  (value) => isRedis(value),
  'must be an address redis:// or rediss://, or an ioredis client',
)

const COOKIE_NAME = 'must be 1 to 64 letters, digits, dots, dashes or underscores'
const PREFIX = 'must be at most 100 characters without spaces or braces'

const session = z
  .object(
    {
      cookieName: z
        .string({ error: COOKIE_NAME })
        .regex(/^[A-Za-z0-9._-]{1,64}$/, COOKIE_NAME)
        .optional()
        .meta({
          description:
            "Name of the session's cookie; over https `__Host-` stands before it, and the helper cookies share its stem. Two sites on one host name need two names, for cookies know no ports.",
          otherwise: '`sso2.sid`',
        }),
      prefix: z
        .string({ error: PREFIX })
        .regex(/^[^\s{}]{0,100}$/, PREFIX)
        .optional()
        .meta({ description: 'Begins every key in the store.', otherwise: 'the client ID and a colon' }),
      idleSeconds: between(60, 365 * DAY, 'seconds')
        .default(14 * DAY)
        .describe('How long a logged-in session lives unused; an anonymous one lives a day at most.'),
      absoluteSeconds: between(60, 365 * DAY, 'seconds')
        .default(90 * DAY)
        .describe('How long a session lives at all. Nothing that a handler sets makes it longer.'),
    },
    { error: 'must be { cookieName, prefix, idleSeconds, absoluteSeconds }' },
  )
  .prefault({})
  .describe('The session that is behind `req.session`.')

const routes = (isProduction: boolean) =>
  z
    .object(
      {
        landing: route('/sso2/landing').describe(
          'The landing page. Its full address is what the admin portal must have for the API client.',
        ),
        login: loginRoute(isProduction).describe(
          "The login page: a path of ours, or the address of the site's own page on its origin or a trusted one, to which guards then lead with `return_to`.",
        ),
        logout: route('/logout').describe('`GET` asks, `POST` logs out of this session.'),
        logoutAll: route('/logout-all').describe('`GET` asks, `POST` ends all sessions of the account.'),
      },
      { error: 'must be { landing, login, logout, logoutAll }' },
    )
    .prefault({})
    .describe('Where the pages of this package are, below the mount path of `siteUrl`; `false` switches one off.')

const loginLimit = z
  .union(
    [
      z.literal(false),
      z.object({
        attempts: between(1, 10_000, 'attempts').default(10).describe('Failed attempts that are let through.'),
        perSeconds: between(1, DAY, 'seconds').default(60).describe('The time in which they are counted.'),
      }),
    ],
    {
      error: 'must be { attempts, perSeconds } or false',
    },
  )
  .default({ attempts: 10, perSeconds: 60 })
  .describe(
    'Failed logins for each address and user name before the SSO system is asked no more; further limits follow from it (docs/login-limits.md). `false` switches all of them off.',
  )

/** Required unless the site exchanges tickets itself. */
const tokenUrl = (isProduction: boolean, isRequired: boolean) => {
  const required = address(isProduction, 'https://login.example/token')
  return isRequired ? required : required.optional()
}

/** Who is who, and where. */
const parties = (isProduction: boolean, options: Given) => ({
  ssoUrl: address(isProduction, 'https://sso.example').describe('Base address of the SSO system.'),
  apiUrl: address(isProduction, 'https://api.example').describe('Base address of the REST API.'),
  tokenUrl: tokenUrl(isProduction, options['exchangeTicket'] === undefined).meta({
    description: 'Access token endpoint of the authorization server, where tickets are exchanged.',
    otherwise: 'required unless `exchangeTicket` is given',
  }),
  clientId: identifier().describe('The API client ID: `cid` of request tokens and `aud` of Session Tokens.'),
  clientSecret: secrets(options['allowWeakSecret'] === true, isProduction).describe(
    "The API client's secret. Of several, all verify, and the one that the SSO system takes signs; the first of them to begin with (docs/key-rotation.md).",
  ),
  organisationId: identifier().describe(
    'The organisation ID: `iss` of request tokens. Differs from `clientId` and `ssoIdentifier`.',
  ),
  ssoIdentifier: identifier()
    .default(DEFAULT_SSO_IDENTIFIER)
    .describe("The SSO system's own identifier: `aud` of request tokens and `iss` of Session Tokens."),
  siteUrl: address(isProduction, 'https://www.example').describe(
    'Public address of the site, with its mount path if it has one. Never taken from the Host header.',
  ),
  sessionSecret: secrets(false, isProduction).describe(
    'Signs cookies and seals what is stored. Of several, the first signs and all verify.',
  ),
  redis: redis.optional().meta({
    description: 'Where sessions are kept. A client that is given stays open when `sso.close()` is called.',
    otherwise: 'memory; refused in production',
  }),
})

/** When the SSO system is asked, and who is let in. */
const behaviour = (isProduction: boolean) => ({
  userPath: z
    .string({ error: USER_PATH })
    .regex(/^\/[\x21-\x7e]*$/, USER_PATH)
    .default(DEFAULT_USER_PATH)
    .describe(
      'Path below `apiUrl` that names the user of an access token. `item` of its answer, or the answer itself, becomes the user, `account_id` also as `accountId`.',
    ),
  session,
  routes: routes(isProduction),
  identify: z
    .enum(['always', 'on-demand'], { error: "must be 'always' or 'on-demand'" })
    .default('always')
    .describe(
      "`'always'`: a page load without a session goes through the SSO system first; `'on-demand'`: only guarded routes and the login page do. A page whose address has more than 2,048 characters never does.",
    ),
  recheckSeconds: between(1, DAY, 'seconds')
    .default(360)
    .describe('Age at which a session is checked with the SSO system again.'),
  graceSeconds: between(0, 3600, 'seconds')
    .default(900)
    .describe('How much longer a stale login is served while the SSO system does not answer.'),
  timeoutMs: between(50, 30_000, 'milliseconds')
    .default(2000)
    .describe('Bound on one Session Status call, connecting included. Authenticate has 8000, the other calls 3000.'),
  clockToleranceSeconds: between(0, 60, 'seconds')
    .default(5)
    .describe('Leeway on the times of tokens: how far the clocks of site and SSO system may be apart.'),
  trustedReturnOrigins: z
    .array(address(isProduction, 'https://sister.example'), {
      error: 'must be an array of addresses such as https://sister.example',
    })
    .default([])
    .describe('Further origins that a return address, or the login page, may have.'),
  loginLimit,
  loginMessages: z
    .enum(['detailed', 'neutral'], { error: "must be 'detailed' or 'neutral'" })
    .default('detailed')
    .describe(
      "`'neutral'`: one message for a wrong password or one-time password, a frozen and an inactive account, so that nobody learns which names there are.",
    ),
})

type Given = Readonly<Record<string, unknown>>

/** The options that become configuration. @param options as they are given: some decide what others must be */
export const schema = (isProduction: boolean, options: Given) =>
  z.object({ ...parties(isProduction, options), ...behaviour(isProduction), ...look(isProduction) })

/** Every option's own schema, outside production. */
export const optionSchemas = () => ({ ...schema(false, {}).shape, ...hooks.shape })

/** Options that passed. */
export type CheckedOptions = z.infer<ReturnType<typeof schema>>
