/** Options and environment in, one frozen configuration out; all faults are reported at once. */
import { hkdfSync } from 'node:crypto'
import type { MacKeys } from '../decide/binding'
import type { ReturnPolicy } from '../decide/return-to'
import { type ConfigProblem, Sso2ConfigError } from '../errors'
import { withoutLastSlashes } from '../protocol/requests'
import { textsIn } from './branding'
import { checkOptions, type HookOptions, hintFor } from './load'
import { Log } from './log'
import type { ConfigOptions } from './options'
import type { CheckedOptions } from './schema'
import type { AllTexts } from './texts/en'

/** A source of time, in milliseconds since 1970. */
export interface Clock {
  now(): number
}

/** Names of our cookies. */
interface CookieNames {
  readonly session: string
  readonly binding: string
  /** Followed by the name of the page whose trips it counts. */
  readonly loop: string
  readonly signedOut: string
  readonly device: string
}

/** What is taken as the schema gives it. */
type Plain = Omit<CheckedOptions, 'clientSecret' | 'sessionSecret' | 'session' | 'trustedReturnOrigins' | 'texts'>

/** The checked configuration. Secrets are keys or closures, so that printing it shows none. */
export interface Config extends Readonly<Plain> {
  /** Paths of our routes. `login` is false if the login page is custom, or if there is none. */
  readonly routes: Readonly<Plain['routes']>
  /** Absolute address of the login page, built-in or custom. `undefined` with `routes.login: false`. */
  readonly loginPage: string | undefined
  readonly texts: AllTexts
  readonly clientSecrets: () => string[]
  readonly sessionSecrets: () => string[]
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
  readonly log: Log
}

const ANONYMOUS_IDLE_SECONDS = 86_400

/**
 * Checks everything at once.
 * @param environment usually `process.env`; an explicit option wins
 * @throws {Sso2ConfigError} that lists every problem and no value
 */
export function makeConfig(
  options: ConfigOptions & HookOptions,
  environment: NodeJS.ProcessEnv,
  systemClock: Clock,
): Config {
  const problems: ConfigProblem[] = []
  const checked = checkOptions(options, environment, problems)
  if (!checked || problems.length > 0) throw new Sso2ConfigError(problems, hintFor(problems, options, environment))
  const { clientSecret, sessionSecret, session, trustedReturnOrigins, texts, ...plain } = checked
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
    texts: textsIn(plain.language, texts),
    cookies: cookieNames(session.cookieName, site.protocol === 'https:'),
    prefix: session.prefix ?? `${withoutBraces(plain.clientId)}:`,
    idleSeconds: session.idleSeconds,
    anonymousIdleSeconds: Math.min(ANONYMOUS_IDLE_SECONDS, session.idleSeconds),
    absoluteSeconds: session.absoluteSeconds,
    clock: options.clock ?? systemClock,
    log: new Log(options.logger ?? console, [...clientSecret, ...sessionSecret, ...passwordIn(plain.redis)]),
  })
}

/** Switched off, our login route leaves its path to the site. */
function loginPlaces(routes: Plain['routes'], siteUrl: string): Pick<Config, 'routes' | 'loginPage'> {
  const { login } = routes
  if (login !== false && !login.startsWith('/'))
    return { routes: Object.freeze({ ...routes, login: false }), loginPage: new URL(login).href }
  return { routes: Object.freeze(routes), loginPage: login === false ? undefined : siteUrl + login }
}

function secretFields(clientSecret: readonly string[], sessionSecret: readonly string[]) {
  const macKeys = deriveKeys(sessionSecret, 'express-sso2 binding')
  const encryptionKeys = deriveKeys(sessionSecret, 'express-sso2 box')
  return {
    clientSecrets: () => [...clientSecret],
    sessionSecrets: () => [...sessionSecret],
    macKeys: () => macKeys,
    encryptionKeys: () => encryptionKeys,
  }
}

/** The password in an address. A client that the site gave prints its own errors. */
function passwordIn(redis: unknown): string[] {
  const url = typeof redis === 'string' && URL.canParse(redis) ? new URL(redis) : undefined
  return url?.password ? [url.password, decodeURIComponent(url.password)] : []
}

/** Braces in a prefix would be taken by Redis Cluster for the hash tag of a key. */
function withoutBraces(clientId: string): string {
  return clientId.replace(/[{}%]/g, encodeURIComponent)
}

/** One 256-bit key a secret, each use under its own label. */
function deriveKeys(secrets: readonly string[], label: string): MacKeys {
  return secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', label, 32)))
}

/** `__Host-` over https, plain over http. The session's cookie is called as the site says; the helpers share its stem. */
function cookieNames(given = 'sso2.sid', isSecure: boolean): CookieNames {
  const own = given.replace(/^__Host-/, '')
  const stem = own.replace(/\.sid$/, '')
  const name = (text: string) => `${isSecure ? '__Host-' : ''}${text}`
  const helper = (suffix: string) => name(`${stem}.${suffix}`)
  return {
    session: name(own),
    binding: helper('b'),
    loop: helper('l'),
    signedOut: helper('o'),
    device: helper('d'),
  }
}
