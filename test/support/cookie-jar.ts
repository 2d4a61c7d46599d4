export interface Cookie {
  name: string
  value: string
  /** Host name without port: cookies do not separate ports. */
  host: string
  /** Sent to subdomains too, because it was set with `Domain`. */
  subdomains: boolean
  path: string
  secure: boolean
  httpOnly: boolean
  sameSite: 'strict' | 'lax' | 'none'
  /** Epoch milliseconds, or `undefined` for a session cookie. */
  expires: number | undefined
}

/** What decides whether a cookie goes along with a request. */
interface CookieRequest {
  url: URL
  crossSite: boolean
  /** A top-level navigation with a safe method: the only cross-site request that takes Lax cookies along. */
  safeNavigation: boolean
}

/** Keeps cookies by the rules that browsers follow: host without port, path, lifetime, Secure, SameSite and prefixes. */
export class CookieJar {
  private cookies: Cookie[] = []

  constructor(private readonly now: () => number) {}

  /** All cookies that are still alive. */
  all(): Cookie[] {
    return this.cookies.filter((cookie) => this.alive(cookie))
  }

  /** Drops every cookie, or those that the predicate picks. */
  drop(pick: (cookie: Cookie) => boolean = () => true): void {
    this.cookies = this.cookies.filter((cookie) => !pick(cookie))
  }

  /** Takes a `Set-Cookie` line in, or refuses it silently, as a browser does. */
  take(line: string, url: URL): void {
    const cookie = parse(line, url, this.now())
    if (!cookie || !allowed(cookie, url)) return
    this.drop((old) => old.name === cookie.name && old.host === cookie.host && old.path === cookie.path)
    if (this.alive(cookie)) this.cookies.push(cookie)
  }

  /** The `Cookie` header for a request, or `undefined` when there is nothing to send. */
  header(request: CookieRequest): string | undefined {
    const sent = this.all()
      .filter((cookie) => matches(cookie, request))
      .sort((a, b) => b.path.length - a.path.length)
    return sent.length === 0 ? undefined : sent.map(({ name, value }) => `${name}=${value}`).join('; ')
  }

  private alive(cookie: Cookie): boolean {
    return cookie.expires === undefined || cookie.expires > this.now()
  }
}

function parse(line: string, url: URL, now: number): Cookie | undefined {
  const [pair = '', ...parts] = line.split(';')
  const at = pair.indexOf('=')
  if (at < 1) return undefined
  const attributes = new Map(
    parts.map((part) => {
      const [key = '', ...value] = part.split('=')
      return [key.trim().toLowerCase(), value.join('=').trim()] as const
    }),
  )
  const domain = attributes.get('domain')?.replace(/^\./, '').toLowerCase()
  const path = attributes.get('path')
  return {
    name: pair.slice(0, at).trim(),
    value: pair.slice(at + 1).trim(),
    host: domain || url.hostname,
    subdomains: Boolean(domain),
    path: path?.startsWith('/') ? path : defaultPath(url),
    secure: attributes.has('secure'),
    httpOnly: attributes.has('httponly'),
    sameSite: sameSite(attributes.get('samesite')),
    expires: expiry(attributes, now),
  }
}

function expiry(attributes: Map<string, string>, now: number): number | undefined {
  const maxAge = attributes.get('max-age')
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return now + Number(maxAge) * 1000
  const expires = Date.parse(attributes.get('expires') ?? '')
  return Number.isNaN(expires) ? undefined : expires
}

function sameSite(value: string | undefined): Cookie['sameSite'] {
  const lower = value?.toLowerCase()
  return lower === 'strict' || lower === 'none' ? lower : 'lax'
}

function defaultPath(url: URL): string {
  const last = url.pathname.lastIndexOf('/')
  return last <= 0 ? '/' : url.pathname.slice(0, last)
}

function allowed(cookie: Cookie, url: URL): boolean {
  if (cookie.subdomains && !isWithin(url.hostname, cookie.host)) return false
  if (cookie.secure && !isTrustworthy(url)) return false
  if (cookie.sameSite === 'none' && !cookie.secure) return false
  if (cookie.name.startsWith('__Secure-') && !cookie.secure) return false
  return !cookie.name.startsWith('__Host-') || (cookie.secure && !cookie.subdomains && cookie.path === '/')
}

function matches(cookie: Cookie, { url, crossSite, safeNavigation }: CookieRequest): boolean {
  const host = cookie.subdomains ? isWithin(url.hostname, cookie.host) : url.hostname === cookie.host
  if (!host || (cookie.secure && !isTrustworthy(url))) return false
  if (crossSite && cookie.sameSite === 'strict') return false
  if (crossSite && cookie.sameSite === 'lax' && !safeNavigation) return false
  if (url.pathname === cookie.path) return true
  return url.pathname.startsWith(cookie.path.endsWith('/') ? cookie.path : `${cookie.path}/`)
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

/** https, or a host that browsers trust without it. */
function isTrustworthy(url: URL): boolean {
  return url.protocol === 'https:' || /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
}
