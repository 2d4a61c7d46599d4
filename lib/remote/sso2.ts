/** The five operations of SSO2. Works without Express. Interface: "SSO2 endpoints". */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { address, nameProblems } from '../config/checks'
import { Sso2ResponseError } from '../errors'
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
import { type Question, readSessionToken, type SessionToken } from '../protocol/session-token'
import { type Keys, makeKeys, own, signToken, verifyToken } from '../protocol/token'
import { Circuit } from './circuit'
import { send } from './http'
import { reach } from './reach'

/** Options of `Sso2Client`. */
export interface Sso2ClientOptions {
  /** Base address of the SSO system. */
  readonly ssoUrl: string
  readonly clientId: string
  /** One secret, or several: the first signs, all verify. */
  readonly clientSecret: string | readonly string[]
  readonly organisationId: string
  /** Default `sso-service`. */
  readonly ssoIdentifier?: string
  /** Bound on one Session Status call in milliseconds, default 2000; Authenticate has 8000, Logout 3000. */
  readonly timeoutMs?: number
  /** Leeway on token times in seconds, default 5. */
  readonly clockToleranceSeconds?: number
  /** Source of time in milliseconds since 1970, default the system's. */
  readonly clock?: { now(): number }
}

const fields = z.object({
  ssoUrl: address(false),
  clientId: z.string().min(1),
  clientSecret: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  organisationId: z.string().min(1),
})

const AUTHENTICATE_MS = 8000
const LOGOUT_MS = 3000
const DEFAULT_MS = 2000
const QUIET_MS = 30_000

/** Client of one SSO system for one API client. Methods throw `Sso2UnavailableError`, `Sso2ResponseError` or `TokenError`. */
export class Sso2Client {
  readonly #options: Sso2ClientOptions
  readonly #keys: Keys
  readonly #circuit: Circuit
  /** When it was last spoken to, in milliseconds of the process's own clock. */
  #lastWord = Number.NEGATIVE_INFINITY
  /** Our clock minus the SSO system's, in seconds, from the last signed answer of the back channel. */
  #clockOffset: number | undefined

  constructor(options: Sso2ClientOptions) {
    const issues = fields.safeParse(options).error?.issues ?? []
    const problems = [
      ...issues.map(({ path, message }) => ({ option: path.join('.'), message })),
      ...nameProblems(options),
    ]
    if (problems.length > 0)
      throw new TypeError(`Sso2Client: ${problems.map(({ option, message }) => `${option}: ${message}`).join('; ')}`)
    this.#options = options
    this.#keys = makeKeys(options.clientSecret)
    this.#circuit = new Circuit(() => this.#probe())
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

  /**
   * Tells the client that a browser is being sent to Identify, where nothing of ours runs. When nobody has spoken to the SSO
   * system for 30 s it is connected to in the background, so that not every visitor is sent to a dead host.
   */
  noteIdentify(): void {
    const now = performance.now()
    if (now - this.#lastWord < QUIET_MS) return
    this.#lastWord = now
    const { ssoUrl, timeoutMs = DEFAULT_MS } = this.#options
    this.#circuit.tryOut(() => reach('identify', ssoUrl, timeoutMs))
  }

  /** False while the circuit breaker is open. */
  get isAvailable(): boolean {
    return this.#circuit.isClosed
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
    const token = await this.#circuit.run(operation, () => this.#post(operation, claims, timeoutMs))
    return this.#read(token, question)
  }

  /** Posts a token made for this very try: it lives for ten seconds only. */
  async #post<O extends Operation>(operation: O, claims: OperationClaims[O], timeoutMs: number): Promise<unknown> {
    this.#lastWord = performance.now()
    const url = operationUrl(this.#options.ssoUrl, operation)
    const body = JSON.stringify({ t: this.#sign<O>(claims) })
    const headers = { 'content-type': 'application/json' }
    const answer = await send({ operation, url, method: 'POST', headers, body, timeoutMs })
    if (answer.status >= 500) throw new Sso2ResponseError(operation, answer.status, 'the SSO system failed')
    const json = readJsonObject(Buffer.from(answer.text))
    const token = json && own(json, 't')
    if (token === undefined)
      throw new Sso2ResponseError(operation, answer.status, 'the body is not a JSON object with one token')
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

  /** A question about a session that nobody has: any answer at all shows that the system lives. */
  async #probe(): Promise<void> {
    const claims = { sid: randomUUID(), ipa: '127.0.0.1', uas: 'express-sso2', lks: 'anon' } as const
    await this.#post('sessionstatus', claims, this.#options.timeoutMs ?? DEFAULT_MS)
  }
}
