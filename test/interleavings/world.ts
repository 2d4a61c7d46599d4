import { CookieJar } from '../support/cookie-jar'
import { inject } from './inject'
import type { PlatformCall } from './platform-gate'
import { contexts, type Scheduler, type Touch } from './scheduler'
import type { Setup, Site } from './setup'
import { cookies, LOGOUT_RESULT, SITE, type View } from './site'

/** One answer, as its browser saw it. Numbers are marks of the scheduler. */
export interface Seen {
  readonly browser: string
  /** Index of the actor; absent while the state is made and judged. */
  readonly actor: number | undefined
  readonly method: string
  readonly path: string
  /** The session cookie that the browser sent. */
  readonly session: string | undefined
  /** The result of a logout. */
  readonly logout: string | undefined
  /** When the request left the browser. */
  readonly left: number
  /** When the site had answered. */
  readonly answered: number
  /** When the answer arrived there. */
  readonly arrived: number
  readonly status: number
  readonly location: string | undefined
  readonly view: View | undefined
  /** Account that a login form names. */
  readonly as: string | undefined
  /** Was it a login form, and did the site take it? */
  readonly isLogin: boolean
}

/** One execution's site in two processes, its browsers, and everything that happened. */
export class World {
  readonly seen: Seen[] = []
  /** Where two tabs come back from Identify, if the state has them. */
  landings: string[] = []
  #lastTrip = 0
  readonly #jars = new Map<string, CookieJar>()
  constructor(
    readonly setup: Setup,
    readonly site: Site,
    readonly calls: readonly PlatformCall[],
    readonly scheduler: Scheduler,
  ) {}

  /** Trips through Identify are never within one second: two of them would bring the same token, to the letter. */
  #letSecondPass(): void {
    const second = Math.floor(this.scheduler.now / 1000)
    if (second <= this.#lastTrip) this.scheduler.now = (this.#lastTrip + 1) * 1000
    this.#lastTrip = Math.floor(this.scheduler.now / 1000)
  }

  jar(browser: string): CookieJar {
    const jar = this.#jars.get(browser) ?? new CookieJar(() => this.scheduler.now)
    this.#jars.set(browser, jar)
    return jar
  }

  /** Sends one request, of a site or of Identify, and takes the answer in. */
  async send({ browser, process }: Tab, { method, url, headers, body, as }: Sent): Promise<Seen> {
    const { scheduler } = this
    const actor = contexts.getStore()?.actor
    const jar = this.jar(browser)
    const left = scheduler.mark()
    const cookie = jar.header({ url, crossSite: false, safeNavigation: true })
    const isSite = url.origin === SITE
    if (!isSite) {
      await scheduler.gate(actor, { label: 'identify', touches: [{ key: 'sso', isWrite: false }], canFail: false })
      this.#letSecondPass()
    }
    const app = isSite ? this.site.processes[process]?.app : this.setup.emulator.app
    if (!app) throw new Error(`there is no process ${process}`)
    const answer = await inject(app, {
      method,
      url: url.pathname + url.search,
      headers: { host: url.host, 'user-agent': CHROME, ...headers, ...(cookie === undefined ? {} : { cookie }) },
      body,
    })
    const answered = scheduler.mark()
    const location = answer.headers['location']
    const isSetting = answer.setCookie.length > 0
    if (isSetting || location !== undefined) {
      const touches = [cookies(browser, isSetting), ...(url.pathname === '/logout-all' ? [ALL_OUT] : [])]
      await scheduler.gate(actor, { label: 'answer', touches, canFail: false })
    }
    for (const line of answer.setCookie) jar.take(line, url)
    const view = isSite ? viewOf(answer.body) : undefined
    const arrived = scheduler.mark()
    const { status } = answer
    const isLogin = as !== undefined && status === 303 && location === `${SITE}/`
    const session = /\.sid=([^;]*)/.exec(cookie ?? '')?.[1]
    const logout = answer.headers[LOGOUT_RESULT]
    const what = { browser, session, logout, actor: actor?.index, method, path: url.pathname, as }
    const seen = { ...what, left, answered, arrived, status, location, view, isLogin }
    this.seen.push(seen)
    return seen
  }
}

export interface Sent {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Account that a login form names. */
  readonly as?: string | undefined
}

/** Where a request comes from, and which process gets it. */
export interface Tab {
  readonly browser: string
  readonly process: number
  /** Does not open the front page that a redirect leads to at last: what makes a state need not see it. */
  readonly isHasty?: boolean
}

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

const ALL_OUT: Touch = { key: 'logouts of all', isWrite: true }

function viewOf(body: string): View | undefined {
  try {
    const view: unknown = JSON.parse(body)
    return typeof view === 'object' && view !== null && 'status' in view ? (view as View) : undefined
  } catch {
    return undefined
  }
}
