import { Browser, type VisitedPage } from '../../test/support/agent'
import { type HttpAnswer, send } from '../../test/support/http'
import { forEach } from '../bench/client'
import type { Entry } from './judge'
import type { Paper } from './paper'
import { password, readerName } from './platform'

/*
 * Readers who do this and that, so many times a second, each in browsers of his own. What comes back is written down.
 */

/** Readers with a second browser: every so many. */
const TWO_BROWSERS = 4
const GIVEN_UP_MS = 20_000
/** Those of one tick begin together, so that their commands meet at the store. */
const TICK_MS = 100

/** What every page of the site answers. */
interface PageView {
  readonly degraded?: string
  /** User name of the user who is logged in. */
  readonly who?: string
  /** Whose session data it is. */
  readonly basketOf?: string
}

/** A session cookie as it was before its session was logged out. */
export interface OldCookie {
  readonly value: string
  readonly since: number
}

/** The readers of a run. */
export class Load {
  readonly entries: Entry[] = []
  readonly oldCookies: OldCookie[] = []
  readonly #readers: Reader[]
  readonly #under = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #begun = 0

  constructor(paper: Paper, readers: number) {
    this.#readers = Array.from({ length: readers }, (_, number) => new Reader(this, paper, number))
  }

  /** All log in, a few at a time. */
  async logInAll(): Promise<void> {
    await forEach(this.#readers, 8, (reader) => reader.logInEverywhere())
  }

  /** Begins so many actions a second from now on. */
  start(perSecond: number): void {
    const begin = performance.now()
    let asked = 0
    this.#timer = setInterval(() => {
      const due = ((performance.now() - begin) * perSecond) / 1000
      for (; asked < due; asked += 1) this.#begin()
    }, TICK_MS)
  }

  /** No further action; resolves when those under way have ended. @returns how many there were */
  async stop(): Promise<number> {
    clearInterval(this.#timer)
    await Promise.all(this.#under)
    return this.#begun
  }

  /** Everybody opens a page. */
  async lookAll(): Promise<void> {
    for (const reader of this.#readers) await reader.look()
  }

  #begin(): void {
    const free = this.#readers.filter(({ isBusy }) => !isBusy)
    const reader = free[Math.floor(Math.random() * free.length)]
    if (!reader) return // all are busy: it is left out, and missing in the count
    this.#begun += 1
    const done: Promise<void> = reader.act().finally(() => this.#under.delete(done))
    this.#under.add(done)
  }
}

/** One reader, who does one thing at a time. */
class Reader {
  isBusy = false
  readonly #load: Load
  readonly #paper: Paper
  readonly #number: number
  readonly #browsers: readonly Browser[]
  /** Browsers in which the last word was that a login, or a logout, was done. */
  readonly #isIn = new Set<number>()

  constructor(load: Load, paper: Paper, number: number) {
    this.#load = load
    this.#paper = paper
    this.#number = number
    const count = number % TWO_BROWSERS === 0 ? 2 : 1
    this.#browsers = Array.from({ length: count }, () => this.#newBrowser())
  }

  async logInEverywhere(): Promise<void> {
    for (const device of this.#browsers.keys()) await this.#logIn(device)
  }

  async look(): Promise<void> {
    for (const device of this.#browsers.keys()) await this.#page(device, '/front')
  }

  /** One action. */
  async act(): Promise<void> {
    this.isBusy = true
    const device = Math.floor(Math.random() * this.#browsers.length)
    try {
      if (Math.random() < 0.04) await this.#visit('page', -1, '/front', this.#newBrowser())
      else if (this.#isIn.has(device)) await this.#actLoggedIn(device)
      else await this.#actLoggedOut(device)
    } finally {
      this.isBusy = false
    }
  }

  async #actLoggedIn(device: number): Promise<void> {
    const chance = Math.random()
    if (chance < 0.5) await this.#page(device, '/front')
    else if (chance < 0.7) await this.#script(device, '/account')
    else if (chance < 0.78) await this.#tabs(device)
    else if (chance < 0.85) await this.#page(device, `/keep?owner=${this.#name}`)
    else if (chance < 0.9) await this.#page(device, '/sensitive')
    else if (chance < 0.985) await this.#logOut(device, 'logout')
    else await this.#logOut(device, 'logout_all')
  }

  async #actLoggedOut(device: number): Promise<void> {
    const chance = Math.random()
    if (chance < 0.3) await this.#page(device, '/front')
    else if (chance < 0.4) await this.#script(device, '/account')
    else await this.#logIn(device)
  }

  get #name(): string {
    return readerName(this.#number)
  }
  #newBrowser(): Browser {
    return new Browser({ now: () => this.#paper.platform.clock.now() })
  }
  #browser(device: number): Browser {
    return this.#browsers[device] as Browser
  }

  async #tabs(device: number): Promise<void> {
    await Promise.all([this.#page(device, '/one'), this.#script(device, '/account'), this.#page(device, '/two')])
  }

  async #page(device: number, path: string): Promise<void> {
    await this.#visit(path === '/sensitive' ? 'sensitive' : 'page', device, path)
  }

  async #visit(what: Entry['what'], device: number, path: string, browser = this.#browser(device)): Promise<void> {
    await this.#note(what, device, async () => seen(await browser.visit(this.#paper.url + path)))
  }

  async #script(device: number, path: string): Promise<void> {
    await this.#note('script', device, async () => {
      const { status, json } = await this.#browser(device).fetchJson(this.#paper.url + path)
      return { status, ...viewOf(json) }
    })
  }

  /**
   * Presses "log in", which brings a session, and sends the form. The form says 503 where nobody could log in, and leads on to a page where
   * somebody is logged in.
   */
  async #logIn(device: number): Promise<void> {
    await this.#visit('form', device, '/login?return_to=/front')
    const credentials = { username: this.#name, password }
    const { status } = await this.#note('login', device, async () => {
      const answer = await this.#browser(device).fetchJson(`${this.#paper.url}/login`, { json: credentials })
      return { status: answer.status, who: answer.json?.user?.username }
    })
    if (status === 200) this.#isIn.add(device)
  }

  async #logOut(device: number, what: 'logout' | 'logout_all'): Promise<void> {
    const value = this.#browser(device).cookie('sso2.sid')
    const path = what === 'logout' ? '/logout' : '/logout-all'
    const { status, end } = await this.#note(what, device, () =>
      this.#browser(device)
        .fetchJson(this.#paper.url + path, { method: 'POST' })
        .then(({ status, json }) => ({ status, logout: json?.logout })),
    )
    if (status !== 200) return
    if (value !== undefined) this.#load.oldCookies.push({ value, since: end })
    if (what === 'logout') this.#isIn.delete(device)
    else this.#isIn.clear()
  }

  async #note(what: Entry['what'], device: number, act: () => Promise<Partial<Entry>>): Promise<Entry> {
    const begin = performance.now()
    const done = await Promise.race([act(), tooLate()]).catch(() => ({ status: 0 }))
    const whose = device < 0 ? {} : { reader: this.#number }
    const entry = { what, device, status: 0, trips: 0, ...done, ...whose, begin, end: performance.now() }
    this.#load.entries.push(entry)
    return entry
  }
}

async function tooLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, GIVEN_UP_MS).unref())
  throw new Error('no answer')
}

function seen({ status, url, body, trail }: VisitedPage): Partial<Entry> {
  const isIdentify = (address: string) => address.includes('/sso/identify')
  const trips = trail.filter((hop) => isIdentify(hop.url)).length
  return { status, trips, isStranded: isIdentify(url), ...viewOf(parse(body)) }
}

function viewOf(json: PageView | undefined): Partial<Entry> {
  return { degraded: json?.degraded, who: json?.who, basketOf: json?.basketOf }
}

function parse(body: string): PageView | undefined {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Whom a process shows to whoever comes with this cookie alone. */
export async function whoOpens(port: number, { value }: OldCookie): Promise<string | undefined> {
  const headers = { cookie: `sso2.sid=${value}`, accept: 'application/json' }
  const answer: HttpAnswer = await send({ method: 'GET', url: new URL(`http://127.0.0.1:${port}/front`), headers })
  return parse(answer.body)?.who
}
