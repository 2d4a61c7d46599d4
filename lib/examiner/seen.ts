/** Remembers what all checks of a run have seen of the site: pages that show a user, names without escaping, secrets. */
import type { Hop } from './browser'
import { showsUser } from './facts'
import { matchesOf } from './html'
import { responseOf } from './outcome'
import { NAME_END, type Platform } from './platform'
import { holds, kindOf, tokensIn } from './secrets'
import type { Settings } from './settings'

/** Pages that caches may keep without being told to. */
const PAGE_STATUS = [200, 404]

/** A page that shows a user. */
export interface UserPage {
  readonly path: string
  readonly cache: string
  readonly vary: string
  readonly setsCookie: boolean
}

/** A part of the site's output, with the request during which it was printed. */
interface Printed {
  readonly text: string
  readonly request: string
  /** Begin and end of the request, in milliseconds. */
  readonly at: number
  readonly until: number
}

/** What a run has seen of the site. */
export class Seen {
  readonly #userPages = new Map<string, UserPage>()
  readonly #unescaped = new Set<string>()
  readonly #secrets = new Set<string>()
  readonly #stackTraces = new Set<string>()
  readonly #serverErrors = new Map<string, string>()
  readonly #keptErrors = new Set<string>()
  readonly #cookieValues = new Map<string, string>()
  readonly #printed: Printed[] = []
  #readUntil = 0
  readonly #site: string
  readonly #names: ReadonlySet<string>

  constructor(
    private readonly platform: Platform,
    private readonly settings: Settings,
  ) {
    this.#site = new URL(platform.siteUrl).origin
    this.#names = new Set(platform.accounts.flatMap(({ name, accountId }) => [name, accountId]))
  }

