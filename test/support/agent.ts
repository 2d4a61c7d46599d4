import type http from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { type Cookie, CookieJar } from './cookie-jar'
import { type HttpAnswer, send } from './http'

/** One hop of a navigation: what was asked, and what came back. */
interface Hop {
  method: string
  status: number
  url: string
  setCookie: string[]
  /** How long the answer took, in milliseconds. */
  ms: number
}

/** No server answered: the connection was refused, cut, or took too long. `url` says who it would have been. */
export class NoAnswer extends Error {
  constructor(
    readonly url: string,
    options: ErrorOptions,
  ) {
    super('no answer', options)
  }
}

/** Where a navigation ended, and the way there. The last hop is the page itself. */
export type VisitedPage = Awaited<ReturnType<Browser['visit']>>

/** The answer to a request by a script. `json` is `undefined` when the body is not JSON. */
export type ScriptAnswer = Awaited<ReturnType<Browser['fetchJson']>>

export interface BrowserOptions {
  /** Epoch milliseconds, for the lifetime of cookies: the emulator's clock fits. Default: the system's. */
  now?: () => number
  userAgent?: string
  /** `false`: a browser that keeps no cookie at all. */
  cookies?: boolean
  /** Sent with every request. */
  headers?: Record<string, string>
  /** How long it waits for one answer, in milliseconds. Default: for ever. */
  patienceMs?: number
  /** Keeps connections. Default: each request has one of its own. */
  agent?: http.Agent
}

export interface NavigationOptions {
  /** Address of the page whose link was followed. Default: the address was typed. */
  from?: string
  headers?: Record<string, string>
}

interface Navigation {
  method: string
  url: URL
  /** Origin of the page that started it; `undefined` when it was typed. */
  initiator: string | undefined
  body: string | undefined
  headers: Record<string, string>
}

const redirectLimit = 20
const FORM = 'application/x-www-form-urlencoded'
const redirects = new Set([301, 302, 303, 307, 308])
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

/** A browser without a screen: keeps cookies, follows redirects, and says with every request where it comes from. */
export class Browser {
  private readonly jar: CookieJar
  private answeredAt = 0

  constructor(private readonly options: BrowserOptions = {}) {
    this.jar = new CookieJar(options.now ?? Date.now)
  }

  get cookies(): Cookie[] {
    return this.jar.all()
  }

  /** Value of a cookie by name, whichever host set it. */
  cookie(name: string): string | undefined {
    return this.cookies.find((cookie) => cookie.name === name)?.value
  }

  /** Takes a `Set-Cookie` line in, as if the address had answered with it. */
  takeCookie(line: string, url: string): void {
    this.jar.take(line, new URL(url))
  }

  /** Drops every cookie, or those that the predicate picks. */
  dropCookies(pick?: (cookie: Cookie) => boolean): void {
    this.jar.drop(pick)
  }

  /** Opens an address as a document and follows every redirect. */
  visit(url: string, { from, headers = {} }: NavigationOptions = {}) {
    const initiator = from === undefined ? undefined : new URL(from).origin
    return this.navigate({ method: 'GET', url: new URL(url), initiator, body: undefined, headers })
  }

  /** Posts a form of a page of the same origin (or of `from`), then follows the redirect that answers it. */
  submit(url: string, fields: Record<string, string>, { from, headers = {} }: NavigationOptions = {}) {
    return this.navigate({
      method: 'POST',
      url: new URL(url),
      initiator: new URL(from ?? url).origin,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': FORM, ...headers },
    })
  }

  /**
   * A request by a script of the same origin. Redirects are not followed. A body, `json` or `form`, makes it a POST.
   * The answer and its cookies reach the browser after `arrival`.
   */
  async fetchJson(
    url: string,
    options: {
      method?: string
      json?: unknown
      form?: Record<string, string>
      headers?: Record<string, string>
      arrival?: () => Promise<void>
    } = {},
  ) {
    const target = new URL(url)
    const form = options.form && new URLSearchParams(options.form).toString()
    const body = options.json === undefined ? form : JSON.stringify(options.json)
    const method = options.method ?? (body === undefined ? 'GET' : 'POST')
    const headers: Record<string, string> = {
      accept: 'application/json',
      'sec-fetch-dest': 'empty',
      'sec-fetch-mode': 'cors',
      'sec-fetch-site': 'same-origin',
    }
    if (method !== 'GET') headers['origin'] = target.origin
    if (body !== undefined) headers['content-type'] = form === undefined ? 'application/json' : FORM
    const all = { ...headers, ...options.headers }
    const answer = await this.request(method, target, all, body, false, options.arrival)
    return { status: answer.status, headers: answer.headers, body: answer.body, json: parseJson(answer.body) }
  }

