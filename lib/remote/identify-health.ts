/**
 * Watches whether Identify works. Browsers call Identify, so the process sees only their return. If no browser is back a second after a
 * redirect, a probe follows the same redirect. Interface: "Identify: browser redirect".
 */
import type { Config } from '../config'
import { Sso2ResponseError } from '../errors'
import { Breaker } from './breaker'
import { sendCall } from './http'
import type { Sso2Client } from './sso2-client'

/** After a good probe, a browser that does not come back causes no further probe for so long, until one does come back. Each probe makes a session at the SSO system. */
const QUIET_MS = 30_000
/** While the breaker is open, a browser may pass so often, because Identify may refuse the probe and serve browsers. */
const TRIAL_EVERY_MS = 5000

type Options = Pick<Config, 'siteUrl' | 'routes' | 'timeoutMs' | 'agent' | 'log'>

/** Health of Identify for a site. */
export class IdentifyHealth {
  readonly #client: Sso2Client
  readonly #options: Options
  readonly #breaker = new Breaker(() => this.#probe())
  #quietUntilMs = 0
  #lastRedirectMs = 0
  /** Has any browser ever brought a cookie of the site to the landing page? */
  #hasSeenCookies = false

  constructor(client: Sso2Client, options: Options) {
    this.#client = client
    this.#options = options
  }

  /** Notes that a browser was redirected to Identify. If none comes back, a probe follows. */
  noteRedirect(): void {
    this.#lastRedirectMs = performance.now()
    this.#breaker.startProbing(Math.max(1000, this.#quietUntilMs - this.#lastRedirectMs))
  }

  /** Notes that Identify has sent a browser back. Some browsers bring no cookies. Logs a warning if no browser ever did. */
  noteReturn(hasCookies: boolean): void {
    this.#hasSeenCookies ||= hasCookies
    if (!this.#hasSeenCookies) this.#options.log.warn('identify:cookies', 'No browser returns the cookies')
    this.#quietUntilMs = 0
    this.#noteSuccess()
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

  /** A browser that began before the outage may return during it, so one failure alone has no recovery. */
  #noteSuccess(): void {
    if (!this.#breaker.isAvailable) this.#options.log.recovered('identify', 'Identify works again.')
    this.#breaker.noteSuccess()
  }

  async #probe(): Promise<void> {
    await this.#client.probe() // the cheapest call, and its response shows which secret the SSO system uses
    try {
      await this.#identifyAsBrowser()
      this.#quietUntilMs = performance.now() + QUIET_MS
      this.#noteSuccess()
    } catch (error) {
      this.#options.log.failed('identify', error)
      this.#breaker.noteFailure()
    }
  }

  /** Calls Identify as a browser would. A successful call creates an anonymous session at the SSO system. */
  async #identifyAsBrowser(): Promise<void> {
    const { siteUrl, routes, timeoutMs, agent } = this.#options
    const url = this.#client.identifyUrl(`${siteUrl}/`)
    const call = { url, method: 'GET', headers: { accept: 'text/html' }, timeoutMs, agent } as const
    const { status, headers } = await sendCall({ operation: 'identify', ...call })
    if (status === 401 || status === 403 || status === 429) return // a firewall may refuse this machine, and let browsers pass
    const { location = '' } = headers
    if (status < 300 || status > 399 || location === '' || !URL.canParse(location, url))
      throw new Sso2ResponseError('identify', status, 'Identify does not lead on')
    const { host, pathname, origin, searchParams } = new URL(location, url)
    const expected = new URL(`${siteUrl}${routes.landing || pathname}`) // without a route, the site handles the callback itself
    if (routes.landing && (host !== expected.host || pathname !== expected.pathname)) {
      const why = `Identify redirects to ${origin}${pathname}, but the landing page of this site is ${expected.href}`
      throw new Sso2ResponseError('identify', status, why)
    }
    this.#client.readLanding(searchParams.get('t'))
  }
}
