/** Keeps the cookies of a browser by host and path. Ports share cookies, as in real browsers. */
import { splitText } from './split'

/** A cookie as the site set the cookie. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly host: string
  readonly path: string
  /** Attributes in lower case, such as `httponly` or `samesite=lax`. */
  readonly attributes: readonly string[]
  /** When the browser drops the cookie, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number
}

/** A cookie jar. */
export class Cookies {
  #cookies: Cookie[] = []

  /** Stores the cookies of a response's `Set-Cookie` lines. */
  take(url: URL, lines: readonly string[]): void {
    for (const line of lines) {
      const cookie = readSetCookie(url, line)
      if (cookie) this.put(cookie)
    }
  }

  /** Adds a cookie, or replaces the cookie with the same name, host and path. */
  put(cookie: Cookie): void {
    const isOther = (one: Cookie) => one.name !== cookie.name || one.host !== cookie.host || one.path !== cookie.path
    this.#cookies = [...this.#cookies.filter(isOther), cookie]
  }

  /** Returns the value of the `Cookie` header for an address. */
  header(url: URL): string {
    return this.of(url)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  /** Returns the cookies that the browser sends to an address. */
  of({ hostname, pathname }: URL): Cookie[] {
    return this.all().filter(({ host, path }) => host === hostname && isPathBelow(pathname, path))
  }

  all(): readonly Cookie[] {
    return this.#cookies.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > Date.now())
  }

  /** Takes over the values that a script has set, and drops the cookies that a script has removed. */
  keep(cookies: readonly Pick<Cookie, 'name' | 'value' | 'host' | 'path'>[]): void {
    this.#cookies = cookies.map((cookie) => {
      const known = this.#cookies.find(
        ({ name, host, path }) => name === cookie.name && host === cookie.host && path === cookie.path,
      )
      return { attributes: [], ...known, ...cookie }
    })
  }

  /** Removes a cookie by its name. */
  forget(name: string): void {
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name)
  }

  /** Returns another jar with the same cookies. */
  copy(): Cookies {
    const copy = new Cookies()
    copy.#cookies = [...this.#cookies]
    return copy
  }
}

const isPathBelow = (pathname: string, path: string) =>
  path === '/' || pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)

/** Browsers drop a cookie whose name and value are longer. */
const MAX_COOKIE_BYTES = 4096

/**
 * Parses a `Set-Cookie` line.
 * @returns undefined for an invalid line
 */
function readSetCookie({ hostname }: URL, line: string): Cookie | undefined {
  const [first, ...others] = splitText(line, ';')
  const pair = first.trim()
  const rest = others.map((part) => part.trim())
  const end = pair.indexOf('=')
  if (end < 1 || Buffer.byteLength(pair) > MAX_COOKIE_BYTES) return undefined
  const attributes = rest.map((part) => part.toLowerCase())
  const path = rest.find((part) => /^path=/i.test(part))?.slice(5)
  return {
    name: pair.slice(0, end),
    value: pair.slice(end + 1),
    host: hostname,
    path: path?.startsWith('/') ? path : '/',
    attributes,
    ...expiryOf(attributes),
  }
}

function expiryOf(attributes: readonly string[]): Pick<Cookie, 'expiresAt'> {
  const age = attributes.find((one) => one.startsWith('max-age='))?.slice(8)
  if (age !== undefined) return { expiresAt: Date.now() + Number(age) * 1000 }
  const until = attributes.find((one) => one.startsWith('expires='))?.slice(8)
  return until === undefined ? {} : { expiresAt: Date.parse(until) }
}
