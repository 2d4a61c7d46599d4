/** What each option must be, in zod, and which variable of the environment fills it. */
import type { Cluster, Redis } from 'ioredis'
import { z } from 'zod'
import type { ConfigProblem } from '../errors'
import { DEFAULT_SSO_IDENTIFIER } from '../protocol/claims'
import { address, between, identifier, loginRoute, nameProblems, route, secrets } from './checks'
import { hooks } from './hooks'
import type { Logger } from './log'
import { type LookOptions, look } from './look'
import type { RedisClient } from './redis-client'

/** Options that become configuration, as a site writes them. */
export interface ConfigOptions extends LookOptions {
  readonly ssoUrl?: string
  readonly clientId?: string
  /** One secret, or several: the first signs, all verify. */
  readonly clientSecret?: string | readonly string[]
  readonly allowWeakSecret?: boolean
  readonly organisationId?: string
  readonly siteUrl?: string
  readonly apiUrl?: string
  readonly tokenUrl?: string
  readonly sessionSecret?: string | readonly string[]
  /** An address, or a `Redis` or `Cluster` of ioredis. */
  readonly redis?: string | RedisClient
  readonly ssoIdentifier?: string
  readonly userPath?: string
  readonly session?: {
    /** Name of the session's cookie, `sso2.sid` by default; over https `__Host-` stands before it. Helper cookies share its stem. */
    readonly cookieName?: string
    /** Of every key in the store; by default the client ID and a colon. */
    readonly prefix?: string
    /** How long a logged-in session lives unused, default 14 days; an anonymous one lives a day at most. */
    readonly idleSeconds?: number
    /** How long a session lives at all, default 90 days. Nothing that a handler sets makes it longer. */
    readonly absoluteSeconds?: number
  }
  readonly routes?: {
    readonly landing?: string | false
    /** A path of ours, `false` for none, or the address of a login page on this site's or a trusted origin: guards lead there. */
    readonly login?: string | false
    readonly logout?: string | false
    readonly logoutAll?: string | false
  }
  /**
   * `'always'`: a page load without a session goes through the SSO system first; `'on-demand'`: only guarded routes and the login page do.
   * A page whose address has more than 2,048 characters never does.
   */
  readonly identify?: 'always' | 'on-demand'
  /** Age in seconds at which a record is stale. */
  readonly recheckSeconds?: number
  /** How much longer a stale login is served while the SSO system does not answer, in seconds. */
  readonly graceSeconds?: number
  /** Bound on one Session Status call, in milliseconds. */
  readonly timeoutMs?: number
  readonly clockToleranceSeconds?: number
  readonly trustedReturnOrigins?: readonly string[]
  readonly loginLimit?: { readonly attempts: number; readonly perSeconds: number } | false
  readonly loginMessages?: 'detailed' | 'neutral'
  readonly clock?: { now(): number }
  /** Where the operator is told what stops a login: one line a minute and cause, never a secret. Default: the console; pino and winston fit. */
  readonly logger?: Logger
}

/** Hooks and views are passed on as they are; here only their kind counts. With `exchangeTicket`, `tokenUrl` may be absent. */
export type HookOptions = Readonly<Partial<Record<keyof z.input<typeof hooks>, unknown>>>

const VARIABLES: Readonly<Record<string, string>> = {
  ssoUrl: 'SSO2_URL',
  clientId: 'SSO2_CLIENT_ID',
  clientSecret: 'SSO2_CLIENT_SECRET',
  organisationId: 'SSO2_ORGANISATION_ID',
  siteUrl: 'SSO2_SITE_URL',
  apiUrl: 'SSO2_API_URL',
  tokenUrl: 'SSO2_TOKEN_URL',
  sessionSecret: 'SSO2_SESSION_SECRET',
  redis: 'REDIS_URL',
  ssoIdentifier: 'SSO2_IDENTIFIER',
  userPath: 'SSO2_USER_PATH',
  identify: 'SSO2_IDENTIFY',
  recheckSeconds: 'SSO2_RECHECK_SECONDS',
  graceSeconds: 'SSO2_GRACE_SECONDS',
  timeoutMs: 'SSO2_TIMEOUT_MS',
}
const NUMBERS = new Set(['recheckSeconds', 'graceSeconds', 'timeoutMs'])

const DAY = 86_400

/** The path that names the user unless the site says otherwise. */
export const DEFAULT_USER_PATH = '/external/api/v1/me'

const redis = z.custom<string | Redis | Cluster>(
  (value) => isRedis(value),
  'must be an address redis:// or rediss://, or an ioredis client',
)

const session = z
  .strictObject({
    cookieName: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores')
      .optional(),
    prefix: z
      .string()
      .regex(/^[^\s{}]{0,100}$/, 'must be at most 100 characters without spaces or braces')
      .optional(),
    idleSeconds: between(60, 365 * DAY, 'seconds').default(14 * DAY),
    absoluteSeconds: between(60, 365 * DAY, 'seconds').default(90 * DAY),
  })
  .prefault({})