  /** Pages that show a user, once for each address and its caching headers. */
  get userPages(): readonly UserPage[] {
    return [...this.#userPages.values()]
  }

  /** Paths of the pages that show a name without escaping. */
  get unescaped(): readonly string[] {
    return [...this.#unescaped]
  }

  /** Sentences about secrets that the browser gets. */
  get secrets(): readonly string[] {
    return [...this.#secrets]
  }

  /** Sentences about pages that show how the site failed. */
  get stackTraces(): readonly string[] {
    return [...this.#stackTraces]
  }

  /** Sentences about server errors, one for each method, path and status. */
  get serverErrors(): readonly string[] {
    return [...this.#serverErrors.values()]
  }

  /** Sentences about error pages that shared caches may keep. */
  get keptErrors(): readonly string[] {
    return [...this.#keptErrors]
  }

  /** Names of the long cookies that the site has set, by their values. */
  get cookieValues(): ReadonlyMap<string, string> {
    return this.#cookieValues
  }

  /** Notes a response. `check` is the name of the check that got it. */
  add(hop: Hop, check: string): void {
    if (hop.url.origin !== this.#site) return
    const { method, url, setCookie } = hop
    const key = `${method} ${url.pathname} ${responseOf(hop)}`
    if (isUnexpected(hop) && !this.#serverErrors.has(key))
      this.#serverErrors.set(key, `${key} during the check ${check}`)
    const { 'cache-control': cache = '', vary = '' } = hop.headers
    if (method === 'GET' && hop.status >= 500 && /public|max-age=[1-9]/i.test(cache) && !/no-store/i.test(cache))
      this.#keptErrors.add(
        `GET ${url.pathname} ${responseOf(hop)} with Cache-Control: ${cache}: caches keep the error when it is over`,
      )
    for (const line of setCookie) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]{20,})/.exec(line) ?? []
      if (value !== '') this.#cookieValues.set(value, name)
    }
    const [trace] = STACK_TRACE.exec(hop.text) ?? []
    if (trace !== undefined)
      this.#stackTraces.add(
        `${hop.method} ${hop.url.pathname} responds ${hop.status} with ${trace.trim().slice(0, 80)}`,
      )
    this.#addSecrets(hop)
    const path = hop.url.pathname
    if (isHtml(hop) && hop.text.includes(NAME_END.trim()))
      this.#unescaped.add(method === 'GET' ? path : `${method} ${path}`)
    if (method !== 'GET' || !PAGE_STATUS.includes(hop.status) || !this.#showsAnybody(hop)) return
    const setsCookie = setCookie.length > 0
    this.#userPages.set(`${path} ${cache} ${vary} ${setsCookie}`, { path, cache, vary, setsCookie })
  }

  /** Notes what the site has printed since the last request. `output` is its whole output. */
  addOutput(output: string, { method, url, at }: Hop, check: string): void {
    if (output.length === this.#readUntil) return
    const text = output.slice(this.#readUntil)
    this.#readUntil = output.length
    this.#printed.push({ text, request: `${method} ${url.pathname} in the check ${check}`, at, until: Date.now() })
  }

  /** Returns the request during which the site printed a secret, and the faults meanwhile, in brackets for a sentence. */
  printedDuring(secret: string): string {
    const found = this.#printed.find(({ text }) => holds(text, secret))
    if (!found) return ''
    const faulty = this.platform.calls(found.at).filter(({ call, at }) => call.fault !== undefined && at <= found.until)
    const faults = new Set(faulty.map(({ call }) => `, while ${call.operation} had the fault ${call.fault}`))
    return ` (printed during ${found.request}${[...faults].join('')})`
  }

  #showsAnybody(hop: Hop): boolean {
    const { loggedIn, loggedOut } = this.settings
    const [first] = this.platform.accounts
    if (loggedIn !== undefined || loggedOut !== undefined) return showsUser(hop, first, this.settings)
    return matchesOf(hop.text, NAME_OR_ID).some((found) => this.#names.has(found))
  }

  #addSecrets({ url, text, setCookie, location = '' }: Hop): void {
    const { accessTokens, sessions } = this.platform.runtime.world
    const isIdentify = URL.canParse(location) && this.platform.isIdentify(new URL(location))
    const places: readonly [string, string][] = [
      ['the page', text],
      ['a cookie of', decodeSafely(setCookie.join(' '))],
      ['the redirect of', isIdentify ? '' : location],
    ]
    for (const [place, content] of places) {
      const add = (what: string) => this.#secrets.add(`${what} is in ${place} ${url.pathname}`)
      if (content.includes(this.platform.site.clientSecret)) add('the client secret')
      if ((content.match(/[\w-]{30,}/g) ?? []).some((word) => accessTokens.has(word))) add('an access token')
      if ((content.match(/[\w-]{20,}/g) ?? []).some((word) => sessions.has(word))) add('an SSO session ID')
      const passwords = content.match(ALL_PASSWORDS) ?? []
      if (passwords.some((password) => !url.href.includes(password))) add('a password') // a page may repeat its address
      for (const { claims } of tokensIn(content)) if ('pwd' in claims || 'sts' in claims) add(kindOf(claims))
    }
  }
}

/** A password of the examiner's accounts. */
export const PASSWORD = /Pw-[A-Za-z]+-\d{4}-made-up/
const ALL_PASSWORDS = new RegExp(PASSWORD, 'g')

/** Is the response one that no good site gives, whatever it was asked? A 502, 503 or 504 may tell of the platform. */
const isUnexpected = ({ status, error }: Hop) =>
  status === 500 || status === 501 || status > 504 || (status === 0 && /REFUSED|no response/.test(error))

/** Two words that may be a name, or an account ID. Each word may begin another pair. */
const NAME_OR_ID = /\b(?=([A-Z][a-z]+ [A-Z][a-z]+|acct-[a-z]+-\d+))/g

/** Lines of stack traces: Node.js, Python, Java, PHP, Ruby. */
const STACK_TRACE =
  /at [^<\n]{1,80}:\d+:\d+\)?|Traceback \(most recent call last\)|at [\w.$]{1,99}\([\w$]{1,99}\.java:\d+\)|Stack trace:[\s\S]{0,10}#0|[\w/.-]{1,80}\.rb:\d+:in/

const isHtml = ({ headers }: Hop) => /html/i.test(headers['content-type'] ?? 'text/html')

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
