/** The client of the SSO system, with the five operations of SSO2. Works without Express. Interface: "SSO2 endpoints". */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Agents } from '../config/agents'
import { address, nameProblems } from '../config/validators'
import { Sso2Error, Sso2ResponseError, Sso2UnavailableError, TokenError } from '../errors'
import type { Log } from '../log/log'
import {
  type AuthenticateClaims,
  DEFAULT_SSO_IDENTIFIER,
  type EpochSeconds,
  type LogoutAllClaims,
  type LogoutClaims,
  type Operation,
  type SessionStatusClaims,
} from '../protocol/claims'
import { readJsonObject } from '../protocol/json'
import { identifyUrl, operationUrl, requestClaims } from '../protocol/requests'
import { readSessionToken, type SentRequest, type SessionToken } from '../protocol/session-token'
import { type Keys, makeKeys, ownValue, signToken, verifyToken } from '../protocol/token'
import { checkArgument } from './arguments'
import { Breaker } from './breaker'
import { sendCall } from './http'

/** Options of `Sso2Client`. */
export interface Sso2ClientOptions {
  /** Base address of the SSO system. */
  readonly ssoUrl: string
  /** API client ID: `cid` of request tokens, and `aud` of Session Tokens. */
  readonly clientId: string
  /**
   * The API client's secret, or several secrets. All secrets verify. The first secret signs, until a response shows that the SSO system uses
   * another secret.
   */
  readonly clientSecret: string | readonly string[]
  /** `iss` of request tokens. */
  readonly organisationId: string
  /** `aud` of request tokens and `iss` of Session Tokens, default `sso-service`. */
  readonly ssoIdentifier?: string | undefined
  /** Limit of a Session Status call in milliseconds. Default: 2000. Authenticate has 8000, Logout and Logout All have 3000. */
  readonly timeoutMs?: number | undefined
  /** Leeway on token times in seconds, default 5. */
  readonly clockToleranceSeconds?: number | undefined
  /** Source of time in milliseconds since 1970, default the system's. */
  readonly clock?: { now(): number } | undefined
  /** Agent of the calls, for an outgoing proxy, an own CA or a client certificate: one, or `{ http, https }`. Default: Node's own. */
  readonly agent?: Agents | undefined
  /** @internal Log of the site, for failed calls in the background too, and for recoveries. */
  readonly log?: Log | undefined
}

const fields = z
  .object({
    ssoUrl: address(false, 'https://sso.example'),
    clientId: z.string().min(1),
    clientSecret: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    organisationId: z.string().min(1),
    ssoIdentifier: z.string().default(DEFAULT_SSO_IDENTIFIER),
    timeoutMs: z.number().default(2000),
    clockToleranceSeconds: z.number().default(5),
  })
  .superRefine((options, context) => {
    for (const { option, message } of nameProblems(options))
      context.addIssue({ code: 'custom', path: [option], message })
  })
type ClientOptions = Sso2ClientOptions & z.infer<typeof fields>

/** Operations that the site calls. Browsers call Identify. */
type CalledOperation = Exclude<Operation, 'identify'>
/** An operation's own claims. The response must be about their session or account. */
type OwnClaims = Omit<SentRequest, 'operation'>

/** Limits of calls in milliseconds. That of Session Status is an option. */
const LIMITS = { authenticate: 8000, logout: 3000, logoutall: 3000 }

/**
 * The five operations of SSO2 for an API client. Works without Express. Interface: "SSO2 endpoints".
 *
 * A call returns a Session Token, with `err` if the SSO system refuses. Limits: `timeoutMs` for Session Status, 8000 milliseconds for
 * Authenticate, 3000 for the others. Errors:
 * - `Sso2UnavailableError`: there is no response in time, or the circuit breaker is open after several failures.
 * - `Sso2ResponseError`: the response contains no token.
 * - `TokenError`: the token of the response does not verify.
 */
export class Sso2Client {
  readonly #options: ClientOptions
  readonly #keys: Keys
  /** Index of the key that signs. All keys verify. */
  #keyInUse = 0
  readonly #breaker = new Breaker(() => this.probe())
  /** The site's clock minus the SSO system's in seconds, from the last signed back-channel response. */
  #clockOffset: number | undefined

  /** @throws {TypeError} that names the wrong options */
  constructor(options: Sso2ClientOptions) {
    this.#options = { ...options, ...checkArgument('Sso2Client', fields, options) }
    this.#keys = makeKeys(options.clientSecret)
  }

