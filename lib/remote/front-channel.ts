/**
 * The way through Identify, where nothing of ours runs: whether it works shows in the trips that come back. Trips that do
 * not come back open a breaker, and a probe goes where the browsers went. Interface: "Identify: browser redirect".
 */
import type { Log } from '../config/log'
import { Sso2ResponseError } from '../errors'
import { Circuit } from './circuit'
import { send } from './http'
import type { Sso2Client } from './sso2'

/** So many trips out, and none back, open the breaker. */
const MOST_OUT = 20
/** Nearly all trips that come back have done so by then: many out before that are a rush, and a reason to look. */
const QUICK_MS = 1000
/** After this time the back channel is asked although it has been heard of lately: as long as its breaker stays open. */
const SLOW_MS = 5000
/** After this time a trip that is not back is a reason to look; after a good look, trips have as long to come back. */
const LATE_MS = 10_000
const PROBE_MS = 2000
/** So many looks that find no Identify open the breaker. */
const MOST_LOOKS = 2

/** So many browsers that were sent out, with none that ever came back, are no accident. */
const FEW = 3

/** What is needed of the client. */
export type IdentifyClient = Pick<Sso2Client, 'identifyUrl' | 'readLanding' | 'noteLanding' | 'findOut' | 'isAvailable'>

/** Where Identify has to lead. */
export interface FrontChannelOptions {
  /** The site's own address. */
  readonly siteUrl: string
  /** Address of the landing page; `undefined` where the site has it elsewhere: then the token alone has to be good. */
  readonly landingUrl: string | undefined
  /** Where the operator is told. */
  readonly log: Pick<Log, 'warn' | 'failed' | 'over'>
}

/** Trips through Identify of one process. */
export class FrontChannel {
  readonly #client: IdentifyClient
  readonly #options: FrontChannelOptions
  readonly #circuit = new Circuit({
    probe: () => this.#probe(),
    isFault: () => true,
    failures: MOST_LOOKS,
    onBack: () => this.#options.log.over('identify', 'Identify works again'),
  })
  /** Trips that are out, counted since the last one came back. */
  #out = 0
  #firstOut = 0
  #timer: NodeJS.Timeout | undefined
  #isDone = false
  /** Identify has just been seen to work: until then, in the process's own milliseconds, nothing follows for it from what is out. */
  #isGoodUntil = 0
  /** Trips since the start; `undefined` once one has come back. */
  #sent: number | undefined = 0
  /** Has any browser ever brought one of our cookies to the landing page? */
  #hasSeenCookies = false

  constructor(client: IdentifyClient, options: FrontChannelOptions) {
    this.#client = client
    this.#options = options
  }

  /** A browser is being sent to Identify. */
  noteTrip(): void {
    if (this.#sent !== undefined) this.#sent += 1
    if (this.#isDone || !this.#circuit.isClosed) return
    if (!this.#timer) this.#lookAt(QUICK_MS, QUICK_MS)
    const now = performance.now()
    if (now < this.#isGoodUntil) return
    if (this.#out === 0) this.#firstOut = now
    this.#out += 1
    if (this.#out >= MOST_OUT) this.#suspect()
  }

  /** A browser came back from Identify with a good token. */
  noteLanding(): void {
    this.#client.noteLanding()
    this.#forget()
    this.#sent = undefined
  }

  /** Whether it brought our cookies. That some do not is usual; that none ever did is not. */
  noteCookies(hasCookies: boolean): void {
    if (hasCookies) this.#hasSeenCookies = true
    if (this.#hasSeenCookies) return
    const why = `do browsers reach the site at siteUrl (${this.#options.siteUrl}), https where it says so, and keep cookies?`
    this.#options.log.warn('trips:cookies', `no browser has brought our cookies to the landing page yet: ${why}`)
  }

  /** May a browser be sent there? False while either way to the SSO system is known to be broken. */
  get isAvailable(): boolean {
    return this.#circuit.isClosed && this.#client.isAvailable
  }

  close(): void {
    this.#isDone = true
    this.#forget()
    this.#circuit.close()
  }

  #suspect(): void {
    // a busy process looks slowly: what it sees counts, not how many came meanwhile
    if (performance.now() - this.#firstOut < QUICK_MS || this.#circuit.isLooking) {
      this.#circuit.findOut()
      return
    }
    this.#forget()
    this.#circuit.open()
  }
  #forget(): void {
    this.#out = 0
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
  /** @param sinceMs how long after the first trip @param inMs from now on */
  #lookAt(sinceMs: number, inMs: number): void {
    this.#timer = setTimeout(() => this.#lookSince(sinceMs), inMs).unref()
  }

  /** The back channel costs the SSO system least: it is asked first, where it has been silent; then every second whether it has been silent lately. */
  #lookSince(ms: number): void {
    this.#client.findOut(ms < SLOW_MS ? undefined : SLOW_MS)
    const next = Math.max(ms + QUICK_MS, SLOW_MS)
    if (ms < LATE_MS) this.#lookAt(next, next - ms)
    else this.#lookLate()
  }

  #lookLate(): void {
    const isAnyOut = this.#out > 0
    this.#forget()
    if (isAnyOut) this.#circuit.findOut()
  }

  async #probe(): Promise<void> {
    try {
      await this.#look()
    } catch (error) {
      if (!(error instanceof Astray)) this.#options.log.failed('identify', { step: 'identify', error, isOwn: false })
      throw error
    }
    this.#isGoodUntil = performance.now() + LATE_MS
    this.#forget() // who has not come back until now says nothing of what is to come
    this.#missLandings()
  }

  /** As a browser would: each look that finds Identify in order makes an anonymous session there. */
  async #look(): Promise<void> {
    const url = this.#client.identifyUrl(`${this.#options.siteUrl}/`)
    const headers = { accept: 'text/html' }
    const answer = await send({
      operation: 'identify',
      url,
      method: 'GET',
      headers,
      timeoutMs: PROBE_MS,
      takesRedirect: true,
    })
    const location = answer.headers.get('location')
    if (answer.status < 300 || answer.status > 399 || location === null || !URL.canParse(location, url))
      throw new Sso2ResponseError('identify', answer.status, 'Identify does not lead on')
    this.#judge(new URL(location, url))
  }

  #judge(landing: URL): void {
    const { landingUrl, log } = this.#options
    if (landingUrl !== undefined && placeOf(landing) !== placeOf(new URL(landingUrl))) {
      const found = `Identify leads to ${landing.origin}${landing.pathname}, and the landing page of this site is ${landingUrl}`
      log.warn('identify:landing', `${found}: ${ONE_ADDRESS}`)
      throw new Astray()
    }
    this.#client.readLanding(landing.searchParams.get('t'))
  }

  /** Identify is in order, and yet nobody has ever come back. */
  #missLandings(): void {
    const { landingUrl = 'the landing page', log } = this.#options
    if (this.#sent === undefined || this.#sent < FEW) return
    const found = `Identify is in order, and none of ${this.#sent} browsers that were sent there has come to ${landingUrl}`
    log.warn(
      'trips:lost',
      `${found}: is sso.router mounted at the path of siteUrl, and does what stands in front pass it on?`,
    )
  }
}

/** Identify leads elsewhere, which has been told. */
class Astray extends Error {}

const ONE_ADDRESS =
  'the API client in the admin portal, siteUrl (SSO2_SITE_URL) and routes.landing must name one address'

const placeOf = ({ host, pathname }: URL) => `${host}${pathname}`
