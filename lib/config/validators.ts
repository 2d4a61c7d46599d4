/**
 * Validators of single options: addresses, identifiers, secrets, numbers, paths. No message quotes a value.
 * An address or path is returned as browsers write it: lower-case host in punycode, no default port, percent-encoding, no dot segments.
 */
import { z } from 'zod'
import { FLOW_PARAMETER } from '../decide/return-to'
import type { ConfigProblem } from '../errors'
import { DEFAULT_SSO_IDENTIFIER } from '../protocol/claims'

/** Does this host name mean the local machine? */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  )
}

function addressProblem(text: string, isProduction: boolean, example: string): string | undefined {
  if (!/^\w+:\/\/[^/]/.test(text) || !URL.canParse(text)) return `must be an absolute address such as ${example}`
  const url = new URL(text)
  if (url.hash || url.search) return 'must not have a query or a fragment'
  return placeProblem(url, isProduction)
}

/** Letters, digits, dots, dashes and underscores. Other characters in a host could end a source in a Content-Security-Policy. */
export const HOST = /^(?:[\w.-]+|\[[0-9a-f:.]+\])$/i

/** Returns the reason why the site may not call, load or link to an address. */
function placeProblem(url: URL, isProduction: boolean): string | undefined {
  if (url.username || url.password) return 'must not hold a user name or password'
  if (!HOST.test(url.hostname)) return 'must have a host of letters, digits, dots and dashes'
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:') return 'must begin with https:'
  if (!isLoopback(url.hostname)) return 'must begin with https: (http: is taken for a loopback host only)'
  return isProduction ? 'must begin with https: in production' : undefined
}

/** Returns origin and path, to which a path can be added. */
function baseAddress(text: string): string {
  const { origin, pathname } = new URL(text)
  return pathname === '/' ? origin : origin + pathname
}

/** Returns the schema of an absolute address that the site calls. @param example goes into the messages */
export const address = (isProduction: boolean, example: string) =>
  z
    .string({ error: missing(`an address such as ${example}`) })
    .superRefine((text, context) => {
      const problem = addressProblem(text, isProduction, example)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    })
    .transform(baseAddress)

const PLACE = 'must be a path that begins with /, or an address that begins with https:'

/** Returns the schema of an address that a built-in page loads or links to: a path of the site's origin, or an absolute address. */
export const webAddress = (isProduction: boolean) =>
  z
    .string({ error: PLACE })
    .superRefine((text, context) => {
      const problem = webAddressProblem(text, isProduction)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    })
    .transform((text) => (text.startsWith('/') ? pathAndQuery(text) : new URL(text).href))

/** Where a path is read as on a site. The host is not part of the result. */
const ANY_SITE = 'https://site.invalid'

/** Returns a path, with query and fragment if any. */
const pathAndQuery = (text: string) => new URL(ANY_SITE + text).href.slice(ANY_SITE.length)

