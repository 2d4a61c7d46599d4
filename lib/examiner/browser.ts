/**
 * Plays a browser: cookies, redirects and forms, with a record of each request.
 * With `--browser`, Chromium opens the pages and sends their forms.
 */
import type { Agent } from 'node:http'
import type { Chromium, ChromiumWindow, Loaded, LoadedResponse } from './chromium'
import { Cookies } from './cookies'
import { type Form, formsOf, type Link, linksOf, visibleText } from './html'
import { type Response, sendRequest } from './request'

/** A request of a browser, with its response. */
export interface Hop extends Response {
  readonly browser: string
  /** Time of the request, in milliseconds. */
  readonly at: number
  /** Time of the request by a monotonic clock. */
  readonly tick: number
  readonly method: string
  readonly url: URL
  /** Fields of the request, passwords masked. */
  readonly fields: Readonly<Record<string, string>>
  /** The `Cookie` header of the request, if the examiner has sent the request itself. */
  readonly cookie?: string
  /** Absolute address of a redirect. */
  readonly location: string | undefined
}

/** The page that a browser shows after its redirects. */
export interface Page extends Hop {
  /** Every request until the page, the page itself last. */
  readonly hops: readonly Hop[]
  /** Address of a redirect that was not followed. */
  readonly next: string | undefined
  /** Text of the page, without tags. */
  readonly words: string
  readonly forms: readonly Form[]
  readonly links: readonly Link[]
}

/** Options for opening an address. */
export interface OpenOptions {
  readonly method?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Stops before a redirect to such an address. */
  readonly stopAt?: (address: URL) => boolean
}

/** User agent of all browsers of the examiner. */
export const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'

const navigation: Readonly<Record<string, string>> = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en',
  'user-agent': USER_AGENT,
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-user': '?1',
  'upgrade-insecure-requests': '1',
}

/** Headers of a form that a page of the attacker submits. */
export const crossSite: Readonly<Record<string, string>> = {
  'sec-fetch-site': 'cross-site',
  origin: 'https://attacker.invalid',
  referer: 'https://attacker.invalid/',
}

/** Headers of an old browser, which sends no Fetch Metadata. An empty header is not sent. */
export const oldBrowser: Readonly<Record<string, string>> = {
  'sec-fetch-site': '',
  'sec-fetch-mode': '',
  'sec-fetch-dest': '',
  'sec-fetch-user': '',
}

/** Headers of a fetch call that a script of the site makes. */
export const ownScript: Readonly<Record<string, string>> = {
  accept: 'application/json',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
}

const MAX_HOPS = 20

/** A browser with its own cookies. */
export class Browser {
  cookies = new Cookies()
  /** Does the browser accept cookies of the site? */
  hasCookies = true
  /** Address of this machine that the browser's requests come from, if not the usual one. */
  address: string | undefined
  /** Connection to the site that the browser shares with others, if not its own. */
  agent: Agent | undefined
  #window: ChromiumWindow | undefined

  constructor(
    readonly name: string,
    private readonly record: (hop: Hop) => void,
    private readonly always: Readonly<Record<string, string>>,
    private readonly chromium?: Chromium,
  ) {}

  /** Returns another browser with the same cookies, such as a stolen copy or another tab. */
  copy(name: string): Browser {
    const copy = new Browser(name, this.record, this.always, this.chromium)
    copy.cookies = this.cookies.copy()
    return copy
  }

  /** Returns a browser that has the cookies of the platform, but no cookies of the site. */
  withoutCookiesOf(site: string, platform: string): Browser {
    const other = new Browser(`${this.name}, later`, this.record, this.always, this.chromium)
    const kept = this.cookies.of(new URL('/sso/identify', platform))
    const removed = new Set(this.cookies.of(new URL(site)).map(({ name }) => name))
    for (const cookie of kept) if (!removed.has(cookie.name)) other.cookies.put(cookie)
    return other
  }

