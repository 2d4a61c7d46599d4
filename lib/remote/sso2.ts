/** The five operations of SSO2. Works without Express. Interface: "SSO2 endpoints". */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { address, nameProblems } from '../config/validators'
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
import { own } from '../protocol/token'
import { ClientKeys } from './client-keys'
import { Dependency } from './dependency'
import { retryAfterSeconds, send } from './http'

/** Listens to how the SSO system is. */
export interface ClientWatch {
  /** Called if a call got no usable response, or one that refuses our tokens (`invalid_token`). @param beganAt when the call began, by `performance.now()` */
  failed(operation: Operation, error: unknown, beganAt: number): void
  /** After a row of failures it answers again. */
  back(): void
}

/** Options of `Sso2Client`. */
export interface Sso2ClientOptions {
  /** Base address of the SSO system. */
  readonly ssoUrl: string
  /** API client ID: `cid` of request tokens, and `aud` of Session Tokens. */
  readonly clientId: string
  /** The API client's secret. Of several, all verify, and the one that the SSO system takes signs; the first of them to begin with. */
  readonly clientSecret: string | readonly string[]
  /** `iss` of request tokens. */
  readonly organisationId: string
  /** `aud` of request tokens and `iss` of Session Tokens, default `sso-service`. */
  readonly ssoIdentifier?: string | undefined
  /** Bound on one Session Status call in milliseconds, default 2000; Authenticate has 8000, Logout 3000. */
  readonly timeoutMs?: number | undefined
  /** Leeway on token times in seconds, default 5. */
  readonly clockToleranceSeconds?: number | undefined
  /** Source of time in milliseconds since 1970, default the system's. */
  readonly clock?: { now(): number } | undefined
  /** Hears of every call that fails, those in the background too, and that the SSO system is back. Must not throw. */
  readonly watch?: ClientWatch | undefined
}

const fields = z.object({
  ssoUrl: address(false, 'https://sso.example'),
  clientId: z.string().min(1),
  clientSecret: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  organisationId: z.string().min(1),
})

/** @throws {TypeError} that names every option that is wrong, and no value */
export function checkClientOptions(options: Sso2ClientOptions): void {
  const issues = fields.safeParse(options).error?.issues ?? []
  const problems = [
    ...issues.map(({ path, message }) => ({ option: path.join('.'), message })),
    ...nameProblems(options),
  ]
  if (problems.length > 0)
    throw new TypeError(`Sso2Client: ${problems.map(({ option, message }) => `${option}: ${message}`).join('; ')}`)
}

const AUTHENTICATE_MS = 8000
const LOGOUT_MS = 3000
const DEFAULT_MS = 2000

/** No response, or one that cannot be used. */
const isFault = (error: unknown) =>
  error instanceof Sso2UnavailableError || error instanceof Sso2ResponseError || error instanceof TokenError

/** Makes a call, and once more if it never reached the other side. */
async function againIfNotSent<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof Sso2UnavailableError && error.retryable) return await call()
    throw error
  }
}

/** The SSO system does not accept our tokens. */
const isFaulty = (answer: unknown) => answer instanceof SessionToken && answer.err === 'invalid_token'

/**
 * The five operations of SSO2 for one API client. Works without Express. Interface: "SSO2 endpoints". A call gives a Session Token, with `err`
 * where the SSO system refuses; or throws `Sso2UnavailableError` (no answer in time, or a row of failures before), `Sso2ResponseError` (no
 * token in it) or `TokenError` (one that does not verify). Bounds: Session Status `timeoutMs`, Authenticate 8000 ms, the others 3000.
 */
export class Sso2Client {
  readonly #options: Sso2ClientOptions
  readonly #keys: ClientKeys
  readonly #health: Dependency
  /** Our clock minus the SSO system's, in seconds, from the last signed answer of the back channel. */
  #clockOffset: number | undefined

  /** @throws {TypeError} naming every option that is wrong */
  constructor(options: Sso2ClientOptions) {
    checkClientOptions(options)
    this.#options = options
    this.#keys = new ClientKeys(options.clientSecret)
    const onSuccess = (isBack: boolean) => {
      if (isBack) options.watch?.back()
    }
    this.#health = new Dependency({ probe: () => this.#askAboutNoSession(), isFault, isFaulty, onSuccess })
  }

