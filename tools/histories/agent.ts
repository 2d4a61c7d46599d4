import { EN } from '../../lib/config/texts/en'
import { Browser, type BrowserOptions, NoAnswer, type VisitedPage } from '../../test/support/agent'
import { document } from '../../test/support/landing'
import type { Entry, What } from './entries'
import type { Account, Setup } from './setup'

/** A browser waits so long for one answer, in milliseconds: longer than any promise allows. */
const PATIENCE_MS = 30_000
const MOST_COOKIES = 12
const SESSION = 'sso2.sid'
const FORM = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }

/** What a page says of itself. */
interface PageView {
  readonly status?: string
  readonly degraded?: string
  readonly user?: string
  readonly items?: readonly string[]
}

/** What a step came to, before it is an entry. */
interface Seen {
  readonly status: number
  readonly at: Entry['at']
  readonly slowest: number
  readonly hops: number
  readonly asked: number
  readonly json?: (PageView & { readonly logout?: string; readonly error?: string }) | undefined
}

type ScriptRequest = Parameters<Browser['fetchJson']>[1]

interface Held {
  readonly cookie: string
  /** When the browser was first seen to have it. */
  readonly at: number
}

/** One browser, and everything that it does and sees. */
export class Agent {
  readonly browser: Browser
  /** The last landing address that it came by: for thieves. */
  landing: string | undefined
  /** Who the last page was for; `undefined`: nobody. */
  last: string | undefined
  /** What the last page said was wrong. */
  degraded: string | undefined
  readonly #held: Held[] = []
  #items = 0

  constructor(
    readonly setup: Setup,
    readonly number: number,
    /** Accounts whose passwords it knows. */
    readonly accounts: readonly Account[],
    readonly note: (entry: Entry) => void,
    options: BrowserOptions = {},
  ) {
    this.browser = new Browser({ ...commonOptions(setup, number), ...options })
  }

  /** Opens a page, with all redirects. */
  page(path = '/news', what: What = 'page'): Promise<void> {
    return this.#step(
      what,
      async () => {
        const visit = await this.browser.visit(this.setup.url + path)
        this.landing = visit.trail.find(({ url }) => url.includes('/sso2/landing'))?.url ?? this.landing
        return fromVisit(this.setup, visit)
      },
      { isLean: path.startsWith('/lean') },
    )
  }
  script(path = '/news'): Promise<void> {
    return this.#ask('script', path, {})
  }
  /** Puts something into the session that nobody else has put there. */
  put(): Promise<void> {
    this.#items += 1
    const item = `${this.number}.${this.#items}`
    return this.#ask('put', `/put?item=${item}`, {}, { item })
  }
  /** Asks for a page that wants a word of the SSO system that was asked for now. */
  fresh(): Promise<void> {
    return this.#ask('fresh', '/fresh', {})
  }
  login({ username, password }: Account): Promise<void> {
    return this.#ask('login', '/login', { json: { username, password } }, { account: username })
  }
  /** Logs in by the form, and goes where that leads. */
  submit({ username, password }: Account): Promise<void> {
    const fields = { username, password, return_to: '/news' }
    const send = async () => {
      const visit = await this.browser.submit(`${this.setup.url}/login`, fields)
      const [first] = visit.trail
      return { ...fromVisit(this.setup, visit), status: first?.status === 303 ? 303 : visit.status }
    }
    return this.#step('login', send, { account: username })
  }
  wrong({ username }: Account): Promise<void> {
    return this.#ask('wrong', '/login', { json: { username, password: 'not-the-password' } }, { account: username })
  }
  logout(): Promise<void> {
    return this.#logOutByScript('logout', '/logout')
  }
  /** Logs out by the form, as far as the redirect. */
  submitLogout(): Promise<void> {
    return this.#ask('logout', '/logout', { method: 'POST', headers: FORM })
  }
  /** Logs out everywhere whoever the browser is logged in as. */
  async logoutAll(): Promise<void> {
    await this.page()
    const account = this.last
    await this.#logOutByScript('logoutAll', '/logout-all', { account })
  }
  /** Logs out by a script, which then loads a page at once, as docs/logout.md says. */
  async #logOutByScript(what: What, path: string, more: Partial<Entry> = {}): Promise<void> {
    await this.#step(what, () => this.#send(path, { method: 'POST' }), more)
    await this.page()
  }
  /** Somebody else comes with a cookie that this browser had once. */
  async old(roll: () => number): Promise<void> {
    const own = this.browser.cookie(SESSION)
    const old = this.#held.filter(({ cookie }) => cookie !== own)
    const held = roll() < 0.6 ? old.at(-1) : old[Math.floor(roll() * old.length)]
    if (!held) return this.page()
    const headers = { ...document, cookie: `${SESSION}=${held.cookie}` }
    const stranger = new Browser(commonOptions(this.setup, this.number))
    const ask = async () => fromScript(await stranger.fetchJson(`${this.setup.url}/news`, { headers }))
    await this.#step('old', ask, { heldAt: held.at }, false)
  }
  /** Uses a landing address of another browser, or again of its own, and looks what came of it. */
  async steal(landing: string | undefined): Promise<void> {
    if (landing !== undefined)
      await this.#step('steal', async () => fromScript(await this.browser.fetchJson(landing, { headers: document })))
    await this.page()
  }
  /** A login as people do it: the form is looked at, and sent. */
  async enter(account: Account, isForm: boolean): Promise<void> {
    if (!this.hasSession || this.degraded !== undefined) await this.page('/login', 'form')
    await (isForm ? this.submit(account) : this.login(account))
  }
  get hasSession(): boolean {
    return this.browser.cookie(SESSION) !== undefined
  }

  #ask(what: What, path: string, request: ScriptRequest, more: Partial<Entry> = {}): Promise<void> {
    return this.#step(what, () => this.#send(path, request), more)
  }

  async #send(path: string, request: ScriptRequest): Promise<Seen> {
    return fromScript(await this.browser.fetchJson(this.setup.url + path, request))
  }

  async #step(what: What, act: () => Promise<Seen>, more: Partial<Entry> = {}, isOwn = true): Promise<void> {
    const begin = performance.now()
    const clock = this.setup.clock()
    this.#hold(begin)
    const seen = await act().catch((error) => failed(this.setup, error))
    const end = performance.now()
    this.#hold(end)
    const { status, at, hops, asked } = seen
    const slowest = seen.slowest || (hops === 1 ? end - begin : 0)
    const { status: view, user, degraded, items, logout, error } = seen.json ?? {}
    if (isOwn && isPage(what)) Object.assign(this, { last: user, degraded })
    const entry = { agent: this.number, what, begin, end, clock, status, at, slowest, hops, asked }
    const found = isPage(what) ? { view, user, degraded, items } : { logout, error }
    this.note({ ...entry, ...found, ...more })
  }
  #hold(now: number): void {
    const cookie = this.browser.cookie(SESSION)
    if (cookie === undefined || this.#held.some((held) => held.cookie === cookie)) return
    this.#held.push({ cookie, at: now })
    if (this.#held.length > MOST_COOKIES) this.#held.shift()
  }
}