const routes = (isProduction: boolean) =>
  z
    .strictObject({
      landing: route('/sso2/landing'),
      login: loginRoute(isProduction),
      logout: route('/logout'),
      logoutAll: route('/logout-all'),
    })
    .prefault({})

const loginLimit = z
  .union(
    [
      z.literal(false),
      z.strictObject({ attempts: between(1, 10_000, 'attempts'), perSeconds: between(1, DAY, 'seconds') }),
    ],
    {
      error: 'must be { attempts, perSeconds } or false',
    },
  )
  .default({ attempts: 10, perSeconds: 60 })

function schema(isProduction: boolean, options: Readonly<Record<string, unknown>>) {
  return z.object({
    ssoUrl: address(isProduction),
    apiUrl: address(isProduction),
    siteUrl: address(isProduction),
    tokenUrl: options['exchangeTicket'] !== undefined ? address(isProduction).optional() : address(isProduction),
    clientId: identifier('the API client ID'),
    organisationId: identifier('the organisation ID'),
    ssoIdentifier: identifier('the identifier of the SSO system').default(DEFAULT_SSO_IDENTIFIER),
    clientSecret: secrets(options['allowWeakSecret'] === true, isProduction),
    sessionSecret: secrets(false, isProduction),
    redis: redis.optional(),
    userPath: z
      .string()
      .regex(/^\/[\x21-\x7e]*$/, 'must be a path that begins with /')
      .default(DEFAULT_USER_PATH),
    session,
    routes: routes(isProduction),
    identify: z.enum(['always', 'on-demand'], { error: "must be 'always' or 'on-demand'" }).default('always'),
    recheckSeconds: between(1, DAY, 'seconds').default(360),
    graceSeconds: between(0, 3600, 'seconds').default(900),
    timeoutMs: between(50, 30_000, 'milliseconds').default(2000),
    clockToleranceSeconds: between(0, 60, 'seconds').default(5),
    trustedReturnOrigins: z.array(address(isProduction)).default([]),
    loginLimit,
    loginMessages: z.enum(['detailed', 'neutral'], { error: "must be 'detailed' or 'neutral'" }).default('detailed'),
    ...look(isProduction),
  })
}

/** Options that passed. */
export type CheckedOptions = z.infer<ReturnType<typeof schema>>

function isRedis(value: unknown): boolean {
  if (typeof value === 'string') return /^rediss?:\/\//.test(value)
  return typeof value === 'object' && value !== null && 'mget' in value && 'defineCommand' in value
}

function fromEnvironment(options: object, environment: NodeJS.ProcessEnv): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...options }
  for (const [option, variable] of Object.entries(VARIABLES)) {
    const text = environment[variable]
    if (merged[option] !== undefined || text === undefined || text === '') continue
    merged[option] = NUMBERS.has(option) ? (/^\d+$/.test(text) ? Number(text) : Number.NaN) : text
  }
  return merged
}

const problem = (option: string, message: string): ConfigProblem => {
  const variable = VARIABLES[option.split('.')[0] ?? '']
  return { option, message, ...(variable ? { variable } : {}) }
}

/** A guard hands the visitor over to this page: it is the site's own, or one that may send him back here. */
function isTrustedLogin({ routes: { login }, siteUrl, trustedReturnOrigins }: CheckedOptions): boolean {
  if (login === false || login.startsWith('/')) return true
  return [siteUrl, ...trustedReturnOrigins].some((known) => new URL(known).origin === new URL(login).origin)
}

/** Checks options and environment; every fault goes into `problems`. @returns `undefined` when a field could not be read */
export function checkOptions(
  options: ConfigOptions & HookOptions,
  environment: NodeJS.ProcessEnv,
  problems: ConfigProblem[],
): CheckedOptions | undefined {
  const isProduction = environment['NODE_ENV'] === 'production'
  const merged = fromEnvironment(options, environment)
  const result = schema(isProduction, merged).safeParse(merged)
  const issues = [...(result.error?.issues ?? []), ...(hooks.safeParse(merged).error?.issues ?? [])]
  for (const issue of issues) problems.push(problem(issue.path.join('.'), issue.message))
  for (const { option, message } of nameProblems(merged)) problems.push(problem(option, message))
  if (result.data && !isTrustedLogin(result.data))
    problems.push(problem('routes.login', 'must be on the origin of siteUrl, or on one of trustedReturnOrigins'))
  if (isProduction && merged['redis'] === undefined) {
    problems.push(
      problem(
        'redis',
        'is required in production: sessions in memory are lost at a restart and not shared between processes',
      ),
    )
  }
  return result.data
}
