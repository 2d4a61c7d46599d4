/**
 * Watches whether Identify works. Browsers call Identify, so the process sees only their return. If no browser is back a second after a
 * redirect, a probe follows the same redirect. Interface: "Identify: browser redirect".
 */
import type { Agents } from '../config/agents'
import { Sso2ResponseError } from '../errors'
import type { Log } from '../log/log'
import { LOG_LINES, RECOVERIES } from '../log/log-lines'
import type { EpochSeconds } from '../protocol/claims'
import { Breaker } from './breaker'
import { sendCall } from './http'
import type { Sso2Client } from './sso2'

/** A redirect from which no browser is back by then is a reason to probe. */
const PROBE_AFTER_MS = 1000
/** After a good probe, visits that are not finished cause no further probe for so long, unless a browser comes back in between. */
const QUIET_MS = 30_000
/** While the breaker is open, a browser may pass so often, because Identify may refuse the probe and serve browsers. */
const TRIAL_EVERY_MS = 5000

/** Operations of the client for the watch over Identify. */
export type IdentifyClient = Pick<Sso2Client, 'identifyUrl' | 'readLanding' | 'probe' | 'isAvailable'>

/** Expected addresses of the redirect, and the site's log and time. */
export interface IdentifyHealthOptions {
  readonly siteUrl: string
  /** Address of the landing page, or `undefined` if the site handles the callback on a route of its own. Then only the token is checked. */
  readonly landingUrl: string | undefined
  /** Limit of the probe in milliseconds: the limit of Session Status. */
  readonly timeoutMs: number
  readonly agent?: Agents | undefined
  readonly log: Pick<Log, 'warn' | 'failed' | 'over'>
  /** Time of the site in seconds. All processes share this time, because a browser may come back to another process. */
  readonly now: () => EpochSeconds
}

/** Health of Identify for a site. */
export class IdentifyHealth {
  readonly #client: IdentifyClient
  readonly #options: IdentifyHealthOptions
  readonly #breaker = new Breaker({
    probe: () => this.#probe(),
    onSuccess: () => this.#options.log.over('identify', RECOVERIES.identify),
  })
  /** Time of the first redirect since the last return or good probe. */
  #awaitedSince: EpochSeconds | undefined
  /** Start of the first failed probe since the last success. */
  #failingSince: EpochSeconds | undefined
  #quietUntilMs = 0
  #lastRedirectMs = 0
  /** Has any browser ever brought a cookie of the site to the landing page? */
  #hasSeenCookies = false

  constructor(client: IdentifyClient, options: IdentifyHealthOptions) {
    this.#client = client
    this.#options = options
  }

  noteRedirect(): void {
    const nowMs = performance.now()
    this.#lastRedirectMs = nowMs
    this.#awaitedSince ??= this.#options.now()
    this.#breaker.startProbing(Math.max(PROBE_AFTER_MS, this.#quietUntilMs - nowMs))
  }

  /**
   * Notes that Identify has sent a browser back, to any process of the site.
   * @param since time of the redirect of that browser, or the start of its session, because a landing page began the session
   */
  noteReturnFromIdentify(since: EpochSeconds): void {
    if (since < (this.#awaitedSince ?? Number.POSITIVE_INFINITY) || since <= (this.#failingSince ?? 0)) return
    this.#quietUntilMs = 0
    this.#noteSuccess()
  }

  /** Notes whether a returning browser brought cookies of the site. Some browsers never do. Logs a warning if no browser ever did. */
  noteCookies(hasCookies: boolean): void {
    if (hasCookies) this.#hasSeenCookies = true
    if (this.#hasSeenCookies) return
    const check = `that browsers reach the site at siteUrl (${this.#options.siteUrl}), with https if it says so`
    this.#options.log.warn('trips:cookies', { ...LOG_LINES.cookiesBlocked, check })
  }

  /** False while Identify or the other operations of the SSO system are known not to work. */
  get isAvailable(): boolean {
    return this.#breaker.isAvailable && this.#client.isAvailable
  }

  /** May a browser be redirected to Identify? While only Identify fails, one may every few seconds: its return shows that Identify works. */
  get mayRedirect(): boolean {
    if (this.#breaker.isAvailable || !this.#client.isAvailable) return this.#client.isAvailable
    return performance.now() - this.#lastRedirectMs >= TRIAL_EVERY_MS
  }

  close(): void {
    this.#breaker.close()
  }

  #noteSuccess(beganAt?: number): void {
    this.#awaitedSince = undefined
    this.#failingSince = undefined
    this.#breaker.noteSuccess(beganAt)
  }

  async #probe(): Promise<void> {
    const began = { second: this.#options.now(), ms: performance.now() }
    await this.#client.probe() // the cheapest call, and its response shows which secret the SSO system uses. Its own breaker counts a failure
    try {
      await this.#identifyAsBrowser()
    } catch (error) {
      if (isProbeRefused(error)) return this.#noteRefusedProbe()
      if (!(error instanceof MisdirectedError))
        this.#options.log.failed('identify', { step: 'identify', error, isHookOfSite: false })
      this.#failingSince ??= began.second
      this.#breaker.noteFailure('probe', began.ms, error)
      throw error
    }
    this.#quietUntilMs = performance.now() + QUIET_MS
    this.#noteSuccess(began.ms)
  }

  /** Calls Identify as a browser would. A successful call creates an anonymous session at the SSO system. */
  async #identifyAsBrowser(): Promise<void> {
    const { siteUrl, landingUrl, timeoutMs, agent, log } = this.#options
    const url = this.#client.identifyUrl(`${siteUrl}/`)
    const headers = { accept: 'text/html' }
    const call = { operation: 'identify', url, method: 'GET', headers, timeoutMs, agent, takesRedirect: true } as const
    const { status, headers: answered } = await sendCall(call)
    const location = answered.get('location')
    if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, url))
      throw new Sso2ResponseError('identify', status, 'Identify does not lead on')
    const landing = new URL(location, url)
    if (landingUrl !== undefined && hostAndPath(landing) !== hostAndPath(new URL(landingUrl))) {
      const happened = `Identify redirects to ${landing.origin}${landing.pathname}, but the landing page of this site is ${landingUrl}`
      log.warn('identify:landing', { ...LOG_LINES.landingElsewhere, happened })
      throw new MisdirectedError()
    }
    this.#client.readLanding(landing.searchParams.get('t'))
  }

  /** A refusal is no outage: a firewall may refuse this machine, and let browsers pass. */
  #noteRefusedProbe(): void {
    this.#quietUntilMs = performance.now() + QUIET_MS
    if (this.#breaker.isAvailable) this.#breaker.stopProbing()
  }
}

const REFUSALS: readonly unknown[] = [401, 403, 429]
const isProbeRefused = (error: unknown): error is Sso2ResponseError =>
  error instanceof Sso2ResponseError && REFUSALS.includes(error.httpStatus)

/** Identify redirects to another address than the landing page, which has been logged. */
class MisdirectedError extends Error {}

const hostAndPath = ({ host, pathname }: URL) => `${host}${pathname}`
