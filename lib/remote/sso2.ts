/** The five operations of SSO2. Works without Express. Interface: "SSO2 endpoints". */
import { randomUUID } from 'node:crypto'
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../errors'
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
import { identifyUrl, type OperationClaims, operationUrl, requestClaims } from '../protocol/requests'
import { type Question, readSessionToken, SessionToken } from '../protocol/session-token'
import { type Keys, makeKeys, own, signToken, verifyToken } from '../protocol/token'
import { Circuit } from './circuit'
import { retryAfterSeconds, send } from './http'
import { checkClientOptions, type Sso2ClientOptions } from './sso2-options'

const AUTHENTICATE_MS = 8000
const LOGOUT_MS = 3000
const DEFAULT_MS = 2000
const QUIET_MS = 30_000

/** No answer, or none that can be used. Where that is so for one session alone, the probe finds out before the circuit opens. */
const isFault = (error: Error) =>
  error instanceof Sso2UnavailableError || error instanceof Sso2ResponseError || error instanceof TokenError

/** It does not take our tokens: whatever is asked next, it will say the same. */
const isFaulty = (answer: unknown) => answer instanceof SessionToken && answer.err === 'invalid_token'

/** Client of one SSO system for one API client. Methods throw `Sso2UnavailableError`, `Sso2ResponseError` or `TokenError`. */
export class Sso2Client {
  readonly #options: Sso2ClientOptions
  readonly #keys: Keys
  readonly #circuit: Circuit
  /** When it was last spoken to, in milliseconds of the process's own clock. */
  #lastWord = Number.NEGATIVE_INFINITY
  /** Our clock minus the SSO system's, in seconds, from the last signed answer of the back channel. */
  #clockOffset: number | undefined
  #backSince: EpochSeconds | undefined

  constructor(options: Sso2ClientOptions) {
    checkClientOptions(options)
    this.#options = options
    this.#keys = makeKeys(options.clientSecret)
    const onBack = () => {
      this.#backSince = this.#now()
      options.watch?.back()
    }
    this.#circuit = new Circuit({ probe: () => this.#probe(), isFault, isFaulty, onBack })
  }

