/** A browser with cookies for the tests of a site. Follows every redirect between the site and the emulator. */
import type { Express } from 'express'
import supertest from 'supertest'

/** A response in a chain of redirects. */
export interface Hop {
  /** HTTP status. */
  readonly status: number
  /** Requested address. */
  readonly url: string
}

/** The last page of a visit, and the browser for further requests. */
export interface Visited {
  /** HTTP status. */
  readonly status: number
  /** Address of a page of the emulator, or path and query of a page of the site. */
  readonly url: string
  /** Body of the page as text. */
  readonly text: string
  /** Body of the page, parsed if it is JSON. */
  readonly body: unknown
  /** All responses in order. The last entry is the page itself. */
  readonly trail: readonly Hop[]
  /** Opens another page in the same browser. */
  visit(path: string): Promise<Visited>
  /** Posts a form as a browser does, and follows every redirect. */
  submit(path: string, fields: Readonly<Record<string, string>>): Promise<Visited>
  /** The supertest agent with the site's cookies. */
  readonly agent: ReturnType<typeof supertest.agent>
}

const MAX_HOPS = 20
const HEADERS = {
  accept: 'text/html,application/xhtml+xml',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
}

interface Answer extends Hop {
  readonly location: string | undefined
  readonly text: string
  readonly body: unknown
}

/** A new browser for a single site. */
export class Visitor {
  readonly agent: ReturnType<typeof supertest.agent>
  readonly #foreignCookies = new Map<string, string>()
  /** The site's `Origin`, known from the address to which Identify redirects the browser. */
  #formHeaders: { readonly origin?: string } = {}

  constructor(app: Express) {
    this.agent = supertest.agent(app)
  }

  /** Opens a path of the site and follows every redirect. @throws after 20 redirects */
  async visit(path: string): Promise<Visited> {
    return this.#follow(await this.#get(path))
  }

  /** Posts a form to a path of the site. Sends `Origin` after the first Identify redirect, because the site's origin is known from then on. */
  async submit(path: string, fields: Readonly<Record<string, string>>): Promise<Visited> {
    const headers = { ...HEADERS, 'sec-fetch-site': 'same-origin', ...this.#formHeaders }
    const {
      status,
      text,
      body,
      headers: answered,
    } = await this.agent
      .post(path)
      .redirects(0)
      .set(headers)
      .type('form')
      .send({ ...fields })
    return this.#follow({ status, url: path, text, body, location: answered['location'] })
  }

  async #follow(first: Answer): Promise<Visited> {
    const trail: Hop[] = []
    let answer = first
    for (;;) {
      trail.push({ status: answer.status, url: answer.url })
      if (answer.location === undefined) break
      if (trail.length > MAX_HOPS)
        throw new Error(
          `visit: more than ${MAX_HOPS} hops, the last to ${new URL(answer.location, 'http://site').pathname}`,
        )
      answer = await this.#next(answer.location, answer.url)
    }
    const { status, url, text, body } = answer
    const visit = (path: string) => this.visit(path)
    const submit = (path: string, fields: Readonly<Record<string, string>>) => this.submit(path, fields)
    return { status, url, text, body, trail, visit, submit, agent: this.agent }
  }

  /** Requests the next address. Identify is at the emulator, and every address that Identify redirects to is at the site. */
  async #next(location: string, from: string): Promise<Answer> {
    const isForeign = /^https?:/.test(from)
    if (location.startsWith('/')) return isForeign ? this.#getForeign(new URL(location, from)) : this.#get(location)
    const target = new URL(location)
    if (target.pathname.endsWith('/identify')) return this.#getForeign(target)
    if (isForeign) this.#formHeaders = { origin: target.origin }
    return this.#get(target.pathname + target.search)
  }

  async #get(path: string): Promise<Answer> {
    const { status, text, body, headers } = await this.agent.get(path).redirects(0).set(HEADERS)
    return { status, url: path, text, body, location: headers['location'] }
  }

  async #getForeign(url: URL): Promise<Answer> {
    const cookie = [...this.#foreignCookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await reach(url, { ...HEADERS, ...(cookie ? { cookie } : {}) })
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      const pair = line.replace(/;.*/, '')
      this.#foreignCookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const { status, text, headers } = response
    return { status, url: url.href, text, body: undefined, location: headers['location'] }
  }
}

/**
 * Not by `fetch`, which always sends `Sec-Fetch-Mode: cors`: a login page on another site would not take it for a browser.
 * @throws {Error} with the address that cannot be reached, without its query, because the query contains a token
 */
async function reach({ origin, pathname, search }: URL, headers: Record<string, string>): Promise<supertest.Response> {
  try {
    return await supertest(origin).get(`${pathname}${search}`).redirects(0).set(headers)
  } catch (error) {
    throw new Error(
      `visit: ${origin}${pathname} cannot be reached (${connectionErrorCode(error)}): does the emulator listen, and is ssoUrl its address?`,
    )
  }
}

/** Returns the code of an error. Does not use `instanceof`, because inside Jest the errors of Node.js are of another realm. */
function connectionErrorCode(error: unknown): string {
  const { code = 'no connection' } = Object(error)
  return String(code)
}