function webAddressProblem(text: string, isProduction: boolean): string | undefined {
  if (!/^[^\s\p{Cc}"'<>\\]{1,2048}$/u.test(text))
    return 'must have 1 to 2048 printable characters without spaces, quotes, angle brackets and backslashes'
  if (text.startsWith('/')) return pathAndQuery(text).startsWith('//') ? PLACE : undefined
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text) ? placeProblem(new URL(text), isProduction) : PLACE
}

/** Makes a message that says "is required" if there is no value. */
const missing = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? `is required: ${what}` : `must be ${what}`

const IDENTIFIER = '1 to 200 printable characters without spaces'

/** Returns the schema of an identifier of the platform. */
export const identifier = () =>
  z.string({ error: missing(IDENTIFIER) }).regex(/^[\x21-\x7e]{1,200}$/, `must be ${IDENTIFIER}`)

/** Reports equal names. If two parties had the same name, a token of one party could pass as a token of the other. */
export function nameProblems(names: {
  readonly clientId?: unknown
  readonly organisationId?: unknown
  readonly ssoIdentifier?: unknown
}): ConfigProblem[] {
  const { clientId, organisationId, ssoIdentifier = DEFAULT_SSO_IDENTIFIER } = names
  const problems: ConfigProblem[] = []
  if (organisationId !== undefined && (organisationId === ssoIdentifier || organisationId === clientId))
    problems.push({
      option: 'organisationId',
      message: 'must differ from ssoIdentifier and clientId, else a request token could pass for an answer',
    })
  if (clientId !== undefined && clientId === ssoIdentifier)
    problems.push({ option: 'clientId', message: 'must differ from ssoIdentifier' })
  return problems
}

/** Reports a session secret that is also a client secret. The platform could then forge cookies and decrypt stored tokens. */
export function sharedSecretProblems(secrets: {
  readonly clientSecret?: unknown
  readonly sessionSecret?: unknown
}): ConfigProblem[] {
  const clientSecrets = [secrets.clientSecret].flat()
  const isShared = [secrets.sessionSecret]
    .flat()
    .some((secret) => secret !== undefined && clientSecrets.includes(secret))
  const message = 'must differ from clientSecret, which the platform knows too'
  return isShared ? [{ option: 'sessionSecret', message }] : []
}

/** Part of the emulator's published secrets. */
const PUBLISHED = 'not-for-production'

/** Rules of a secret. */
interface SecretRules {
  readonly isProduction: boolean
  readonly allowsWeak: boolean
  /** What to do about a secret of fewer than 32 bytes. Completes the message. */
  readonly fix: string
}

function secretProblem(secret: string, { isProduction, allowsWeak, fix }: SecretRules): string | undefined {
  if (isProduction && secret.includes(PUBLISHED)) return "must not be the emulator's published secret in production"
  if (secret.includes('\u0000')) return 'must not hold a NUL character'
  if (secret !== secret.trim()) return 'must not begin or end with white space'
  if (allowsWeak) return secret.length === 0 ? 'must not be empty' : undefined
  if (Buffer.byteLength(secret) < 32) return `must have at least 32 bytes${fix}`
  return new Set(secret).size === 1 ? 'must not be one character repeated' : undefined
}

/** Returns the schema of a secret, or several secrets. */
export const secrets = (rules: SecretRules) =>
  z
    .union([z.string().transform((one) => [one]), z.array(z.string()).min(1)], {
      error: missing('a text of at least 32 bytes, or an array of such texts'),
    })
    .superRefine((list, context) => {
      for (const problem of new Set(list.map((secret) => secretProblem(secret, rules)))) {
        if (problem) context.addIssue({ code: 'custom', message: problem })
      }
    })

/** Returns the schema of a whole number in a range, with its unit. */
export const between = (minimum: number, maximum: number, unit: string) => {
  const message = `must be a whole number from ${minimum} to ${maximum} (${unit})`
  return z.number({ error: message }).int(message).min(minimum, message).max(maximum, message)
}

/** Returns a path without dot segments. `//id.example/login` is no path, because a browser reads it as the address of another host. */
function readRoute(text: string): string | undefined {
  if (!/^\/[^?#\\]*$/.test(text)) return undefined
  const path = pathAndQuery(text)
  return /^\/(?!\/)(?:[A-Za-z0-9._~/-]|%[0-9A-Fa-f]{2})*$/.test(path) ? path : undefined
}
const ROUTE = 'must be a path that begins with /, or false'

/** Returns the schema of a path or `false`. */
export const routeOption = (fallback: string) =>
  z
    .union([z.literal(false), z.string().refine((text) => readRoute(text) !== undefined, ROUTE)], { error: ROUTE })
    .transform((given) => given && (readRoute(given) ?? given))
    .default(fallback)

const USER_PATH = 'must be a path that begins with /'

/** Returns the schema of a path below `apiUrl`, with its query. */
export const userPath = (fallback: string) =>
  z
    .string({ error: USER_PATH })
    .regex(/^\/[^\s\p{Cc}#\\]*$/u, USER_PATH)
    .transform(pathAndQuery)
    .default(fallback)

const OWN_PARAMETERS = ['return_to', 'notice', FLOW_PARAMETER]
const LOGIN_ROUTE = 'must be a path that begins with /, the address of a login page, or false'

/** Returns the schema of a path, `false`, or the address of a custom login page. load.ts checks the origin, because the allowed origins depend on other options. */
export const loginRoute = (isProduction: boolean) =>
  z
    .union([z.literal(false), z.string()], { error: LOGIN_ROUTE })
    .superRefine((given, context) => {
      const problem =
        given === false || readRoute(given) !== undefined ? undefined : loginPageProblem(given, isProduction)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    })
    .transform((given) => given && (readRoute(given) ?? new URL(given).href))
    .default('/login')

function loginPageProblem(text: string, isProduction: boolean): string | undefined {
  if (text.startsWith('/') || !/^https?:/i.test(text)) return LOGIN_ROUTE
  const problem = webAddressProblem(text, isProduction)
  if (problem) return problem
  const taken = OWN_PARAMETERS.find((name) => new URL(text).searchParams.has(name))
  return taken === undefined ? undefined : `must not have the parameter ${taken}, which is ours`
}
