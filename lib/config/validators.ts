/** What single options must be: addresses, identifiers, secrets, numbers, paths. No message quotes a value. */
import { z } from 'zod'
import { FLOW_PARAMETER } from '../decide/return-to'
import type { ConfigProblem } from '../errors'
import { DEFAULT_SSO_IDENTIFIER } from '../protocol/claims'

/** Is the host of this address this very machine? */
function isLoopback(hostname: string): boolean {
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

/** Letters, digits, dots, dashes and underscores: whatever else could stand in a host would end a word of our policies. */
const HOST = /^(?:[\w.-]+|\[[0-9a-f:.]+\])$/

/** What keeps an address from being talked to, or led to. */
function placeProblem(url: URL, isProduction: boolean): string | undefined {
  if (url.username || url.password) return 'must not hold a user name or password'
  if (!HOST.test(url.hostname)) return 'must have a host of letters, digits, dots and dashes'
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:') return 'must begin with https:'
  if (!isLoopback(url.hostname)) return 'must begin with https: (http: is taken for a loopback host only)'
  return isProduction ? 'must begin with https: in production' : undefined
}

/** An absolute address that may be talked to. @param example goes into the messages */
export const address = (isProduction: boolean, example: string) =>
  z.string({ error: missing(`an address such as ${example}`) }).superRefine((text, context) => {
    const problem = addressProblem(text, isProduction, example)
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })

const PLACE = 'must be a path that begins with /, or an address that begins with https:'

/** A path of the site's own origin, or an absolute address: what a page of ours may load or lead to. */
export const webAddress = (isProduction: boolean) =>
  z.string({ error: PLACE }).superRefine((text, context) => {
    const problem = webAddressProblem(text, isProduction)
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })

function webAddressProblem(text: string, isProduction: boolean): string | undefined {
  if (!/^[\x21-\x7e]{1,2048}$/.test(text) || /["'<>\\]/.test(text))
    return 'must have 1 to 2048 printable characters without spaces, quotes, angle brackets and backslashes'
  if (text.startsWith('/')) return text.startsWith('//') ? PLACE : undefined
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text) ? placeProblem(new URL(text), isProduction) : PLACE
}

/** Says "is required" where nothing was given. */
const missing = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? `is required: ${what}` : `must be ${what}`

const IDENTIFIER = '1 to 200 printable characters without spaces'

/** An identifier of the platform. */
export const identifier = () =>
  z.string({ error: missing(IDENTIFIER) }).regex(/^[\x21-\x7e]{1,200}$/, `must be ${IDENTIFIER}`)

/** Who is who: with one name for two parties, a token of the one could pass for a token of the other. */
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

/** The secrets that the emulator publishes say so themselves. */
const PUBLISHED = 'not-for-production'

function secretProblem(secret: string, allowWeak: boolean, isProduction: boolean): string | undefined {
  if (isProduction && secret.includes(PUBLISHED)) return "must not be the emulator's published secret in production"
  if (secret.includes('\u0000')) return 'must not hold a NUL character'
  if (secret !== secret.trim()) return 'must not begin or end with white space'
  if (allowWeak) return secret.length === 0 ? 'must not be empty' : undefined
  if (Buffer.byteLength(secret) < 32) return 'must have at least 32 bytes'
  return new Set(secret).size === 1 ? 'must not be one character repeated' : undefined
}

/** One secret, or several. */
export const secrets = (allowWeak: boolean, isProduction: boolean) =>
  z
    .union([z.string().transform((one) => [one]), z.array(z.string()).min(1)], {
      error: missing('a text of at least 32 bytes, or an array of such texts'),
    })
    .superRefine((list, context) => {
      for (const problem of new Set(list.map((secret) => secretProblem(secret, allowWeak, isProduction)))) {
        if (problem) context.addIssue({ code: 'custom', message: problem })
      }
    })

/** A whole number in a range, with its unit. */
export const between = (minimum: number, maximum: number, unit: string) => {
  const message = `must be a whole number from ${minimum} to ${maximum} (${unit})`
  return z.number({ error: message }).int(message).min(minimum, message).max(maximum, message)
}

/** Not `//id.example/login`, which is the address of another host in other places. */
const isRoute = (text: string) => /^\/(?!\/)[A-Za-z0-9._~/-]*$/.test(text)
const ROUTE = 'must be a path that begins with /, or false'

/** A path, or false. */
export const route = (fallback: string) =>
  z.union([z.literal(false), z.string().refine(isRoute, ROUTE)], { error: ROUTE }).default(fallback)

const OWN_PARAMETERS = ['return_to', 'notice', FLOW_PARAMETER]
const LOGIN_ROUTE = 'must be a path that begins with /, the address of a login page, or false'

/** A path, false, or the address of a login page that is not ours; whose origin it may have is seen where all options are known. */
export const loginRoute = (isProduction: boolean) =>
  z
    .union([z.literal(false), z.string()], { error: LOGIN_ROUTE })
    .superRefine((given, context) => {
      const problem = given === false || isRoute(given) ? undefined : loginPageProblem(given, isProduction)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    })
    .default('/login')

function loginPageProblem(text: string, isProduction: boolean): string | undefined {
  if (text.startsWith('/') || !/^https?:/i.test(text)) return LOGIN_ROUTE
  const problem = webAddressProblem(text, isProduction)
  if (problem) return problem
  const taken = OWN_PARAMETERS.find((name) => new URL(text).searchParams.has(name))
  return taken === undefined ? undefined : `must not have the parameter ${taken}, which is ours`
}
