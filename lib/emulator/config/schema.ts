/** Validates options and configuration files, and reports all problems together, each with its path. */
import { z } from 'zod'
import { type ConfigProblem, Sso2ConfigError } from '../../errors'
import { DEFAULT_SSO_IDENTIFIER, TOKEN_LIFETIME_SECONDS } from '../../protocol/claims'
import { faultSchema } from '../faults/rules'
import { demoOptions, platformScopes } from './demo'
import type { Config } from './options'

const name = z.string().min(1).max(200)
const scopes = z.array(z.string().min(1).regex(/^\S+$/, 'a scope has no spaces'))
const secondsOption = (fallback: number) => z.int().min(1).max(1_000_000_000).default(fallback)
const landingPage = z
  .url({ protocol: /^https?$/, message: 'must be an absolute http(s) address' })
  .refine((text) => !text.includes('#'), 'must have no fragment')
  .transform((text) => new URL(text).href) // as browsers write it

const client = z
  .strictObject({
    clientId: name,
    clientSecret: z.string().min(1),
    name: name.optional(),
    landingPage,
    sso2: z.boolean().default(true),
    scopes: scopes.default([...platformScopes]),
  })
  .transform((value) => ({ ...value, name: value.name ?? value.clientId }))

const line = z.string().max(200).optional()

/** Interface: "Address object". */
export const addressSchema = z.strictObject({
  first_name: line,
  last_name: line,
  street: line,
  street_number: line,
  zip_code: line,
  city: line,
  country_code: line,
})

const account = z
  .strictObject({
    accountId: name,
    username: name,
    password: z.string().min(1),
    name: name.optional(),
    email: z.string().max(200).optional(),
    active: z.boolean().default(true),
    scopes: scopes.optional(),
    groups: z.array(name).default([]),
    subscriptions: z
      .array(z.strictObject({ productCode: name, address: addressSchema, active: z.boolean().default(true) }))
      .default([]),
    created: z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/, 'must be YYYY-MM-DDThh:mm:ss')
      .default('2020-01-01T00:00:00'),
    failedAttempts: z.int().min(0).default(0),
    frozenForSeconds: z.int().min(0).default(0),
  })
  .transform((value) => ({
    ...value,
    name: value.name ?? value.username,
    email: value.email ?? `${value.username}@example.com`,
  }))

const marketplaceGroup = z.strictObject({
  name: z.string(),
  key: z.string().min(1),
  image_url: z.string(),
  image_link: z.string(),
  rgb: z.string(),
  header: z.string(),
  description: z.string(),
  markets: z.array(z.strictObject({ name: z.string(), key: z.string().min(1) })),
})

const campaign = z
  .strictObject({ productCode: name, name: name.optional(), conflictsWith: z.array(name).default([]) })
  .transform((value) => ({ ...value, name: value.name ?? value.productCode }))

const limits = z.strictObject({
  attemptsBeforeFreeze: z.int().min(1).max(1000).default(5),
  freezeSeconds: secondsOption(43_200),
  sessionsPerAccount: z.int().min(1).max(1_000_000).default(5),
  pruneAfterSeconds: secondsOption(7200),
  tokenSeconds: secondsOption(TOKEN_LIFETIME_SECONDS),
  ticketSeconds: secondsOption(60),
  otpSeconds: secondsOption(600),
  accessTokenSeconds: secondsOption(3600),
  leewaySeconds: z.int().min(0).max(3600).default(0),
})

const age = z.int().min(0).default(0)
const session = z
  .strictObject({
    sid: name,
    browser: name,
    status: z.enum(['anon', 'loggedin', 'terminated']),
    accountId: name.optional(),
    ageSeconds: age,
    idleSeconds: age,
  })
  .refine((value) => (value.status === 'loggedin') === (value.accountId !== undefined), {
    path: ['accountId'],
    message: 'belongs to a session that is loggedin, and to no other',
  })

const options = z
  .strictObject({
    organisationId: name,
    ssoIdentifier: name.default(DEFAULT_SSO_IDENTIFIER),
    clients: z.array(client),
    accounts: z.array(account),
    marketplaceGroups: z.array(marketplaceGroup),
    marketplaceEnabled: z.boolean().default(true),
    campaigns: z.array(campaign),
    limits: limits.prefault({}),
    tokenTime: z.enum(['virtual', 'real']).default('virtual'),
    production: z.boolean().default(false),
    sessions: z.array(session).default([]),
    faults: z.array(faultSchema).default([]),
    clockAheadSeconds: z.number().min(0).max(1e10).default(0),
  })
  .superRefine((value, context) => {
    const report = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
    unique(value.clients, 'clients', 'clientId', report)
    unique(value.accounts, 'accounts', 'accountId', report)
    unique(value.accounts, 'accounts', 'username', report)
    unique(value.campaigns, 'campaigns', 'productCode', report)
    unique(value.sessions, 'sessions', 'sid', report)
    // a browser has at most one session that has not ended
    const current = value.sessions.map(({ sid, browser, status }) => ({
      browser: status === 'terminated' ? `${browser} ${sid}` : browser,
    }))
    unique(current, 'sessions', 'browser', report)
    const known = new Set(value.accounts.map(({ accountId }) => accountId))
    value.sessions.forEach(({ accountId }, index) => {
      if (accountId !== undefined && !known.has(accountId)) report(['sessions', index, 'accountId'], 'is no account')
    })
    if (value.organisationId === value.ssoIdentifier) report(['ssoIdentifier'], 'must differ from organisationId')
  })

function unique<K extends string>(
  items: readonly { readonly [key in K]: string }[],
  list: string,
  key: K,
  report: (path: (string | number)[], message: string) => void,
): void {
  const seen = new Set<string>()
  items.forEach((item, index) => {
    if (seen.has(item[key])) report([list, index, key], 'is there twice')
    seen.add(item[key])
  })
}

/**
 * Completes the configuration with the demo data at the top level, and with default limits.
 * @param given options, or a parsed file
 * @throws {Sso2ConfigError} with every problem and its path, and without any value
 */
export function readConfig(given: unknown): Config {
  const base: unknown = isPlainObject(given) ? { ...demoOptions(), ...defined(given) } : given
  const result = options.safeParse(base)
  if (result.success) return result.data
  throw new Sso2ConfigError(optionProblems(result.error))
}

/** Returns the problems that a schema found, with paths as in code. */
export function optionProblems(error: z.ZodError): ConfigProblem[] {
  return error.issues.map(({ path, message }) => ({ option: pathText(path) || 'options', message }))
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
}

function defined(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