  /** The address to send the browser to, good for ten seconds. Interface: "Identify: browser redirect". @param returnTo where the user should end (`r`) */
  identifyUrl(returnTo: string): string {
    if (this.#keys.isRotating) this.look() // Identify shows to the browser alone that it uses another secret
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

  /** Verifies and reads a landing page's `t`, which says nothing about the clocks: anybody may show an old one. Interface: "Landing page". @throws {TokenError} with the reason */
  readLanding(token: unknown): SessionToken {
    return this.#read(token, { operation: 'identify' }).answer
  }

  /** Asks the SSO system in the background whether it works, and which secret it uses. At most once a second. */
  look(): void {
    this.#health.look()
  }

  /** Asks Session Status about a session that does not exist. @throws unless the SSO system says so. Callers within a second share one call */
  async probe(): Promise<void> {
    await this.#health.probe()
  }

  /** False while the circuit breaker is open: from a row of failures until a probe succeeds. */
  get isAvailable(): boolean {
    return this.#health.isAvailable
  }
  /** Our clock minus the SSO system's in seconds; `undefined` before the first answer of the back channel. */
  get clockOffsetSeconds(): number | undefined {
    return this.#clockOffset
  }
  /** Which of the secrets signs, by its place in the list: the first, 0, until the SSO system says that it takes another one. */
  get secretInUse(): number {
    return this.#keys.inUse
  }
  /** Stops probing. */
  close(): void {
    this.#health.close()
  }

  #now(): EpochSeconds {
    return Math.floor((this.#options.clock ?? Date).now() / 1000)
  }

  #sign<O extends Operation>(claims: OperationClaims[O]): string {
    const { clientId, organisationId, ssoIdentifier = DEFAULT_SSO_IDENTIFIER } = this.#options
    const caller = { clientId, organisationId, ssoIdentifier }
    return this.#keys.sign(requestClaims<O>(caller, claims, this.#now()))
  }

  async #ask<O extends Exclude<Operation, 'identify'>>(
    operation: O,
    claims: OperationClaims[O],
    question: Question,
    timeoutMs: number,
  ): Promise<SessionToken> {
    const call = () => this.#watched(operation, () => this.#exchange(operation, claims, question, timeoutMs))
    // the response to a login may be about what its user typed
    return this.#health.run(operation, () => againIfNotSent(call), operation === 'authenticate' ? 'user_call' : 'call')
  }

  /** Reports each failure, also of probes, which have no caller that could. */
  async #watched<T>(operation: Operation, call: () => Promise<T>): Promise<T> {
    const { watch } = this.#options
    const beganAt = performance.now()
    try {
      const answer = await call()
      if (isFaulty(answer))
        watch?.failed(operation, new Sso2ResponseError(operation, undefined, 'invalid_token'), beganAt)
      return answer
    } catch (error) {
      watch?.failed(operation, error, beganAt)
      throw error
    }
  }

  /** Asks once more where the SSO system takes another of our secrets: it has done nothing with a token that it refused. */
  async #exchange<O extends Operation>(
    operation: O,
    claims: OperationClaims[O],
    question: Question,
    timeoutMs: number,
  ): Promise<SessionToken> {
    const end = performance.now() + timeoutMs
    const ours = this.#keys.inUse
    const { answer, signedBy } = this.#read(await this.#post(operation, claims, timeoutMs), question)
    if (answer.err !== 'invalid_token' || !this.#keys.wasRefused(ours, signedBy)) return answer
    const left = Math.max(1, Math.ceil(end - performance.now()))
    return this.#read(await this.#post(operation, claims, left), question).answer
  }

  /** Posts a token made for this very try: it lives for ten seconds only. */
  async #post<O extends Operation>(operation: O, claims: OperationClaims[O], timeoutMs: number): Promise<unknown> {
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

  #read(token: unknown, question: Question): { readonly answer: SessionToken; readonly signedBy: number } {
    const { clientId, ssoIdentifier = DEFAULT_SSO_IDENTIFIER, clockToleranceSeconds = 5 } = this.#options
    const now = this.#now()
    const expected = { issuer: ssoIdentifier, audience: clientId, now, toleranceSeconds: clockToleranceSeconds }
    const isAnswer = question.operation !== 'identify'
    const onIssued = (iat: EpochSeconds) => {
      if (isAnswer) this.#clockOffset = now - iat
    }
    const { claims, signedBy } = this.#keys.verify(token, { ...expected, onIssued })
    return { answer: readSessionToken(claims, question), signedBy }
  }

  /** A question about a session that nobody has: only a system that works can say, in a token of its own, that there is none. */
  #askAboutNoSession(): Promise<void> {
    return this.#watched('sessionstatus', async () => {
      const claims = { sid: randomUUID(), ipa: '127.0.0.1', uas: 'express-sso2', lks: 'anon' } as const
      const question = { operation: 'sessionstatus', sid: claims.sid, lks: claims.lks } as const
      const { err } = await this.#exchange('sessionstatus', claims, question, this.#options.timeoutMs ?? DEFAULT_MS)
      if (err !== 'session_not_found')
        throw new Sso2ResponseError('sessionstatus', undefined, `the probe was answered with ${err ?? 'a session'}`)
    })
  }
}
