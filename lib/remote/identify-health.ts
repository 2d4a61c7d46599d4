/**
 * Watches whether Identify works. Browsers call Identify, so the process sees only their return. If a browser is not back after a
 * second, a probe follows the same redirect. Interface: "Identify: browser redirect".
 */
import type { Log } from '../config/log'
import { LOG_LINES, RECOVERIES } from '../decide/log-lines'
import { Sso2ResponseError } from '../errors'
import type { EpochSeconds } from '../protocol/claims'
import { Dependency } from './dependency'
import { sendCall } from './http'
import type { Sso2Client } from './sso2'

/** An Identify redirect that is not back by then is a reason to probe. */
const PROBE_AFTER_MS = 1000
const PROBE_MS = 2000
/** If this many browsers were redirected, the first this long ago, and none came back, the log says so. */
const MIN_REDIRECTS = 3
const LOST_MS = 10_000

/** Operations of the client for the watch over Identify. */
export type IdentifyClient = Pick<Sso2Client, 'identifyUrl' | 'readLanding' | 'probe' | 'isAvailable'>

/** Expected addresses of the redirect, and the site's log and time. */
export interface IdentifyHealthOptions {
  readonly siteUrl: string
  /** Address of the landing page, or `undefined` if the site handles the callback on a route of its own. Then only the token is checked. */
  readonly landingUrl: string | undefined
  readonly log: Pick<Log, 'warn' | 'failed' | 'over'>
  /** Time of the site in seconds. All processes share this time, because a browser may come back to another process. */
  readonly now: () => EpochSeconds
}

/** Health of Identify for a site. */
export class IdentifyHealth {
  readonly #client: IdentifyClient
  readonly #options: IdentifyHealthOptions
  readonly #identify = new Dependency({
    probe: () => this.#probe(),
    isFault: (error) => !(error instanceof ProbeSkippedError),
    onSuccess: () => {
      this.#options.log.over('identify', RECOVERIES.identify)
      this.#awaitReturns()
    },
  })
  /** Time of the first redirect of each second from which no browser is known to be back, by `performance.now()`. */
  readonly #pendingRedirects = new Map<EpochSeconds, number>()
  #failedAt: EpochSeconds = Number.NEGATIVE_INFINITY
  readonly #startedAt: EpochSeconds
  #hasSeenReturn = false
  #redirects = 0
  #firstRedirectMs = 0
  /** Has any browser ever brought a cookie of the site to the landing page? */
  #hasSeenCookies = false

  constructor(client: IdentifyClient, options: IdentifyHealthOptions) {
    this.#client = client
    this.#options = options
    this.#startedAt = options.now()
  }

  noteRedirect(): void {
    const second = this.#options.now()
    const nowMs = performance.now()
    if (this.#redirects === 0) this.#firstRedirectMs = nowMs
    this.#redirects += 1
    if (!this.#pendingRedirects.has(second)) this.#pendingRedirects.set(second, nowMs)
    this.#awaitReturns()
  }

  /**
   * Notes that Identify has sent a browser back, to any process of the site.
   * @param since time of the redirect of that browser, or the start of its session, because a landing page began the session. Every
   * earlier redirect counts as answered
   */
  noteReturnFromIdentify(since: EpochSeconds): void {
    this.#hasSeenReturn ||= since >= this.#startedAt
    const answered = [...this.#pendingRedirects.keys()].filter((second) => second <= since)
    for (const second of answered) this.#pendingRedirects.delete(second)
    if (answered.length > 0 && since > this.#failedAt) this.#identify.noteSuccess()
  }

  /** Notes whether a returning browser brought cookies of the site. Some browsers never do. Logs a warning if no browser ever did. */
  noteCookies(hasCookies: boolean): void {
    if (hasCookies) this.#hasSeenCookies = true
    if (this.#hasSeenCookies) return
    const check = `that browsers reach the site at siteUrl (${this.#options.siteUrl}), with https if it says so`
    this.#options.log.warn('trips:cookies', { ...LOG_LINES.cookiesBlocked, check })
  }

  /** May a browser be redirected to Identify? False while Identify or the other operations of the SSO system are known not to work. */
  get isAvailable(): boolean {
    return this.#identify.isAvailable && this.#client.isAvailable
  }

  close(): void {
    this.#identify.close()
  }

  #awaitReturns(): void {
    const [oldest] = this.#pendingRedirects.values()
    if (oldest !== undefined) this.#identify.startProbing(Math.max(0, oldest + PROBE_AFTER_MS - performance.now()))
  }

  async #probe(): Promise<void> {
    const began = { second: this.#options.now(), ms: performance.now() }
    try {
      await this.#client.probe() // the cheapest call, and its response shows which secret the SSO system uses
    } catch {
      throw new ProbeSkippedError() // the client's own breaker has counted it
    }
    try {
      await this.#identifyAsBrowser()
    } catch (error) {
      this.#failedAt = Math.max(this.#failedAt, began.second)
      throw error
    }
    for (const [second, firstMs] of this.#pendingRedirects)
      if (firstMs <= began.ms) this.#pendingRedirects.delete(second)
    this.#logLostBrowsers()
  }

  /** Calls Identify as a browser would. A successful call creates an anonymous session at the SSO system. */
  async #identifyAsBrowser(): Promise<void> {
    const url = this.#client.identifyUrl(`${this.#options.siteUrl}/`)
    const headers = { accept: 'text/html' }
    const call = {
      operation: 'identify',
      url,
      method: 'GET',
      headers,
      timeoutMs: PROBE_MS,
      takesRedirect: true,
    } as const
    try {
      const response = await sendCall(call)
      const location = response.headers.get('location')
      if (response.status < 300 || response.status > 399 || location === null || !URL.canParse(location, url))
        throw new Sso2ResponseError('identify', response.status, 'Identify does not lead on')
      this.#checkLandingAddress(new URL(location, url))
    } catch (error) {
      if (!(error instanceof MisdirectedError))
        this.#options.log.failed('identify', { step: 'identify', error, isHookOfSite: false })
      throw error
    }
  }

  #checkLandingAddress(landing: URL): void {
    const { landingUrl, log } = this.#options
    if (landingUrl !== undefined && hostAndPath(landing) !== hostAndPath(new URL(landingUrl))) {
      const happened = `Identify redirects to ${landing.origin}${landing.pathname}, but the landing page of this site is ${landingUrl}`
      log.warn('identify:landing', { ...LOG_LINES.identifyElsewhere, happened })
      throw new MisdirectedError()
    }
    this.#client.readLanding(landing.searchParams.get('t'))
  }

  /** Logs a warning if Identify works, but no browser has ever come back. */
  #logLostBrowsers(): void {
    const { landingUrl = 'the landing page', log } = this.#options
    if (this.#hasSeenReturn || this.#redirects < MIN_REDIRECTS || performance.now() - this.#firstRedirectMs < LOST_MS)
      return
    const happened = `Identify works, but none of ${this.#redirects} browsers has returned to ${landingUrl}`
    log.warn('trips:lost', { ...LOG_LINES.lostBrowsers, happened })
  }
}

/** The SSO system does not respond, so nothing was learnt about Identify. */
class ProbeSkippedError extends Error {}

/** Identify redirects to another address than the landing page, which has been logged. */
class MisdirectedError extends Error {}

const hostAndPath = ({ host, pathname }: URL) => `${host}${pathname}`
