/**
 * Turns options and environment into a frozen configuration. Reports all faults at once.
 * This folder decides nothing about a request (lib/decide) and sends nothing.
 * Options: schema.ts, branding.ts, unchanged-options.ts. Environment variables: load.ts. Texts of the pages: texts/index.ts. Log lines: lib/log.
 */
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { ReturnPolicy } from '../decide/return-to'
import type { MacKeys } from '../decide/signatures'
import { type ConfigProblem, Sso2ConfigError } from '../errors'
import { Log } from '../log/log'
import { withoutLastSlashes } from '../protocol/requests'
import type { Agents } from './agents'
import { textsIn } from './branding'
import type { ConfigOptions } from './config-options'
import { checkOptions, hintFor, misspeltVariables, type UnchangedOptions } from './load'
import type { CheckedOptions } from './schema'
import type { AllTexts } from './texts/en'

/** A source of time, in milliseconds since 1970. */
export interface Clock {
  now(): number
}

interface CookieNames {
  readonly session: string
  readonly binding: string
  /** Counts the returns from Identify. */
  readonly loop: string
  readonly logout: string
  readonly device: string
}

/** Fields with name and type of the checked options. */
type Plain = Omit<CheckedOptions, 'clientSecret' | 'sessionSecret' | 'session' | 'trustedReturnOrigins' | 'texts'>

/** The checked configuration. Secrets are keys or closures, so a printed configuration shows none. */
export interface Config extends Readonly<Plain> {
  /** Paths of our routes. `login` is false if the login page is custom, or if there is none. */
  readonly routes: Readonly<Plain['routes']>
  /** Absolute address of the login page, built-in or custom. `undefined` with `routes.login: false`. */
  readonly loginPage: string | undefined
  readonly texts: AllTexts
  readonly clientSecrets: () => string[]
  /** Sign the session cookie. Made once, because a key costs more than a signature. */
  readonly cookieKeys: () => KeyObject[]
  readonly macKeys: () => MacKeys
  readonly encryptionKeys: () => MacKeys
  readonly mountPath: string
  readonly isSecure: boolean
  readonly returnPolicy: ReturnPolicy
  readonly cookies: CookieNames
  readonly prefix: string
  readonly idleSeconds: number
  readonly anonymousIdleSeconds: number
  readonly absoluteSeconds: number
  readonly clock: Clock
  /** Agents of all server-to-server calls. */
  readonly agent: Agents | undefined
  readonly log: Log
}

const ANONYMOUS_IDLE_SECONDS = 86_400

/**
 * Checks options and environment, and makes the configuration.
 * @param environment usually `process.env`. An explicit option takes precedence
 * @throws {Sso2ConfigError} with every problem and no value
 */
export function makeConfig(
  options: ConfigOptions & UnchangedOptions,
  environment: NodeJS.ProcessEnv,
  systemClock: Clock,
): Config {
  const problems: ConfigProblem[] = []
  const checked = checkOptions(options, environment, problems)
  const misspelt = misspeltVariables(environment)
  if (!checked || problems.length > 0) {
    const hint = hintFor(problems, options, environment) ?? misspelt[0]
    throw new Sso2ConfigError(problems, hint)
  }
  const { clientSecret, sessionSecret, session, trustedReturnOrigins, texts, ...plain } = checked
  const log = new Log(options.logger ?? console, [...clientSecret, ...sessionSecret, ...passwordIn(plain.redis)])
  for (const detail of misspelt) log.warn(detail, 'A variable is not read', { detail })
  const site = new URL(plain.siteUrl)
  const siteUrl = withoutLastSlashes(plain.siteUrl)
  return Object.freeze({
    ...plain,
    ...secretFields(clientSecret, sessionSecret),
    apiUrl: withoutLastSlashes(plain.apiUrl),
    siteUrl,
    mountPath: withoutLastSlashes(site.pathname),
    isSecure: site.protocol === 'https:',
    returnPolicy: { origin: site.origin, trustedOrigins: trustedReturnOrigins.map((text) => new URL(text).origin) },
    ...loginPlaces(plain.routes, siteUrl),
    texts: textsIn(plain.language, plain.loginName, texts),
    cookies: cookieNames(session.cookieName, site.protocol === 'https:'),
    prefix: session.prefix ?? `${withoutBraces(plain.clientId)}:`,
    idleSeconds: session.idleSeconds,
    anonymousIdleSeconds: Math.min(ANONYMOUS_IDLE_SECONDS, session.idleSeconds),
    absoluteSeconds: session.absoluteSeconds,
    clock: options.clock ?? systemClock,
    agent: options.agent,
    log,
  })
}

/** Returns routes and login page. A custom login page disables the built-in login route. */
function loginPlaces(routes: Plain['routes'], siteUrl: string): Pick<Config, 'routes' | 'loginPage'> {
  const { login } = routes
  if (login !== false && !login.startsWith('/'))
    return { routes: Object.freeze({ ...routes, login: false }), loginPage: login }
  return { routes: Object.freeze(routes), loginPage: login === false ? undefined : siteUrl + login }
}

function secretFields(clientSecret: readonly string[], sessionSecret: readonly string[]) {
  const cookieKeys = sessionSecret.map((secret) => createSecretKey(secret, 'utf8'))
  const macKeys = deriveKeys(sessionSecret, 'express-sso2 binding')
  const encryptionKeys = deriveKeys(sessionSecret, 'express-sso2 box')
  return {
    clientSecrets: () => [...clientSecret],
    cookieKeys: () => cookieKeys,
    macKeys: () => macKeys,
    encryptionKeys: () => encryptionKeys,
  }
}

/** Returns the password of a Redis address, for masking in the log. A Redis client of the site does its own logging. */
function passwordIn(redis: unknown): string[] {
  const url = typeof redis === 'string' && URL.canParse(redis) ? new URL(redis) : undefined
  return url?.password ? [url.password, decodeURIComponent(url.password)] : []
}

/** Encodes braces, because Redis Cluster reads braces in a key as a hash tag. */
function withoutBraces(clientId: string): string {
  return clientId.replace(/[{}%]/g, encodeURIComponent)
}

/** Derives a 256-bit key from each secret. Each use of a secret has another label. */
function deriveKeys(secrets: readonly string[], label: string): MacKeys {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', label, 32)))
  return keys as [Buffer, ...Buffer[]] // the schema demands a secret
}

/** Returns the cookie names, over https with `__Host-`. The site names the session cookie. The helper cookies share the stem of the name. */
function cookieNames(given = 'sso2.sid', isSecure: boolean): CookieNames {
  const own = given.replace(/^__Host-/, '')
  const stem = own.replace(/\.sid$/, '')
  const name = (text: string) => `${isSecure ? '__Host-' : ''}${text}`
  const helper = (suffix: string) => name(`${stem}.${suffix}`)
  return {
    session: name(own),
    binding: helper('b'),
    loop: helper('l'),
    logout: helper('o'),
    device: helper('d'),
  }
}