  /** The address to send the browser to. @param returnTo where the user should end (`r`) */
  identifyUrl(returnTo: string): string {
    return identifyUrl(this.#options.ssoUrl, this.#sign<'identify'>({}), returnTo)
  }

  /** Logs a session in. Never sent twice once bytes may have left. Interface: "POST {sso_url}/authenticate". */
  authenticate(claims: AuthenticateClaims): Promise<SessionToken> {
    return this.#ask('authenticate', claims, { operation: 'authenticate', sid: claims.sid }, AUTHENTICATE_MS)
  }

  /** Asks for a session's status; `lks: 'anon'` asks for a ticket too. Interface: "POST {sso_url}/sessionstatus". */
  sessionStatus(claims: SessionStatusClaims): Promise<SessionToken> {
    const question = { operation: 'sessionstatus', sid: claims.sid, lks: claims.lks } as const
    return this.#ask('sessionstatus', claims, question, this.#options.timeoutMs ?? DEFAULT_MS)
  }

  /** Ends a session; afterwards the browser must go through Identify. Interface: "POST {sso_url}/logout". */
  logout(claims: LogoutClaims): Promise<SessionToken> {
    return this.#ask('logout', claims, { operation: 'logout', sid: claims.sid }, LOGOUT_MS)
  }

  /** Ends all sessions of an account, for example after a password change. Interface: "POST {sso_url}/logoutall". */
  logoutAll(claims: LogoutAllClaims): Promise<SessionToken> {
    return this.#ask('logoutall', claims, { operation: 'logoutall', aid: claims.aid }, LOGOUT_MS)
  }

  /**
   * Verifies and reads a landing page's `t`. Anybody may show an old one, so it says nothing about the clocks.
   * @throws {TokenError} with the reason; `offsetSeconds` when it is the time
   */
  readLanding(token: unknown): SessionToken {
    return this.#read(token, { operation: 'identify' })
  }

  /** A browser came back with a good token: a sign of life, as an answer is. */
  noteLanding(): void {
    this.#lastWord = performance.now()
  }

  /** Asks the SSO system something harmless in the background, where nobody has spoken to it for 30 s. */
  findOut(): void {
    const now = performance.now()
    if (now - this.#lastWord < QUIET_MS) return
    this.#lastWord = now
    this.#circuit.findOut()
  }

  /** False while the circuit breaker is open: from a row of failures until a probe has been answered. */
  get isAvailable(): boolean {
    return this.#circuit.isClosed
  }
  /** When the SSO system was last seen to be back after a row of failures, in seconds since 1970, if there was one. */
  get backSince(): EpochSeconds | undefined {
    return this.#backSince
  }
  /** Our clock minus the SSO system's in seconds; `undefined` before the first answer of the back channel. */
  get clockOffsetSeconds(): number | undefined {
    return this.#clockOffset
  }
  /** Stops the breaker's timer. */
  close(): void {
    this.#circuit.close()
  }

  #now(): EpochSeconds {
    return Math.floor((this.#options.clock ?? Date).now() / 1000)
  }

  #sign<O extends Operation>(claims: OperationClaims[O]): string {
    const { clientId, organisationId, ssoIdentifier = DEFAULT_SSO_IDENTIFIER } = this.#options
    const caller = { clientId, organisationId, ssoIdentifier }
    return signToken(requestClaims<O>(caller, claims, this.#now()), this.#keys)
  }

  async #ask<O extends Exclude<Operation, 'identify'>>(
    operation: O,
    claims: OperationClaims[O],
    question: Question,
    timeoutMs: number,
  ): Promise<SessionToken> {
    const call = () =>
      this.#watched(operation, async () => this.#read(await this.#post(operation, claims, timeoutMs), question))
    return operation === 'authenticate' ? this.#askForLogin(call) : this.#circuit.run(operation, call)
  }

  /** The caller has the error as well; what fails in the background would be known to nobody else. */
  async #watched<T>(operation: Operation, call: () => Promise<T>): Promise<T> {
    const { watch } = this.#options
    try {
      const answer = await call()
      if (isFaulty(answer)) watch?.failed(operation, new Sso2ResponseError(operation, undefined, 'invalid_token'))
      return answer
    } catch (error) {
      watch?.failed(operation, error)
      throw error
    }
  }

  /** What the SSO system says of a login may be about what somebody typed: it is no reason to open the circuit for all. */
  async #askForLogin(call: () => Promise<SessionToken>): Promise<SessionToken> {
    const said = await this.#circuit.run('authenticate', async () => {
      try {
        return { token: await call() }
      } catch (error) {
        if (error instanceof Sso2ResponseError && error.status === 429) return { error }
        throw error
      }
    })
    if ('error' in said) throw said.error
    return said.token
  }

  /** Posts a token made for this very try: it lives for ten seconds only. */
  async #post<O extends Operation>(operation: O, claims: OperationClaims[O], timeoutMs: number): Promise<unknown> {
    this.#lastWord = performance.now()
    const url = operationUrl(this.#options.ssoUrl, operation)
    const body = JSON.stringify({ t: this.#sign<O>(claims) })
    const headers = { 'content-type': 'application/json' }
    const answer = await send({ operation, url, method: 'POST', headers, body, timeoutMs })
    const pause = retryAfterSeconds(answer)
    if (answer.status >= 500) throw new Sso2ResponseError(operation, answer.status, 'the SSO system failed', pause)
    const json = readJsonObject(Buffer.from(answer.text))
    const token = json && own(json, 't')
    if (token === undefined)
      throw new Sso2ResponseError(operation, answer.status, 'the body is not a JSON object with one token', pause)
    return token
  }

  #read(token: unknown, question: Question): SessionToken {
    const { clientId, ssoIdentifier = DEFAULT_SSO_IDENTIFIER, clockToleranceSeconds = 5 } = this.#options
    const now = this.#now()
    const expected = { issuer: ssoIdentifier, audience: clientId, now, toleranceSeconds: clockToleranceSeconds }
    const isAnswer = question.operation !== 'identify'
    const onIssued = (iat: EpochSeconds) => {
      if (isAnswer) this.#clockOffset = now - iat
    }
    const claims = verifyToken(token, this.#keys, { ...expected, onIssued })
    return readSessionToken(claims, question)
  }

  /** A question about a session that nobody has: only a system that works can say, in a token of its own, that there is none. */
  #probe(): Promise<void> {
    return this.#watched('sessionstatus', async () => {
      const claims = { sid: randomUUID(), ipa: '127.0.0.1', uas: 'express-sso2', lks: 'anon' } as const
      const question = { operation: 'sessionstatus', sid: claims.sid, lks: claims.lks } as const
      const token = await this.#post('sessionstatus', claims, this.#options.timeoutMs ?? DEFAULT_MS)
      const { err } = this.#read(token, question)
      if (err !== 'session_not_found')
        throw new Sso2ResponseError('sessionstatus', undefined, `the probe was answered with ${err ?? 'a session'}`)
    })
  }
}
