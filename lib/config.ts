/** Options and environment in, one frozen configuration out; all faults are reported at once. Contract, section 2. */
import { hkdfSync } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import { type CheckedOptions, type ConfigOptions, checkOptions } from './config-schema'
import type { MacKeys } from './decide/binding'
import type { ReturnPolicy } from './decide/return-to'
import { type ConfigProblem, Sso2ConfigError } from './errors'

/** A source of time, in milliseconds since 1970. */
export interface Clock {
  now(): number
}

/** Paths of the routes below the mount point; `false` is switched off. */
export interface Routes {
  readonly landing: string | false
  readonly login: string | false
  readonly logout: string | false
  readonly logoutAll: string | false
}

/** Names of our cookies. */
export interface CookieNames {
  readonly session: string
  readonly binding: string
  readonly loop: string
  readonly signedOut: string
  readonly device: string
}

/** The checked configuration. Secrets are keys or closures, so that printing it shows none. */
export interface Config {
  readonly ssoUrl: string
  readonly apiUrl: string
  readonly tokenUrl: string | undefined
  readonly clientId: string
  readonly organisationId: string
  readonly ssoIdentifier: string
  readonly clientSecret: () => string
  readonly clientSecrets: () => string[]
  readonly sessionSecrets: () => string[]
  readonly macKeys: () => MacKeys
  readonly boxKeys: () => MacKeys
  readonly siteUrl: string
  readonly mountPath: string
  readonly isSecure: boolean
  readonly returnPolicy: ReturnPolicy
  readonly redis: string | Redis | Cluster | undefined
  readonly userPath: string
  readonly cookies: CookieNames
  readonly prefix: string
  readonly idleSeconds: number
  readonly anonymousIdleSeconds: number
  readonly absoluteSeconds: number
  readonly routes: Routes
  readonly identify: 'always' | 'on-demand'
  readonly recheckSeconds: number
  readonly graceSeconds: number
  readonly timeoutMs: number
  readonly clockToleranceSeconds: number
  readonly loginLimit: { readonly attempts: number; readonly perSeconds: number } | false
  readonly loginMessages: 'detailed' | 'neutral'
  readonly clock: Clock
}

const ANONYMOUS_IDLE_SECONDS = 86_400

/**
 * Checks everything at once.
 * @param environment usually `process.env`; an explicit option wins
 * @throws {Sso2ConfigError} that lists every problem and no value
 */
export function makeConfig(options: ConfigOptions, environment: NodeJS.ProcessEnv, systemClock: Clock): Config {
  const problems: ConfigProblem[] = []
  const checked = checkOptions(options, environment, problems)
  if (!checked || problems.length > 0) throw new Sso2ConfigError(problems)
  const site = new URL(checked.siteUrl)
  const isSecure = site.protocol === 'https:'
  const macKeys = deriveKeys(checked.sessionSecret, 'express-sso2 binding')
  const boxKeys = deriveKeys(checked.sessionSecret, 'express-sso2 box')
  return Object.freeze({
    ...plainFields(checked),
    clientSecret: () => checked.clientSecret[0] ?? '',
    clientSecrets: () => [...checked.clientSecret],
    sessionSecrets: () => [...checked.sessionSecret],
    macKeys: () => macKeys,
    boxKeys: () => boxKeys,
    siteUrl: checked.siteUrl.replace(/\/+$/, ''),
    mountPath: site.pathname.replace(/\/+$/, ''),
    isSecure,
    returnPolicy: {
      origin: site.origin,
      trustedOrigins: checked.trustedReturnOrigins.map((text) => new URL(text).origin),
    },
    redis: checked.redis,
    cookies: cookieNames(checked.session.cookieName, isSecure),
    prefix: checked.session.prefix ?? `${checked.clientId}:`,
    idleSeconds: checked.session.idleSeconds,
    anonymousIdleSeconds: Math.min(ANONYMOUS_IDLE_SECONDS, checked.session.idleSeconds),
    absoluteSeconds: checked.session.absoluteSeconds,
    clock: options.clock ?? systemClock,
  })
}

function plainFields(checked: CheckedOptions) {
  return {
    ssoUrl: checked.ssoUrl,
    apiUrl: checked.apiUrl.replace(/\/+$/, ''),
    tokenUrl: checked.tokenUrl,
    clientId: checked.clientId,
    organisationId: checked.organisationId,
    ssoIdentifier: checked.ssoIdentifier,
    userPath: checked.userPath,
    routes: Object.freeze(checked.routes),
    identify: checked.identify,
    recheckSeconds: checked.recheckSeconds,
    graceSeconds: checked.graceSeconds,
    timeoutMs: checked.timeoutMs,
    clockToleranceSeconds: checked.clockToleranceSeconds,
    loginLimit: checked.loginLimit,
    loginMessages: checked.loginMessages,
  }
}

/** One 256-bit key a secret, each use under its own label. */
function deriveKeys(secrets: readonly string[], label: string): MacKeys {
  return secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', label, 32)))
}

/** `__Host-` over https, plain over http; all names share the stem of the session cookie's. */
function cookieNames(given: string | undefined, isSecure: boolean): CookieNames {
  const stem = (given ?? 'sso2.sid').replace(/^__Host-/, '').replace(/\.sid$/, '')
  const name = (suffix: string) => `${isSecure ? '__Host-' : ''}${stem}.${suffix}`
  return { session: name('sid'), binding: name('b'), loop: name('l'), signedOut: name('o'), device: name('d') }
}
