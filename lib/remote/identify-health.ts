/**
 * Watches whether Identify works. Browsers call it, so this process sees only whether they come back. If a browser is not back after a
 * second, a probe follows the same redirect. Interface: "Identify: browser redirect".
 */
import type { Log } from '../config/log'
import { LOG_LINES, RECOVERIES } from '../decide/log-lines'
import { Sso2ResponseError } from '../errors'
import type { EpochSeconds } from '../protocol/claims'
import { Dependency } from './dependency'
import { send } from './http'
import type { Sso2Client } from './sso2'

/** An Identify redirect that is not back by then is a reason to probe. */
const LATE_MS = 1000
const PROBE_MS = 2000
/** If this many browsers were redirected, the first this long ago, and none came back, the log says so. */
const FEW = 3
const LOST_MS = 10_000

/** Operations of the client that are used here. */
export type IdentifyClient = Pick<Sso2Client, 'identifyUrl' | 'readLanding' | 'probe' | 'isAvailable'>

/** The addresses that Identify has to redirect to, and the site's log and time. */
export interface IdentifyHealthOptions {
  /** The site's own address. */
  readonly siteUrl: string
  /** Address of the landing page; `undefined` where the site has it elsewhere: then the token alone has to be good. */
  readonly landingUrl: string | undefined
  readonly log: Pick<Log, 'warn' | 'failed' | 'over'>
  /** Time of the site. Its processes share it, as one may send a browser to Identify that comes back to another. */
  readonly now: () => EpochSeconds
}

/** @see the head of the file */
export class IdentifyHealth {
  readonly #client: IdentifyClient
  readonly #options: IdentifyHealthOptions
  readonly #identify = new Dependency({
    probe: () => this.#probe(),
    isFault: (error) => !(error instanceof NotAskedError),
    onSuccess: (isBack) => {
      if (isBack) this.#options.log.over('identify', RECOVERIES.identify)
      this.#awaitReturns()
    },
  })
  /** Redirects that are not known to be back: the first of each second, by a clock that cannot be set. */
  readonly #away = new Map<EpochSeconds, number>()
  /** When the newest probe began that failed. */
  #failedAt: EpochSeconds = Number.NEGATIVE_INFINITY
  readonly #startedAt: EpochSeconds
  /** Has any browser come back since the start? */
  #hasSeenReturn = false
  /** Redirects since the start. */
  #redirects = 0
  #firstRedirectMs = 0
  /** Has any browser ever brought one of our cookies to the landing page? */
  #hasSeenCookies = false

  constructor(client: IdentifyClient, options: IdentifyHealthOptions) {
    this.#client = client
    this.#options = options
    this.#startedAt = options.now()
  }

  /** Notes that a browser is redirected to Identify. */
  noteRedirect(): void {
    if (!this.#identify.isAvailable) return
    const second = this.#options.now()
    const nowMs = performance.now()
    if (this.#redirects === 0) this.#firstRedirectMs = nowMs
    this.#redirects += 1
    if (!this.#away.has(second)) this.#away.set(second, nowMs)
    this.#awaitReturns()
  }

  /**
   * Notes that Identify has sent a browser back, to any process of the site.
   * @param since when that browser was redirected there, or when its session began, which a landing page began. Every redirect before is
   * taken for answered
   */
  noteReturn(since: EpochSeconds): void {
    this.#hasSeenReturn ||= since >= this.#startedAt
    const answered = [...this.#away.keys()].filter((second) => second <= since)
    for (const second of answered) this.#away.delete(second)
    if (answered.length > 0 && since > this.#failedAt) this.#identify.noteSuccess()
  }

  /** Notes whether a browser that came back brought our cookies. That some do not is usual. That none ever did is logged. */
  noteCookies(hasCookies: boolean): void {
    if (hasCookies) this.#hasSeenCookies = true
    if (this.#hasSeenCookies) return
    const check = `that browsers reach the site at siteUrl (${this.#options.siteUrl}), with https if it says so`
    this.#options.log.warn('trips:cookies', { ...LOG_LINES.cookiesBlocked, check })
  }

  /** May a browser be redirected there? False while Identify or the other operations of the SSO system are known not to work. */
  get isAvailable(): boolean {
    return this.#identify.isAvailable && this.#client.isAvailable
  }

  /** Stops probing. */
  close(): void {
    this.#identify.close()
  }

  #awaitReturns(): void {
    const [oldest] = this.#away.values()
    if (oldest !== undefined) this.#identify.look(Math.max(0, oldest + LATE_MS - performance.now()))
  }

  async #probe(): Promise<void> {
    const began = { second: this.#options.now(), ms: performance.now() }
    try {
      await this.#client.probe() // costs the SSO system least, and tells which secret it uses
    } catch {
      throw new NotAskedError() // the client's own breaker has counted it
    }
    try {
      await this.#identifyAsBrowser()
    } catch (error) {
      this.#failedAt = Math.max(this.#failedAt, began.second)
      throw error
    }
    for (const [second, firstMs] of this.#away) if (firstMs <= began.ms) this.#away.delete(second)
    this.#logLostBrowsers()
  }

  /** Each call that finds Identify in order makes an anonymous session there, as the browser would have that it stands for. */
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
      const response = await send(call)
      const location = response.headers.get('location')
      if (response.status < 300 || response.status > 399 || location === null || !URL.canParse(location, url))
        throw new Sso2ResponseError('identify', response.status, 'Identify does not lead on')
      this.#judge(new URL(location, url))
    } catch (error) {
      if (!(error instanceof MisdirectedError))
        this.#options.log.failed('identify', { step: 'identify', error, isOwn: false })
      throw error
    }
  }

  #judge(landing: URL): void {
    const { landingUrl, log } = this.#options
    if (landingUrl !== undefined && placeOf(landing) !== placeOf(new URL(landingUrl))) {
      const happened = `Identify redirects to ${landing.origin}${landing.pathname}, but the landing page of this site is ${landingUrl}`
      log.warn('identify:landing', { ...LOG_LINES.identifyElsewhere, happened })
      throw new MisdirectedError()
    }
    this.#client.readLanding(landing.searchParams.get('t'))
  }

  /** Identify is in order, and yet no browser has ever come back. */
  #logLostBrowsers(): void {
    const { landingUrl = 'the landing page', log } = this.#options
    if (this.#hasSeenReturn || this.#redirects < FEW || performance.now() - this.#firstRedirectMs < LOST_MS) return
    const happened = `Identify works, but none of ${this.#redirects} browsers has returned to ${landingUrl}`
    log.warn('trips:lost', { ...LOG_LINES.lostBrowsers, happened })
  }
}

/** The SSO system does not respond, so nothing was learnt about Identify. */
class NotAskedError extends Error {}

/** Identify leads elsewhere, which has been logged. */
class MisdirectedError extends Error {}

const placeOf = ({ host, pathname }: URL) => `${host}${pathname}`