  /** Returns the address of Identify for a browser redirect, valid for ten seconds. Interface: "Identify: browser redirect". @param returnTo address of the page to return to (`r`) */
  identifyUrl(returnTo: string): string {
    if (this.#keys.length > 1) this.#breaker.startProbing() // only the browser sees a response of Identify, so a probe finds the secret
    return identifyUrl(this.#options.ssoUrl, this.#sign({}), returnTo)
  }

  /** Logs a session in. Never repeated. Interface: "POST {sso_url}/authenticate". */
  authenticate(claims: AuthenticateClaims): Promise<SessionToken> {
    return this.#ask('authenticate', claims)
  }

  /** Gets the status of a session. With `lks: 'anon'`, gets a ticket too. Interface: "POST {sso_url}/sessionstatus". */
  sessionStatus(claims: SessionStatusClaims): Promise<SessionToken> {
    return this.#ask('sessionstatus', claims)
  }

  /** Ends a session. Afterwards the browser must be redirected to Identify for a new session. Interface: "POST {sso_url}/logout". */
  logout(claims: LogoutClaims): Promise<SessionToken> {
    return this.#ask('logout', claims)
  }

  /**
   * Ends all SSO sessions of an account, for example from a support tool. Sites notice at their next status check. A call that fails is not
   * retried. Interface: "POST {sso_url}/logoutall". @param claims account ID, and the device that asked for the logout
   */
  logoutAll(claims: LogoutAllClaims): Promise<SessionToken> {
    return this.#ask('logoutall', claims)
  }

  /** Verifies and reads the `t` of a landing page. Does not measure the clock offset, because a browser may bring an old token. Interface: "Landing page". @throws {TokenError} with the reason */
  readLanding(token: unknown): SessionToken {
    return this.#read(token, { operation: 'identify' }).answer
  }

  /** @internal Asks Session Status about a session that does not exist: whether the SSO system works, and which secret it uses. @throws unless the SSO system responds with a signed token */
  async probe(): Promise<void> {
    const claims = { sid: randomUUID(), ipa: '127.0.0.1', uas: 'express-sso2', lks: 'anon' } as const
    await this.#call('sessionstatus', claims)
  }

  /** @internal False while the circuit breaker is open: from several failures in a row until a probe succeeds. */
  get isAvailable(): boolean {
    return this.#breaker.isAvailable
  }
  /** The site's clock minus the SSO system's in seconds. `undefined` before the first back-channel response. */
  get clockOffsetSeconds(): number | undefined {
    return this.#clockOffset
  }
  /** @internal Index of the secret that signs: 0, until a response shows that the SSO system uses another secret. */
  get secretInUse(): number {
    return this.#keyInUse
  }
  /** Stops probing. */
  close(): void {
    this.#breaker.stop()
  }

  #now(): EpochSeconds {
    return Math.floor((this.#options.clock ?? Date).now() / 1000)
  }

  async #ask(operation: CalledOperation, claims: OwnClaims): Promise<SessionToken> {
    if (!this.isAvailable) throw new Sso2UnavailableError(operation, true, 'the circuit breaker is open')
    return this.#call(operation, claims)
  }

  /**
   * Makes a call, and notes its outcome: for the circuit breaker, and for the log. Repeats it if the SSO system uses another secret of the
   * site: it refuses the token in a response signed with that secret. So the platform may change the secret at any moment. The SSO system
   * did nothing with the token that it refused.
   */
  async #call(operation: CalledOperation, claims: OwnClaims): Promise<SessionToken> {
    const ours = this.#keyInUse
    try {
      let { answer, key } = await this.#send(operation, claims)
      if (answer.err === 'invalid_token' && key !== ours) {
        this.#keyInUse = key
        answer = (await this.#send(operation, claims)).answer
      }
      this.#clockOffset = this.#now() - answer.iat
      const isRefused = answer.err === 'invalid_token'
      this.#note(operation, isRefused ? new Sso2ResponseError(operation, undefined, 'invalid_token') : undefined)
      return answer
    } catch (error) {
      if (error instanceof TokenError) this.#clockOffset = error.offsetSeconds ?? this.#clockOffset
      if (error instanceof Sso2Error) this.#note(operation, error)
      throw error
    }
  }

  /** Only Session Status opens and closes the breaker: other calls may fail for their user alone, and have other time limits. */
  #note(operation: CalledOperation, error: Sso2Error | undefined): void {
    const isStatus = operation === 'sessionstatus'
    if (error) {
      this.#options.log?.failed(operation, error, { topic: 'sso' })
      if (isStatus) this.#breaker.noteFailure()
      else this.#breaker.startProbing()
    } else if (isStatus) {
      this.#breaker.noteSuccess()
      this.#options.log?.recovered('sso', 'The SSO system responds again.')
    }
  }

  /** Posts a new token for each try, because a token is valid for ten seconds only. */
  async #send(operation: CalledOperation, claims: OwnClaims) {
    const { ssoUrl, timeoutMs, agent } = this.#options
    const answer = await sendCall({
      operation,
      url: operationUrl(ssoUrl, operation),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ t: this.#sign(claims) }),
      timeoutMs: operation === 'sessionstatus' ? timeoutMs : LIMITS[operation],
      agent,
    })
    if (answer.status >= 500) throw new Sso2ResponseError(operation, answer.status, 'the SSO system failed')
    const json = readJsonObject(Buffer.from(answer.text))
    const token = json && ownValue(json, 't')
    if (token === undefined)
      throw new Sso2ResponseError(operation, answer.status, 'the body is not a JSON object with one token')
    return this.#read(token, { ...claims, operation })
  }

  #sign(claims: object): string {
    return signToken(requestClaims(this.#options, claims, this.#now()), this.#keys, this.#keyInUse)
  }

  /** @returns the token as read, and the index of the secret that signed it */
  #read(token: unknown, request: SentRequest) {
    const { claims, key } = verifyToken(token, this.#keys, {
      issuer: this.#options.ssoIdentifier,
      audience: this.#options.clientId,
      now: this.#now(),
      toleranceSeconds: this.#options.clockToleranceSeconds,
    })
    return { answer: readSessionToken(claims, request), key }
  }
}
