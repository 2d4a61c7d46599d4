/**
 * Watches whether Identify works. Browsers call Identify, so the process sees only their return. If no browser is back a second after a
 * redirect, a probe follows the same redirect. Interface: "Identify: browser redirect".
 */
import type { Agents } from '../config/agents'
import { Sso2ResponseError } from '../errors'
import type { Log } from '../log/log'
import { Breaker } from './breaker'
import { sendCall } from './http'
import type { Sso2Client } from './sso2'

/** After a good probe, a browser that does not come back causes no further probe for so long, until one does come back. Each probe makes a session at the SSO system. */
const QUIET_MS = 30_000
/** While the breaker is open, a browser may pass so often, because Identify may refuse the probe and serve browsers. */
const TRIAL_EVERY_MS = 5000
/** Answers of a firewall that refuses this machine, and lets browsers pass. */
const REFUSALS: readonly unknown[] = [401, 403, 429]

/** Operations of the client for the watch over Identify. */
type IdentifyClient = Pick<Sso2Client, 'identifyUrl' | 'readLanding' | 'probe' | 'isAvailable'>

/** Expected addresses of the redirect, and the site's log. */
export interface IdentifyHealthOptions {
  readonly siteUrl: string
  /** Address of the landing page, or `undefined` if the site handles the callback on a route of its own. Then only the token is checked. */
  readonly landingUrl: string | undefined
  /** Limit of the probe in milliseconds: the limit of Session Status. */
  readonly timeoutMs: number
  readonly agent?: Agents | undefined
  readonly log: Pick<Log, 'warn' | 'failed' | 'recovered'>
}

/** Health of Identify for a site. */
export class IdentifyHealth {
  readonly #client: IdentifyClient
  readonly #options: IdentifyHealthOptions
  readonly #breaker = new Breaker(() => this.#probe())
  #quietUntilMs = 0
  #lastRedirectMs = 0
  /** Has any browser ever brought a cookie of the site to the landing page? */
  #hasSeenCookies = false

  constructor(client: IdentifyClient, options: IdentifyHealthOptions) {
    this.#client = client
    this.#options = options
  }

  /** Notes that a browser was redirected to Identify. If none comes back, a probe follows. */
  noteRedirect(): void {
    this.#lastRedirectMs = performance.now()
    this.#breaker.startProbing(Math.max(1000, this.#quietUntilMs - this.#lastRedirectMs))
  }

  /** Notes that Identify has sent a browser back. */
  noteReturn(): void {
    this.#quietUntilMs = 0
    this.#breaker.noteSuccess()
    this.#options.log.recovered('identify', 'Identify works again.')
  }

  /** Notes whether a returning browser brought cookies of the site. Some browsers never do. Logs a warning if no browser ever did. */
  noteCookies(hasCookies: boolean): void {
    if (hasCookies) this.#hasSeenCookies = true
    if (this.#hasSeenCookies) return
    const check = `that browsers reach the site at siteUrl (${this.#options.siteUrl}), with https if it says so`
    this.#options.log.warn('trips:cookies', 'No browser returns the cookies', { check })
  }

  /** False while Identify or the other operations of the SSO system are known not to work. */
  get isAvailable(): boolean {
    return this.#breaker.isAvailable && this.#client.isAvailable
  }

  /** May a browser be redirected to Identify? While only Identify fails, one may every few seconds: its return shows that Identify works. */
  get mayRedirect(): boolean {
    const isTrial = performance.now() - this.#lastRedirectMs >= TRIAL_EVERY_MS
    return this.#client.isAvailable && (this.#breaker.isAvailable || isTrial)
  }

  close(): void {
    this.#breaker.stop()
  }

  async #probe(): Promise<void> {
    const { log } = this.#options
    await this.#client.probe() // the cheapest call, and its response shows which secret the SSO system uses
    try {
      await this.#identifyAsBrowser()
      log.recovered('identify', 'Identify works again.')
    } catch (error) {
      const status = error instanceof Sso2ResponseError ? error.httpStatus : undefined
      if (!REFUSALS.includes(status)) {
        if (error instanceof ElsewhereError)
          log.warn('identify:landing', 'The landing page is another address', { detail: error.message })
        else log.failed('identify', { step: 'identify', error, isHookOfSite: false })
        return this.#breaker.noteFailure()
      }
    }
    this.#breaker.noteSuccess()
    this.#quietUntilMs = performance.now() + QUIET_MS
  }

  /** Calls Identify as a browser would. A successful call creates an anonymous session at the SSO system. */
  async #identifyAsBrowser(): Promise<void> {
    const { siteUrl, landingUrl, timeoutMs, agent } = this.#options
    const url = this.#client.identifyUrl(`${siteUrl}/`)
    const headers = { accept: 'text/html' }
    const call = { operation: 'identify', url, method: 'GET', headers, timeoutMs, agent, takesRedirect: true } as const
    const { status, headers: answered } = await sendCall(call)
    const location = answered.get('location')
    if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, url))
      throw new Sso2ResponseError('identify', status, 'Identify does not lead on')
    const landing = new URL(location, url)
    const expected = landingUrl === undefined ? landing : new URL(landingUrl)
    if (landing.host !== expected.host || landing.pathname !== expected.pathname) {
      const found = `Identify redirects to ${landing.origin}${landing.pathname}`
      throw new ElsewhereError(`${found}, but the landing page of this site is ${landingUrl}`)
    }
    this.#client.readLanding(landing.searchParams.get('t'))
  }
}

/** Identify redirects to another address than the landing page. */
class ElsewhereError extends Error {}