  /** Opens an address and follows up to 20 redirects. */
  async open(address: string, options: OpenOptions = {}): Promise<Page> {
    if (this.chromium && this.hasCookies && !this.agent && Object.keys(options).length === 0) {
      this.#window ??= await this.chromium.window()
      return this.#shown(await this.#window.open(address, this.cookies))
    }
    const hops: Hop[] = []
    let { method = 'GET', fields } = options
    let url = new URL(address)
    let fromSite = method === 'POST' ? 'same-origin' : 'none'
    let origin: Record<string, string> = method === 'POST' ? { origin: url.origin } : {}
    for (;;) {
      const headers = { 'sec-fetch-site': fromSite, ...origin, ...options.headers }
      const hop = await this.#request(url, method, fields, headers)
      hops.push(hop)
      if (hop.location === undefined) return pageAfter(hop, hops, undefined)
      const next = new URL(hop.location)
      if (options.stopAt?.(next) || hops.length > MAX_HOPS) return pageAfter(hop, hops, hop.location)
      if (next.origin !== url.origin && fromSite !== 'none') {
        fromSite = 'cross-site'
        origin = {}
      }
      if (hop.status !== 307 && hop.status !== 308) {
        method = 'GET'
        fields = undefined
        origin = {}
      }
      url = next
    }
  }

  /** Sends a form with some of its fields filled in. */
  submit(form: Form, filled: Readonly<Record<string, string>>, options: OpenOptions = {}): Promise<Page> {
    const isTyped = form.fields.some(({ name, type }) => name in filled && type !== 'hidden')
    if (isTyped && this.#window?.isAt(form.page) && Object.keys(options).length === 0)
      return this.#window.submit(form, filled, this.cookies).then((loaded) => this.#shown(loaded))
    const fields = { ...Object.fromEntries(form.fields.map(({ name, value }) => [name, value])), ...filled }
    if (form.method === 'POST') return this.open(form.action, { ...options, method: 'POST', fields })
    const url = new URL(form.action)
    url.search = new URLSearchParams(fields).toString()
    return this.open(url.href, options)
  }

  /** Returns the page that Chromium shows, with its requests. */
  #shown({ shown, responses }: Loaded): Page {
    const hopOf = (response: LoadedResponse, index: number): Hop => {
      const to = response.headers['location']
      const location =
        to !== undefined && URL.canParse(to, response.url.href) ? new URL(to, response.url).href : undefined
      const at = Date.now() - responses.length + index
      const tick = performance.now() - responses.length + index
      return { ...response, browser: this.name, at, tick, ms: 0, location, fields: masked(response.fields) }
    }
    const hops = responses.map(hopOf)
    for (const hop of hops) this.record(hop)
    const last = hopOf(shown, hops.length)
    return pageAfter(last, [...hops, last], undefined)
  }

  async #request(
    url: URL,
    method: string,
    fields: Readonly<Record<string, string>> | undefined,
    extra: Readonly<Record<string, string>>,
  ): Promise<Hop> {
    const [at, tick] = [Date.now(), performance.now()]
    const cookie = this.cookies.header(url)
    const body = fields === undefined ? undefined : new URLSearchParams(fields).toString()
    const form: Record<string, string> =
      body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
    const all = { ...navigation, ...this.always, ...form, ...(cookie === '' ? {} : { cookie }), ...extra }
    const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
    const isPlatform = url.pathname.endsWith('/identify')
    const way = isPlatform ? {} : { from: this.address, agent: this.agent }
    const response = await sendRequest({ method, url, headers, body, ...way })
    if (this.hasCookies || isPlatform) this.cookies.take(url, response.setCookie)
    const location = response.status >= 300 && response.status < 400 ? response.headers['location'] : undefined
    const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url).href : undefined
    const hop = {
      ...response,
      browser: this.name,
      at,
      tick,
      method,
      url,
      fields: masked(fields ?? {}),
      cookie,
      location: target,
    }
    this.record(hop)
    return hop
  }
}

const masked = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, /^t$|pass|pwd|secret|token|csrf/i.test(name) ? '***' : value]),
  )

function pageAfter(last: Hop, hops: readonly Hop[], next: string | undefined): Page {
  const { text, url } = last
  const words = visibleText(text)
  return { ...last, hops, next, words, forms: formsOf(text, url.href), links: linksOf(text, url.href) }
}
