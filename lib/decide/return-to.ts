/** The only judge of a return address. Pure. What it lets through begins with one of our own origins, literally. */

/** A longer return address is refused. */
export const MAX_RETURN_LENGTH = 2048
/** On its way through Identify an address is longer by our parameter, which is never more than this. */
export const MAX_CARRIED_LENGTH = MAX_RETURN_LENGTH + 48

/** Where a visitor may be sent: the site itself, and further origins it trusts. */
export interface ReturnPolicy {
  /** Origin of the site, for example `https://news.example`. */
  readonly origin: string
  readonly trustedOrigins: readonly string[]
}

/** Our reserved query parameter. */
export const FLOW_PARAMETER = 'sso2'

const PRINTABLE = /^[\x21-\x7e]+$/

/**
 * Judges one address from outside. A space that the visitor wrote has only one spelling in an address.
 * @returns an absolute address that stays on a trusted origin, byte for byte as given where it could be; else `undefined`
 */
export function validateReturnTo(
  value: unknown,
  policy: ReturnPolicy,
  maximum: number = MAX_RETURN_LENGTH,
): string | undefined {
  if (typeof value !== 'string' || value.length > maximum) return undefined
  const text = encodeNonAscii(encodeInnerSpaces(value))
  const [beforeQuery = ''] = text.split(/[?#]/, 1)
  if (text.length > maximum) return undefined // it is this spelling that travels
  if (!PRINTABLE.test(text) || beforeQuery.includes('\\')) return undefined
  if (text.startsWith('/')) return text.startsWith('//') ? undefined : policy.origin + text
  return validateAbsolute(text, [policy.origin, ...policy.trustedOrigins])
}

/**
 * Judges the page that a `Referer` names: of the site's own origin, for a trusted one is another site. A browser writes the origin in one
 * way only, and no user name before it.
 * @returns the page without our parameter; `undefined` where it may not be returned to
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

/** Not where it begins or ends: nobody writes such an address. */
const encodeInnerSpaces = (value: string) => value.replace(/(?<=\S) +(?=\S)/g, (run) => '%20'.repeat(run.length))

/** Visitors' raw bytes above ASCII, which have only one spelling in an address. */
function encodeNonAscii(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
  return value.replace(/[^\x00-\x7f]+/g, (run) => encodeURIComponent(Buffer.from(run).toString()))
}

/** The address without our reserved parameter; everything else stays as it was written. */
export function withoutFlowParameter(address: string): string {
  const [head = '', ...fragment] = address.split('#')
  const mark = head.indexOf('?')
  if (mark < 0 || !head.includes(FLOW_PARAMETER, mark)) return address
  const kept = head.slice(mark + 1).split('&')
  const others = kept.filter((pair) => pair !== FLOW_PARAMETER && !pair.startsWith(`${FLOW_PARAMETER}=`))
  const query = others.length > 0 ? `?${others.join('&')}` : ''
  return [head.slice(0, mark) + query, ...fragment].join('#')
}

/** The address plus our parameter, before any fragment. */
export function withFlowParameter(address: string, value: string): string {
  const [head = '', ...fragment] = withoutFlowParameter(address).split('#')
  const joined = `${head}${head.includes('?') ? '&' : '?'}${FLOW_PARAMETER}=${value}`
  return [joined, ...fragment].join('#')
}

/** The value of our parameter, if the address has exactly one. */
export function flowParameterOf(address: string): string | undefined {
  const [head = ''] = address.split('#', 1)
  const mark = head.indexOf('?')
  if (mark < 0) return undefined
  const prefix = `${FLOW_PARAMETER}=`
  const values = head
    .slice(mark + 1)
    .split('&')
    .filter((pair) => pair.startsWith(prefix))
  return values.length === 1 ? values[0]?.slice(prefix.length) : undefined
}
