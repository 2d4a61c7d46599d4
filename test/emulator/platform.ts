import { type HttpAnswer, send } from '../support/http'
import { readJwt, signJwt } from '../support/oracle'

/*
 * The platform as a site sees it, over HTTP alone: it knows an address, two clients and three accounts, and signs with
 * the tests' own signer. So the same checks run against the command, against an emulator in the process, and against
 * one that is broken on purpose.
 */

export type Claims = Record<string, unknown>

/** An answer with whatever JSON it holds. */
export interface Answer extends HttpAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape, looked at by checks
  json: any
}

/** What a site that asks looks like. */
export interface Site {
  clientId: string
  secret: string
  landingPage: string
}

export const organisationId = 'conformance-press'
export const morning: Site = {
  clientId: 'morning',
  secret: 'the morning secret of the conformance suite',
  landingPage: 'http://localhost:3001/sso2/landing',
}
export const evening: Site = {
  clientId: 'evening',
  secret: 'the evening secret of the conformance suite',
  landingPage: 'http://localhost:3002/landing?edition=late',
}
/** Not flagged for SSO2. */
export const legacy: Site = { ...morning, clientId: 'legacy', secret: 'the legacy secret of the conformance suite' }

export const device = { ipa: '203.0.113.7', uas: 'Conformance/1.0' }
export const returnTo = 'http://localhost:3001/article?id=7&tag=a%20b'

/** Signs the common claims and some more; what is `undefined` is left out. */
export function token(site: Site, claims: Claims = {}, header: object = {}): string {
  const now = Math.floor(Date.now() / 1000)
  const common = {
    cid: site.clientId,
    nbf: now,
    iat: now,
    exp: now + 10,
    iss: organisationId,
    aud: 'sso-service',
  }
  return signJwt({ ...common, ...claims }, site.secret, header)
}

/** What a client sends to the token endpoint, without what it asks for. */
export const formOf = (site: Site, grant_type = 'client_credentials') => ({
  grant_type,
  client_id: site.clientId,
  client_secret: site.secret,
})

/** One platform at an address, or at that of what listens there. */
export class Platform {
  constructor(private readonly place: string | { readonly url: string }) {}

  get url(): string {
    return typeof this.place === 'string' ? this.place : this.place.url
  }

  async request(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
    const answer = await send({ method, url: new URL(path, this.url), headers: lengthOf(body, headers), body })
    return { ...answer, json: parse(answer.body) }
  }

  /** Sends a body as JSON, or none. */
  private json(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    if (body === undefined) return this.request(method, path, headers)
    return this.request(method, path, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body))
  }

  /** A control under `/_emulator`. */
  control(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.json(method, `/_emulator${path}`, body)
  }

  reset(): Promise<Answer> {
    return this.control('POST', '/reset', {})
  }

  advance(seconds: number): Promise<Answer> {
    return this.control('POST', '/clock', { advance: seconds })
  }

  /** Posts a token to an operation as it is. */
  callRaw(operation: string, t: string): Promise<Answer> {
    return this.json('POST', `/sso/${operation}`, { t })
  }

  /** Calls an operation and gives the claims of its answer. */
  async call(operation: string, claims: Claims, site: Site = morning): Promise<Claims> {
    const answer = await this.callRaw(operation, token(site, { ...device, ...claims }))
    if (answer.status !== 200) throw new Error(`${operation}: HTTP ${answer.status} ${answer.body}`)
    return readJwt(answer.json.t).claims
  }

  authenticate(sid: string, claims: Claims = {}, site: Site = morning): Promise<Claims> {
    return this.call('authenticate', { sid, usr: 'ada', pwd: 'correct-horse', ...claims }, site)
  }

  status(sid: string, lks = 'anon', site: Site = morning): Promise<Claims> {
    return this.call('sessionstatus', { sid, lks }, site)
  }

  logout(sid: string, site: Site = morning): Promise<Claims> {
    return this.call('logout', { sid }, site)
  }

  exchange(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    return this.request('POST', '/oauth/token', form, new URLSearchParams(fields).toString())
  }

  exchangeTicket(ticket: unknown, site: Site = morning): Promise<Answer> {
    return this.exchange({ ...formOf(site, 'authorization_code'), code: String(ticket) })
  }

  /** A service token, without an identity. */
  async serviceToken(scope?: string, site: Site = morning): Promise<string> {
    const answer = await this.exchange({ ...formOf(site), ...(scope === undefined ? {} : { scope }) })
    return answer.json.access_token
  }

  /** The access token of an account that has just logged in. */
  async accessToken(account: Claims = {}, site: Site = morning): Promise<string> {
    const { sid } = await this.browser().identify(site)
    const { at } = await this.authenticate(sid, account, site)
    return (await this.exchangeTicket(at, site)).json.access_token
  }

  api(method: string, path: string, accessToken: string, body?: unknown): Promise<Answer> {
    return this.json(method, path, body, { authorization: `Bearer ${accessToken}`, accept: 'application/json' })
  }

  browser(): Visitor {
    return new Visitor(this)
  }

  /** A session that somebody is logged in on. */
  async login(account: Claims = {}, site: Site = morning): Promise<{ sid: string; at: unknown; visitor: Visitor }> {
    const visitor = this.browser()
    const { sid } = await visitor.identify(site)
    const { sts, at } = await this.authenticate(sid, account, site)
    if (sts !== 'loggedin') throw new Error('the login failed')
    return { sid, at, visitor }
  }

  /** The latest calls in the log that fit a query. */
  async calls(query = ''): Promise<Claims[]> {
    return (await this.control('GET', `/calls${query}`)).json.calls
  }
}

/** A browser: one cookie, and trips through Identify. */
export class Visitor {
  cookie: string | undefined
  constructor(private readonly platform: Platform) {}

  /** Goes to Identify with any query. */
  async go(query: string): Promise<Answer> {
    const headers: Record<string, string> = this.cookie === undefined ? {} : { cookie: this.cookie }
    const answer = await this.platform.request('GET', `/sso/identify?${query}`, headers)
    const [line] = answer.setCookie
    if (line) this.cookie = line.split(';')[0]
    return answer
  }

  /** Goes to Identify as a site sends it there. */
  send(site: Site = morning, r = returnTo, t = token(site)): Promise<Answer> {
    return this.go(`t=${t}&r=${encodeURIComponent(r)}`)
  }

  /** Goes to Identify and gives what arrives at the landing page. */
  async identify(site: Site = morning, r = returnTo): Promise<Claims & { sid: string }> {
    const answer = await this.send(site, r)
    const t = new URL(answer.headers.location ?? '').searchParams.get('t') ?? ''
    const { claims } = readJwt(t)
    return { ...claims, sid: String(claims['sid']) }
  }
}

function lengthOf(body: string | undefined, headers: Record<string, string>): Record<string, string> {
  return body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
