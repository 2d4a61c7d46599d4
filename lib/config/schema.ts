/**
 * Purpose and validation of each option, in zod. `npm run docs` writes the descriptions into docs/options.md and into the comments of the
 * types. The error for a missing option quotes the description. `defaultText` describes the default in words.
 */
import { z } from 'zod'
import { DEFAULT_SSO_IDENTIFIER } from '../protocol/claims'
import { branding } from './branding'
import { redisOption } from './redis-client'
import { unchangedOptions } from './unchanged-options'
import { address, between, identifier, loginRoute, routeOption, secrets, userPath } from './validators'

const DAY = 86_400

/** Default of `userPath`. */
export const DEFAULT_USER_PATH = '/external/api/v1/me'

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
            'Name of the session cookie. Over https the package adds `__Host-`. The helper cookies share its stem. Two sites on one host name need two names, because cookies ignore ports.',
          defaultText: '`sso2.sid`',
        }),
      prefix: z
        .string({ error: PREFIX })
        .regex(/^[^\s{}]{0,100}$/, PREFIX)
        .optional()
        .meta({ description: 'Beginning of every key in Redis.', defaultText: 'the client ID and a colon' }),
      idleSeconds: between(60, 365 * DAY, 'seconds')
        .default(14 * DAY)
        .describe(
          'A logged-in session ends after this time without a request. An anonymous session ends after one day at most.',
        ),
      absoluteSeconds: between(60, 365 * DAY, 'seconds')
        .default(90 * DAY)
        .describe('A login ends after this time in any case. Handlers cannot prolong it.'),
    },
    { error: 'must be { cookieName, prefix, idleSeconds, absoluteSeconds }' },
  )
  .prefault({})
  .describe('Cookie, prefix and lifetime of `req.session`.')

const routes = (isProduction: boolean) =>
  z
    .object(
      {
        landing: routeOption('/sso2/landing').describe(
          'Path of the landing page (the callback URL). The admin portal must have its full address for the API client.',
        ),
        login: loginRoute(isProduction).describe(
          'Path of the login page. Or the full address of a custom login page, on the origin of the site or a trusted origin. Guards then redirect to it with `return_to`.',
        ),
        logout: routeOption('/logout').describe('Path of the logout. `GET` shows a question, `POST` logs out.'),
        logoutAll: routeOption('/logout-all').describe(
          'Path of the logout of all sessions of the account. `GET` shows a question, `POST` logs out.',
        ),
      },
      { error: 'must be { landing, login, logout, logoutAll }' },
    )
    .prefault({})
    .describe('Paths of the pages of this package, below the path of `siteUrl`. `false` switches a route off.')

const loginLimit = z
  .union(
    [
      z.literal(false),
      z.object({
        attempts: between(1, 10_000, 'attempts').default(10).describe('Failed attempts that are accepted.'),
        perSeconds: between(1, DAY, 'seconds').default(60).describe('Time in which they are counted.'),
      }),
    ],
    {
      error: 'must be { attempts, perSeconds } or false',
    },
  )
  .default({ attempts: 10, perSeconds: 60 })
  .describe(
    'Failed logins per IP address and username before further logins are refused. More limits: docs/login-pages.md. `false` switches all limits off.',
  )

/** Returns the schema of `tokenUrl`, which a site with its own `exchangeTicket` may omit. */
const tokenUrl = (isProduction: boolean, isRequired: boolean) => {
  const required = address(isProduction, 'https://login.example/token')
  return isRequired ? required : required.optional()
}

const rememberDevices = z
  .boolean({ error: 'must be true or false' })
  .default(true)
  .describe(
    'A browser that has logged in under a username keeps its own budget of attempts for 180 days. A signed cookie remembers this. `false`: no such cookie is set or accepted.',
  )

/** What the schema depends on. */
interface SchemaKind {
  readonly isProduction: boolean
  readonly needsTokenUrl: boolean
  readonly allowsWeakSecret: boolean
}

