/** The cookies of one browser: by host and path. Ports share cookies, as they do in real browsers. */

/** One cookie as the site set it. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly host: string
  readonly path: string
  /** Attributes in lower case, such as `httponly` or `samesite=lax`. */
  readonly attributes: readonly string[]
}

/** A cookie jar. */
export class Cookies {
  #cookies: Cookie[] = []

  /** Takes the `Set-Cookie` lines of a response. */
  take(url: URL, lines: readonly string[]): void {
    for (const line of lines) {
      const cookie = readCookie(url, line)
      if (cookie) this.put(cookie, isOver(cookie))
    }
  }

  /** Puts a cookie in the place of the one with its name, host and path. */
  put(cookie: Cookie, isRemoved = false): void {
    const isOther = (one: Cookie) => one.name !== cookie.name || one.host !== cookie.host || one.path !== cookie.path
    this.#cookies = [...this.#cookies.filter(isOther), ...(isRemoved ? [] : [cookie])]
  }

  /** The value of the `Cookie` header for an address. */
  header(url: URL): string {
    return this.of(url)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  /** Cookies that are sent to an address. */
  of({ hostname, pathname }: URL): Cookie[] {
    return this.#cookies.filter(({ host, path }) => host === hostname && isBelow(pathname, path))
  }

  /** Every cookie. */
  all(): readonly Cookie[] {
    return this.#cookies
  }

  /** Takes over values that a script has set, and drops cookies that it has removed. */
  keep(cookies: readonly Pick<Cookie, 'name' | 'value' | 'host' | 'path'>[]): void {
    this.#cookies = cookies.map((cookie) => {
      const known = this.#cookies.find(
        ({ name, host, path }) => name === cookie.name && host === cookie.host && path === cookie.path,
      )
      return { attributes: [], ...known, ...cookie }
    })
  }

  /** Forgets a cookie by its name. */
  forget(name: string): void {
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name)
  }

  /** The same cookies in another jar. */
  copy(): Cookies {
    const copy = new Cookies()
    copy.#cookies = [...this.#cookies]
    return copy
  }
}

const isBelow = (pathname: string, path: string) =>
  path === '/' || pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)

/** One `Set-Cookie` line, or `undefined` where it is none. */
function readCookie({ hostname }: URL, line: string): Cookie | undefined {
  const [pair = '', ...rest] = line.split(';').map((part) => part.trim())
  const end = pair.indexOf('=')
  if (end < 1) return undefined
  const attributes = rest.map((part) => part.toLowerCase())
  const path = rest.find((part) => /^path=/i.test(part))?.slice(5)
  return {
    name: pair.slice(0, end),
    value: pair.slice(end + 1),
    host: hostname,
    path: path?.startsWith('/') ? path : '/',
    attributes,
  }
}

function isOver({ attributes }: Cookie): boolean {
  const age = attributes.find((one) => one.startsWith('max-age='))?.slice(8)
  if (age !== undefined) return Number(age) <= 0
  const until = attributes.find((one) => one.startsWith('expires='))?.slice(8)
  return until !== undefined && Date.parse(until) < Date.now()
}
