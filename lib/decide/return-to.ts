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
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/
const BACKSLASH_BEFORE_QUERY = /^[^?#]*\\/

/**
 * Validates an address from outside.
 * @returns an absolute address on an allowed origin, byte for byte as given if it has only printable ASCII. `undefined` for any other address
 */
export function validateReturnTo(
  value: unknown,
  policy: ReturnPolicy,
  maximum: number = MAX_RETURN_LENGTH,
): string | undefined {
  if (typeof value !== 'string' || value.length > maximum || value.trim() !== value) return undefined
  if (CONTROL_CHARACTER.test(value) || BACKSLASH_BEFORE_QUERY.test(value) || value.startsWith('//')) return undefined
  const address = value.startsWith('/') ? policy.origin + value : value
  const origins = [policy.origin, ...policy.trustedOrigins]
  if (PRINTABLE.test(address) && origins.some((origin) => address.startsWith(`${origin}/`))) return address
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined
  const { origin, username, password, href } = new URL(address) // encodes spaces and other letters
  const isOurs = origins.includes(origin) && username === '' && password === ''
  return isOurs && href.length <= maximum ? href : undefined
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

/** Splits an address into its parts, which stay as written. Without a query there are no pairs. */
function partsOf(address: string) {
  const [head = '', ...more] = address.split('#')
  const [path = '', ...query] = head.split('?')
  const pairs = query.length === 0 ? [] : query.join('?').split('&')
  const isOurs = (pair: string) => pair === FLOW_PARAMETER || pair.startsWith(`${FLOW_PARAMETER}=`)
  return { path, own: pairs.filter(isOurs), others: pairs.filter((pair) => !isOurs(pair)), fragment: ['', ...more] }
}

/** Returns the address without the parameter `sso2`. Everything else stays as written. */
export function withoutFlowParameter(address: string): string {
  const { path, others, fragment } = partsOf(address)
  return path + (others.length > 0 ? `?${others.join('&')}` : '') + fragment.join('#')
}

/** Returns the address with the parameter `sso2`, before any fragment. */
export function withFlowParameter(address: string, value: string): string {
  const { path, others, fragment } = partsOf(address)
  return `${path}?${[...others, `${FLOW_PARAMETER}=${value}`].join('&')}${fragment.join('#')}`
}

/** Returns the value of the parameter `sso2`, if the address has the parameter exactly once. */
export function flowParameterOf(address: string): string | undefined {
  const [pair, ...more] = partsOf(address).own
  return more.length > 0 ? undefined : pair?.slice(FLOW_PARAMETER.length + 1) || undefined
}