/** Returns the schema of identifiers, addresses and secrets. */
const parties = ({ isProduction, needsTokenUrl, allowsWeakSecret }: SchemaKind) => ({
  ssoUrl: address(isProduction, 'https://sso.example').describe('Base address of the SSO system.'),
  apiUrl: address(isProduction, 'https://api.example').describe('Base address of the REST API.'),
  tokenUrl: tokenUrl(isProduction, needsTokenUrl).meta({
    description: 'Access token endpoint of the authorization server, where tickets are exchanged.',
    defaultText: 'required unless `exchangeTicket` is given',
  }),
  clientId: identifier().describe('The API client ID. Names the site in request and Session Tokens (`cid`, `aud`).'),
  clientSecret: secrets({
    isProduction,
    allowsWeak: allowsWeakSecret,
    fix: '. If the platform has issued a shorter one, set allowWeakSecret: true',
  }).describe(
    "The API client's secret. Accepts an array for rotation: all secrets verify. The first one signs, until a response shows that the SSO system uses another one (docs/deployment.md).",
  ),
  organisationId: identifier().describe(
    'The organisation ID: `iss` of request tokens. Must differ from `clientId` and `ssoIdentifier`.',
  ),
  ssoIdentifier: identifier()
    .default(DEFAULT_SSO_IDENTIFIER)
    .describe("The SSO system's own identifier: `aud` of request tokens and `iss` of Session Tokens."),
  siteUrl: address(isProduction, 'https://www.example').describe(
    'Public address of the site, with its mount path if it has one. Never taken from the Host header. Like every address, it is used as browsers write it: host in small letters and punycode, without default port, percent-encoded.',
  ),
  sessionSecret: secrets({ isProduction, allowsWeak: false, fix: ': openssl rand -hex 32 makes one' }).describe(
    'Signs cookies and encrypts stored tokens. Must differ from `clientSecret`. Accepts an array for rotation: all secrets verify, and the first one signs ("Rotate secrets" in docs/deployment.md).',
  ),
  redis: redisOption.optional().meta({
    description:
      'Redis for sessions: an address, or a client of ioredis. "Redis and Valkey" in docs/deployment.md says what is refused. `sso.close()` leaves a client open that you passed.',
    defaultText: 'memory, refused in production',
  }),
})

/** Returns the schema of routes, times, limits and trusted origins. */
const behaviour = (isProduction: boolean) => ({
  userPath: userPath(DEFAULT_USER_PATH).describe(
    'Path below `apiUrl` that returns the user of an access token. The `item` of the response (or the response itself) becomes the user. Its `account_id` is also available as `accountId`. Refused in code with `loadUser`.',
  ),
  session,
  routes: routes(isProduction),
  identify: z
    .enum(['always', 'on-demand'], { error: "must be 'always' or 'on-demand'" })
    .default('always')
    .describe(
      "`'always'`: a page load without a session is redirected to Identify. `'on-demand'`: only protected routes and the login page are. An address of more than 2,048 characters never is.",
    ),
  recheckSeconds: between(1, DAY, 'seconds')
    .default(360)
    .describe('Age of the last status check at which a session is checked again.'),
  graceSeconds: between(0, 3600, 'seconds')
    .default(900)
    .describe('How much longer a stale login is served while the SSO system is down or Redis refuses writes.'),
  timeoutMs: between(50, 30_000, 'milliseconds')
    .default(2000)
    .describe(
      'Limit of one Session Status call, including the connection. Authenticate has 8000, the other calls have 3000.',
    ),
  clockToleranceSeconds: between(0, 60, 'seconds')
    .default(5)
    .describe('Tolerated difference between the clocks of site and SSO system.'),
  trustedReturnOrigins: z
    .array(address(isProduction, 'https://sister.example'), {
      error: 'must be an array of addresses such as https://sister.example',
    })
    .default([])
    .describe('Further origins that a return address or the login page may have.'),
  loginLimit,
  rememberDevices,
  loginMessages: z
    .enum(['detailed', 'neutral'], { error: "must be 'detailed' or 'neutral'" })
    .default('detailed')
    .describe(
      "`'neutral'`: the same message for a wrong password, a wrong one-time password, a locked account and an inactive account, so that an attacker does not learn which usernames exist.",
    ),
})

const makeSchema = (kind: SchemaKind) =>
  z.object({ ...parties(kind), ...behaviour(kind.isProduction), ...branding(kind.isProduction) })

type Given = Readonly<Record<string, unknown>>
type Schema = ReturnType<typeof makeSchema>

/** Schemas by their kind. Each is made once, because a process may have many sites. */
const made = new Map<string, Schema>()

/** Returns the schema of the configuration. @param options as the site gave them, because some options change the validation of others */
export const schema = (isProduction: boolean, options: Given): Schema => {
  const needsTokenUrl = options['exchangeTicket'] === undefined
  const kind = { isProduction, needsTokenUrl, allowsWeakSecret: options['allowWeakSecret'] === true }
  const name = JSON.stringify(kind)
  const known = made.get(name) ?? makeSchema(kind)
  made.set(name, known)
  return known
}

let outsideProduction: (Schema['shape'] & typeof unchangedOptions.shape) | undefined

/** Returns the schema of each option, outside production. */
export const optionSchemas = () => {
  outsideProduction ??= { ...schema(false, {}).shape, ...unchangedOptions.shape }
  return outsideProduction
}

/** Options after validation. */
export type CheckedOptions = z.infer<Schema>
