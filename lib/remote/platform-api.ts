/** The REST API, typed and checked. Works without Express. Interface: "REST API". Fields keep the platform's names. */
import { z } from 'zod'
import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { type Answer, readJson, send } from './http'
import {
  type Administrator,
  type AdministratorAccount,
  administrator,
  byAccount,
  eligibility,
  type GiftReceiver,
  giftReceiver,
  type MarketplaceGroup,
  marketplaceGroup,
} from './platform-types'

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /** Bound on the call in milliseconds, default 3000. */
  readonly timeoutMs?: number
}

/** Options of `PlatformApi`. */
export interface PlatformApiOptions {
  /** `{base_url}` of the REST API. */
  readonly apiUrl: string
  /** An access token, or a function that gets one; it is told `true` after a 401, to get a new one. */
  readonly accessToken: string | ((isRefused: boolean) => Promise<string>)
}

/** Scope that each call needs. Interface: "Authentication", "REST API". */
export const scopes = Object.freeze({
  marketplaceGroups: '/external/marketing/r',
  validateGiftReceiver: '/external/me/order/r',
  administrators: '/external/admin/r',
  administratorsByAccount: '/external/admin/r',
})

const DEFAULT_MS = 3000
const TRY_AGAIN = new Set([502, 503, 504])
const MAX_RETRY_AFTER_SECONDS = 2

interface Request {
  readonly operation: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly scope?: string
  /** May be sent twice: it changes nothing. */
  readonly isRead: boolean
}

/** Client of the REST API for one access token. Methods throw `PlatformApiError`, `Sso2UnavailableError` or `Sso2ResponseError`. */
export class PlatformApi {
  /** Scope that each call needs. */
  static readonly scopes = scopes
  readonly #apiUrl: string
  readonly #accessToken: (isRefused: boolean) => Promise<string>
  /** True where a refused token can be replaced by a new one. */
  readonly #canRenew: boolean

  constructor({ apiUrl, accessToken }: PlatformApiOptions) {
    if (typeof apiUrl !== 'string' || !/^https?:\/\//.test(apiUrl))
      throw new TypeError('PlatformApi: apiUrl must be an absolute address')
    if (typeof accessToken !== 'function' && (typeof accessToken !== 'string' || accessToken === '')) {
      throw new TypeError('PlatformApi: accessToken must be a text or a function')
    }
    this.#apiUrl = apiUrl.replace(/\/+$/, '')
    this.#accessToken = typeof accessToken === 'function' ? accessToken : async () => accessToken
    this.#canRenew = typeof accessToken === 'function'
  }

  get scopes(): typeof scopes {
    return scopes
  }

  /** The configured marketplace groups with their markets. Scope `/external/marketing/r`. */
  marketplaceGroups(options?: CallOptions): Promise<MarketplaceGroup[]> {
    const path = '/external/api/v2/marketing/marketplace/groups'
    return this.#items('marketplaceGroups', path, marketplaceGroup, scopes.marketplaceGroups, options)
  }

  /**
   * May this receiver be given the gift subscription? Needs a user's token with `/external/me/order/r`.
   * @throws {TypeError} before anything is sent, naming the bad field
   */
  async validateGiftReceiver(receiver: GiftReceiver, options?: CallOptions): Promise<boolean> {
    const body = checkArgument('validateGiftReceiver', giftReceiver, receiver)
    const path = '/external/api/v1/me/order/validate_gift_receiver'
    const operation = 'validateGiftReceiver'
    const answer = await this.#send(
      { operation, method: 'POST', path, body, scope: scopes.validateGiftReceiver, isRead: true },
      options,
    )
    return check(operation, answer, eligibility).item.receiver_eligible
  }

  /** All administrators, an entry a group. Needs a user's token with `/external/admin/r`. @param filter one group's only */
  async administrators(filter: { readonly group?: string } = {}, options?: CallOptions): Promise<Administrator[]> {
    const { group } = checkArgument('administrators', z.strictObject({ group: z.string().min(1).optional() }), filter)
    const query = group === undefined ? '' : `?group=${encodeURIComponent(group)}`
    return this.#items(
      'administrators',
      `/external/api/v1/admin${query}`,
      administrator,
      scopes.administrators,
      options,
    )
  }

  /** All administrators, one entry an account with all its groups, in the platform's order. */
  async administratorsByAccount(options?: CallOptions): Promise<AdministratorAccount[]> {
    return byAccount(await this.administrators({}, options))
  }

  /** GET of any path below `apiUrl` that answers an object, for example the user's own account. */
  async get(path: string, options?: CallOptions): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#send({ operation: 'get', method: 'GET', path, isRead: true }, options)
    return check('get', answer, z.record(z.string(), z.unknown()))
  }

  async #items<T>(
    operation: string,
    path: string,
    item: z.ZodType<T>,
    scope: string,
    options?: CallOptions,
  ): Promise<T[]> {
    const answer = await this.#send({ operation, method: 'GET', path, scope, isRead: true }, options)
    return check(operation, answer, z.object({ items: z.array(item) })).items
  }

  async #send(request: Request, options: CallOptions = {}): Promise<Answer> {
    let answer = await this.#sendTwice(request, options, false)
    if (answer.status === 401 && this.#canRenew) answer = await this.#sendTwice(request, options, true)
    if (answer.status >= 200 && answer.status < 300) return answer
    throw new PlatformApiError(request.operation, answer.status, bodyOf(answer), request.scope)
  }

  /** A read is tried once more after a connection failure, 502, 503, 504, or the wait that a 429 asks for. */
  async #sendTwice(request: Request, options: CallOptions, isRefused: boolean): Promise<Answer> {
    const token = await this.#accessToken(isRefused)
    try {
      const answer = await this.#sendOnce(request, options, token)
      const wait = request.isRead ? retryDelay(answer) : undefined
      if (wait === undefined) return answer
      await pause(wait, options.signal)
    } catch (error) {
      if (!(error instanceof Sso2UnavailableError && (error.retryable || error.message.includes('UND_ERR_SOCKET'))))
        throw error
      await pause(jitter(), options.signal)
    }
    return this.#sendOnce(request, options, token)
  }

  #sendOnce({ operation, method, path, body }: Request, options: CallOptions, token: string): Promise<Answer> {
    return send({
      operation,
      url: this.#apiUrl + path,
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      timeoutMs: options.timeoutMs ?? DEFAULT_MS,
      signal: options.signal,
    })
  }
}

const jitter = () => 50 + Math.random() * 150

/** Milliseconds to wait before the second try; `undefined` for an answer that stands. */
function retryDelay(answer: Answer): number | undefined {
  if (TRY_AGAIN.has(answer.status)) return jitter()
  const seconds = answer.status === 429 ? Number(answer.headers.get('retry-after') ?? Number.NaN) : Number.NaN
  return seconds >= 0 && seconds <= MAX_RETRY_AFTER_SECONDS ? seconds * 1000 : undefined
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { setTimeout: sleep } = await import('node:timers/promises')
  await sleep(ms, undefined, signal ? { signal } : {})
}

function bodyOf(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text)
  } catch {
    return answer.text.slice(0, 500)
  }
}

function check<T>(operation: string, answer: Answer, schema: z.ZodType<T>): T {
  const result = schema.safeParse(readJson(operation, answer))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Sso2ResponseError(operation, answer.status, `${issue?.path.join('.') || 'body'}: ${issue?.message}`)
}

function checkArgument<T>(operation: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.') || 'argument'}: ${message}`)
  throw new TypeError(`${operation}: ${problems.join('; ')}`)
}