const PAGES: ReadonlySet<What> = new Set(['page', 'form', 'script', 'put', 'fresh', 'old'])
const isPage = (what: What) => PAGES.has(what)

/** Each browser has an address of its own. */
function commonOptions(setup: Setup, number: number): BrowserOptions {
  const address = `198.18.${Math.floor(number / 250) % 250}.${(number % 250) + 1}`
  return {
    now: () => setup.emulator.clock.now(),
    headers: { 'x-forwarded-for': address },
    patienceMs: PATIENCE_MS,
  }
}

const isSite = (setup: Setup, url: string) => url.startsWith(setup.url)

function fromVisit(setup: Setup, { status, url, body, trail }: VisitedPage): Seen {
  const own = trail.filter((hop) => isSite(setup, hop.url))
  const slowest = Math.max(0, ...own.map(({ ms }) => ms))
  const at = isSite(setup, url) ? 'site' : 'platform'
  const json = at === 'site' ? (parse(body) ?? ofProblem(body)) : undefined
  return { status, at, slowest, hops: trail.length, asked: own.length, json }
}

const fromScript = ({ status, json }: { status: number; json: Seen['json'] }): Seen => {
  return { status, at: 'site', slowest: 0, hops: 1, asked: 1, json }
}

/** Nobody answered, or the redirects had no end. */
function failed(setup: Setup, error: unknown): Seen {
  if (!(error instanceof NoAnswer)) return { status: -1, at: 'site', slowest: 0, hops: 0, asked: 20 }
  return { status: 0, at: isSite(setup, error.url) ? 'site' : 'platform', slowest: 0, hops: 0, asked: 1 }
}

/** The built-in page that says so is one of the loop guard's. */
const ofProblem = (body: string): Seen['json'] =>
  body.includes(EN.identify_loop) ? { degraded: 'identify_loop' } : undefined

function parse(body: string): Seen['json'] {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