  private async navigate(start: Navigation) {
    const trail: Hop[] = []
    let step = start
    let site = start.initiator === undefined ? 'none' : 'same-origin'
    while (trail.length <= redirectLimit) {
      site = fetchSite(site, start.initiator, step.url)
      const begin = performance.now()
      const headers = documentHeaders(step, site)
      const answer = await this.request(step.method, step.url, headers, step.body, site === 'cross-site')
      const ms = performance.now() - begin
      trail.push({ method: step.method, status: answer.status, url: step.url.href, setCookie: answer.setCookie, ms })
      const { location } = answer.headers
      if (!redirects.has(answer.status) || location === undefined) {
        return { status: answer.status, url: step.url.href, body: answer.body, headers: answer.headers, trail }
      }
      step = nextStep(step, answer.status, location)
    }
    const way = trail.map(({ url }) => url.replace(/\?.*/, '')) // without the tokens in their queries
    throw new Error(`more than ${redirectLimit} redirects:\n${way.join('\n')}`)
  }

  private async request(
    method: string,
    url: URL,
    headers: Record<string, string>,
    body: string | undefined,
    crossSite: boolean,
    arrival?: () => Promise<void>,
  ): Promise<HttpAnswer> {
    const safeNavigation = headers['sec-fetch-mode'] === 'navigate' && method === 'GET'
    const cookie = this.jar.header({ url, crossSite, safeNavigation })
    const { userAgent = chrome, cookies = true, headers: own, patienceMs, agent } = this.options
    const all: Record<string, string> = { 'user-agent': userAgent, 'accept-language': 'en', ...own, ...headers }
    if (cookie !== undefined) all['cookie'] = cookie
    if (body !== undefined) all['content-length'] = String(Buffer.byteLength(body))
    // the site takes a form for a double click if the first one was answered in the same millisecond
    while (body !== undefined && performance.now() < this.answeredAt + 1) await setImmediate()
    const answer = await send({ method, url, headers: all, body, patienceMs, agent }).catch((cause) => {
      throw new NoAnswer(url.href, { cause })
    })
    this.answeredAt = performance.now()
    await arrival?.()
    if (cookies) for (const line of answer.setCookie) this.jar.take(line, url)
    return answer
  }
}

function documentHeaders(step: Navigation, site: string): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'upgrade-insecure-requests': '1',
    'sec-fetch-dest': 'document',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-site': site,
    'sec-fetch-user': '?1',
  }
  if (step.method !== 'GET' && step.initiator !== undefined) headers['origin'] = step.initiator
  return { ...headers, ...step.headers }
}

/** What `Sec-Fetch-Site` says at this hop: never closer than it was at the hop before, and `none` when typed. */
function fetchSite(before: string, initiator: string | undefined, url: URL): string {
  if (initiator === undefined || before === 'cross-site') return before
  if (initiator === 'null' || new URL(initiator).hostname !== url.hostname) return 'cross-site'
  return url.origin === initiator ? before : 'same-site'
}

/** 301 to 303 turn a form post into a GET; 307 and 308 send it again, from nowhere when the origin changed. */
function nextStep(step: Navigation, status: number, location: string): Navigation {
  const url = new URL(location, step.url)
  const keepsMethod = status === 307 || status === 308
  if (keepsMethod) return { ...step, url, initiator: url.origin === step.url.origin ? step.initiator : 'null' }
  const { 'content-type': _dropped, ...headers } = step.headers
  return { ...step, method: 'GET', url, body: undefined, headers }
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of any shape, looked at by tests
function parseJson(body: string): any {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
