/** Judges return addresses. Pure. A valid address begins with the site's own origin or a trusted origin, literally. */

/** A longer return address is refused. */
export const MAX_RETURN_LENGTH = 2048
/** Maximum length of an address during an Identify redirect, which adds the parameter `sso2`. */
export const MAX_CARRIED_LENGTH = MAX_RETURN_LENGTH + 48

/** Origins of valid return addresses. */
export interface ReturnPolicy {
  /** Origin of the site, for example `https://news.example`. */
  readonly origin: string
  readonly trustedOrigins: readonly string[]
}

/** The reserved query parameter. */
export const FLOW_PARAMETER = 'sso2'

const PRINTABLE = /^[\x21-\x7e]+$/

/**
 * Validates an address from outside. Encodes spaces within the address.
 * @returns an absolute address on an allowed origin, byte for byte as given if possible. `undefined` for any other address
 */
export function validateReturnTo(
  value: unknown,
  policy: ReturnPolicy,
  maximum: number = MAX_RETURN_LENGTH,
): string | undefined {
  if (typeof value !== 'string' || value.length > maximum) return undefined
  const text = encodeNonAscii(encodeInnerSpaces(value))
  const [beforeQuery = ''] = text.split(/[?#]/, 1)
  if (text.length > maximum) return undefined // the encoded address is sent
  if (!PRINTABLE.test(text) || beforeQuery.includes('\\')) return undefined
  if (text.startsWith('/')) return text.startsWith('//') ? undefined : policy.origin + text
  return validateAbsolute(text, [policy.origin, ...policy.trustedOrigins])
}

/**
 * Validates the page in a `Referer`, which must be of the site's own origin. A browser always writes the origin in the same way,
 * without a user name.
 * @returns the page without the parameter `sso2`, `undefined` if the visitor may not return there
 */
export function validateReferer(value: unknown, { origin }: ReturnPolicy): string | undefined {
  if (typeof value !== 'string' || !value.startsWith(`${origin}/`)) return undefined
  const page = validateReturnTo(value, { origin, trustedOrigins: [] })
  return page === undefined ? undefined : withoutFlowParameter(page)
}

function validateAbsolute(text: string, origins: readonly string[]): string | undefined {
  const literal = origins.find((origin) => text.startsWith(`${origin}/`))
  if (literal) return text
  const url = parseUrl(text)
  if (!url || url.username || url.password) return undefined
  return /^https?:\/\//i.test(text) && origins.includes(url.origin) ? url.href : undefined
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** Encodes spaces within an address, but not at its ends. */
const encodeInnerSpaces = (value: string) => value.replace(/(?<=\S) +(?=\S)/g, (run) => '%20'.repeat(run.length))

/** Encodes characters above ASCII, which have one form in an address. */
function encodeNonAscii(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  return value.replace(/[^\x00-\x7f]+/g, (run) => encodeURIComponent(Buffer.from(run).toString()))
}

/** Returns the address without the parameter `sso2`. Everything else stays as written. */
export function withoutFlowParameter(address: string): string {
  const [head = '', ...fragment] = address.split('#')
  const queryStart = head.indexOf('?')
  if (queryStart < 0 || !head.includes(FLOW_PARAMETER, queryStart)) return address
  const otherParameters = head.slice(queryStart + 1).split('&')
  const others = otherParameters.filter((pair) => pair !== FLOW_PARAMETER && !pair.startsWith(`${FLOW_PARAMETER}=`))
  const query = others.length > 0 ? `?${others.join('&')}` : ''
  return [head.slice(0, queryStart) + query, ...fragment].join('#')
}

/** Returns the address with the parameter `sso2`, before any fragment. */
export function withFlowParameter(address: string, value: string): string {
  const [head = '', ...fragment] = withoutFlowParameter(address).split('#')
  const joined = `${head}${head.includes('?') ? '&' : '?'}${FLOW_PARAMETER}=${value}`
  return [joined, ...fragment].join('#')
}

/** Returns the value of the parameter `sso2`, if the address has the parameter exactly once. */
export function flowParameterOf(address: string): string | undefined {
  const [head = ''] = address.split('#', 1)
  const queryStart = head.indexOf('?')
  if (queryStart < 0) return undefined
  const prefix = `${FLOW_PARAMETER}=`
  const values = head
    .slice(queryStart + 1)
    .split('&')
    .filter((pair) => pair.startsWith(prefix))
  return values.length === 1 ? values[0]?.slice(prefix.length) : undefined
}
