/** A cookie-keeping browser for other people's tests: it follows every hop between the site under test and its emulator. */
import type { Express } from 'express'
import supertest from 'supertest'

/** One answer on the way. */
export interface Hop {
  /** Of HTTP. */
  readonly status: number
  /** What was asked for. */
  readonly url: string
}

/** Where a visit ended, and the browser to go on with. */
export interface Visited {
  /** Of HTTP. */
  readonly status: number
  /** Address of the page, or path and query where the site was asked directly. */
  readonly url: string
  /** The page as it came. */
  readonly text: string
  /** The page, parsed where it is JSON. */
  readonly body: unknown
  /** Every answer on the way, the page itself last. */
  readonly trail: readonly Hop[]
  /** The next page in the same browser. */
  visit(path: string): Promise<Visited>
  /** Posts a form as a browser does, and follows where it leads. */
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

/** A new browser for one app. */
export class Visitor {
  readonly agent: ReturnType<typeof supertest.agent>
  readonly #foreignCookies = new Map<string, string>()
  /** Origin of the site, learned from the address that the platform sends the browser back to. */
  #siteOrigin: string | undefined

  constructor(app: Express) {
    this.agent = supertest.agent(app)
  }

  /** Visits a path of the site and follows every redirect. @throws after 20 hops */
  async visit(path: string): Promise<Visited> {
    return this.#follow(await this.#get(path))
  }

  /** Posts a form to a path of the site. The site's origin is known after the first trip through Identify. */
  async submit(path: string, fields: Readonly<Record<string, string>>): Promise<Visited> {
    const headers = {
      ...HEADERS,
      'sec-fetch-site': 'same-origin',
      ...(this.#siteOrigin ? { origin: this.#siteOrigin } : {}),
    }
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
      answer = await this.#next(answer)
    }
    const { status, url, text, body } = answer
    const visit = (path: string) => this.visit(path)
    const submit = (path: string, fields: Readonly<Record<string, string>>) => this.submit(path, fields)
    return { status, url, text, body, trail, visit, submit, agent: this.agent }
  }

  /** Identify is at the emulator; what it sends back to, and everything else, is the site's. */
  async #next({ location = '', url }: Answer): Promise<Answer> {
    if (location.startsWith('/'))
      return /^https?:/.test(url) ? this.#getForeign(new URL(location, url)) : this.#get(location)
    const target = new URL(location)
    if (target.pathname.endsWith('/identify')) return this.#getForeign(target)
    if (/^https?:/.test(url)) this.#siteOrigin = target.origin
    return this.#get(target.pathname + target.search)
  }

  async #get(path: string): Promise<Answer> {
    const { status, text, body, headers } = await this.agent.get(path).redirects(0).set(HEADERS)
    return { status, url: path, text, body, location: headers['location'] }
  }

  async #getForeign(url: URL): Promise<Answer> {
    const cookie = [...this.#foreignCookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await reach(url, { ...HEADERS, ...(cookie ? { cookie } : {}) })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1)
      this.#foreignCookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const text = await response.text()
    return {
      status: response.status,
      url: url.href,
      text,
      body: undefined,
      location: response.headers.get('location') ?? undefined,
    }
  }
}

/** @throws {Error} naming what could not be reached; its query is a token's */
async function reach(url: URL, headers: Record<string, string>): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'manual', headers })
  } catch (error) {
    const where = url.origin + url.pathname
    throw new Error(
      `visit: ${where} cannot be reached (${codeOf(error)}): does the emulator listen, and is ssoUrl its address?`,
    )
  }
}

/** Not `instanceof`: inside Jest the errors of fetch are of another realm. */
function codeOf(error: unknown): string {
  const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : 'no connection'
}
