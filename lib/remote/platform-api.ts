/** The client of the REST API, with checked arguments and responses. Works without Express. Interface: "REST API". Fields keep the platform's names. */
import { z } from 'zod'
import type { Agents } from '../config/agents'
import { AccessTokenExpiredError, NotLoggedInError, PlatformApiError, Sso2ResponseError } from '../errors'
import { maskKnown } from '../log/masking'
import { parseForeignJson } from '../protocol/json'
import { withoutLastSlashes } from '../protocol/requests'
import { checkArgument } from './arguments'
import { type Answer, sendCall } from './http'
import {
  type Administrator,
  type AdministratorAccount,
  administrator,
  administratorFilter,
  eligibility,
  type GiftReceiver,
  giftReceiver,
  type MarketplaceGroup,
  marketplaceGroup,
} from './platform-types'

/** Options of a call. */
export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Limit of a request to the REST API in milliseconds. Default: 3000. */
  readonly timeoutMs?: number | undefined
}

/**
 * Returns an access token, or `undefined` if there is none. `refused` is a token that the REST API has answered with a 401, so that the
 * call needs another token.
 */
export type AccessTokenSource = (refused?: string) => Promise<string | undefined>

/** Options of `PlatformApi`. */
export interface PlatformApiOptions {
  /** `{base_url}` of the REST API. */
  readonly apiUrl: string
  /** An access token, or a function that returns an access token. After a 401 the function gets the refused token and may return another. */
  readonly accessToken: string | AccessTokenSource
  /** Agent of the calls, for an outgoing proxy, an own CA or a client certificate: one, or `{ http, https }`. Default: Node's own. */
  readonly agent?: Agents | undefined
}

/** Scope that each call of `PlatformApi` needs. Interface: "REST API". */
export const scopes = Object.freeze({
  marketplaceGroups: '/external/marketing/r',
  validateGiftReceiver: '/external/me/order/r',
  administrators: '/external/admin/r',
  administratorsByAccount: '/external/admin/r',
})

const callOptions = z.object({
  signal: z.instanceof(AbortSignal).optional(),
  timeoutMs: z.int().min(1).max(600_000).default(3000),
})

interface RestRequest {
  readonly operation: keyof typeof scopes | 'get'
  /** Below `apiUrl`, with the query. */
  readonly path: string
  /** Makes the request a POST. */
  readonly body?: object
}

/**
 * Client of the REST API for an access token. Works without Express. Interface: "REST API".
 *
 * Every request has a time limit (`timeoutMs`, 3000 milliseconds), and is sent once. Only after a 401 it is sent again, with another token.
 * Errors:
 * - `PlatformApiError`: the REST API refuses the call.
 * - `AccessTokenExpiredError`: the token has expired, and there is no other token.
 * - `Sso2UnavailableError`: there is no response in time.
 * - `Sso2ResponseError`: the interface does not document the response.
 * - `TypeError`: the arguments are wrong. Nothing was sent.
 */
export class PlatformApi {
  /** Scope that each call needs. */
  static readonly scopes = scopes
  /** Scope that each call needs. */
  readonly scopes = scopes
  readonly #apiUrl: string
  readonly #accessToken: AccessTokenSource
  readonly #agent: Agents | undefined

  /** @throws {TypeError} that names the wrong option */
  constructor({ apiUrl, accessToken, agent }: PlatformApiOptions) {
    if (typeof apiUrl !== 'string' || !/^https?:\/\//i.test(apiUrl) || !URL.canParse(apiUrl))
      throw new TypeError('PlatformApi: apiUrl must be an absolute address')
    if (typeof accessToken !== 'function' && (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken)))
      throw new TypeError('PlatformApi: accessToken must be a printable text without spaces, or a function')
    this.#apiUrl = withoutLastSlashes(new URL(apiUrl).href)
    this.#accessToken = typeof accessToken === 'function' ? accessToken : async () => accessToken
    this.#agent = agent
  }

  /**
   * Returns the configured marketplace groups with their markets, in the platform's order. Needs the scope `/external/marketing/r`. A
   * service token is enough. Interface: "Marketplace group".
   * @param options signal and time limit of this call
   */
  marketplaceGroups(options?: CallOptions): Promise<MarketplaceGroup[]> {
    const path = '/external/api/v2/marketing/marketplace/groups'
    return this.#items({ operation: 'marketplaceGroups', path }, marketplaceGroup, options)
  }

  /**
   * Asks whether a receiver may get the gift subscription. Needs a user's token with `/external/me/order/r`.
   * Interface: "validate_gift_receiver".
   * @param receiver campaign and address
   * @param options signal and time limit of this call
   * @returns whether the receiver is eligible. Both values are a success
   * @throws {TypeError} that names the wrong field, before anything is sent
   */
  async validateGiftReceiver(receiver: GiftReceiver, options?: CallOptions): Promise<boolean> {
    const operation = 'validateGiftReceiver'
    const body = checkArgument(operation, giftReceiver, receiver)
    const path = '/external/api/v1/me/order/validate_gift_receiver'
    return check(operation, await this.#send({ operation, path, body }, options), eligibility).item.receiver_eligible
  }

  /**
   * Returns all administrators, with an entry for each account in a group, in the platform's order. Needs a user's token with
   * `/external/admin/r`. Interface: "Administrator entry".
   * @param filter limits the result to a group
   * @param options signal and time limit of this call
   */
  async administrators(filter: { readonly group?: string } = {}, options?: CallOptions): Promise<Administrator[]> {
    const operation = 'administrators'
    const { group } = checkArgument(operation, administratorFilter, filter)
    const path = `/external/api/v1/admin${group === undefined ? '' : `?group=${encodeURIComponent(group)}`}`
    return this.#items({ operation, path }, administrator, options)
  }

  /**
   * Returns all {@link administrators}, with an entry for each account that lists all groups of the account. The order is that of the first
   * entries.
   * @param options signal and time limit of this call
   */
  async administratorsByAccount(options?: CallOptions): Promise<AdministratorAccount[]> {
    const accounts = new Map<string, AdministratorAccount>()
    for (const { account_id, name, contact_email, created, group } of await this.administrators({}, options)) {
      const known = accounts.get(account_id)
      if (known) known.groups.push(group)
      else accounts.set(account_id, { account_id, name, contact_email, created, groups: [group] })
    }
    return [...accounts.values()]
  }

  /**
   * Sends a GET to a path that returns a JSON object, for example the user's own account.
   * @param path below `apiUrl`, beginning with `/`, with its query
   * @param options signal and time limit of this call
   * @returns the object, unchecked
   */
  async get(path: string, options?: CallOptions): Promise<Readonly<Record<string, unknown>>> {
    if (typeof path !== 'string' || !/^\/[\x21-\x7e]*$/.test(path))
      throw new TypeError('get: path must begin with / and be printable')
    const answer = await this.#send({ operation: 'get', path }, options)
    return check('get', answer, z.record(z.string(), z.unknown()))
  }

  async #items<T>(request: RestRequest, item: z.ZodType<T>, options?: CallOptions): Promise<T[]> {
    const answer = await this.#send(request, options)
    return check(request.operation, answer, z.object({ items: z.array(item) })).items
  }

  /** @returns a response with a status of 200 to 299 */
  async #send(request: RestRequest, options: CallOptions = {}): Promise<Answer> {
    const { operation } = request
    const scope = operation === 'get' ? undefined : scopes[operation]
    const bounds = checkArgument(operation, callOptions, options)
    let token = await this.#accessToken()
    if (token === undefined) throw new AccessTokenExpiredError(operation, undefined, scope)
    let answer = await this.#sendOnce(request, token, bounds)
    if (answer.status === 401) {
      const body = parseBody(answer, token)
      const other = await this.#accessToken(token)
      if (other === undefined) throw new AccessTokenExpiredError(operation, body, scope)
      if (other !== token) answer = await this.#sendOnce(request, other, bounds)
      token = other
    }
    if (answer.status < 300) return answer
    throw new PlatformApiError(operation, answer.status, parseBody(answer, token), scope)
  }

  #sendOnce({ operation, path, body }: RestRequest, token: string, bounds: z.infer<typeof callOptions>) {
    const authorization = `Bearer ${token}`
    return sendCall({
      operation,
      url: this.#apiUrl + path,
      method: body ? 'POST' : 'GET',
      headers: body ? { authorization, 'content-type': 'application/json' } : { authorization },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...bounds,
      agent: this.#agent,
    })
  }
}

const NEEDS_USER = 'the call needs a user, and sso.api has none. Use req.sso2.api'

/** The REST API with a token of the site itself. Refuses calls that need a user before anything is sent. */
export class ServiceApi extends PlatformApi {
  override async validateGiftReceiver(): Promise<never> {
    throw new NotLoggedInError(`validateGiftReceiver: ${NEEDS_USER}`)
  }
  /** Called by `administratorsByAccount`, too. */
  override async administrators(): Promise<never> {
    throw new NotLoggedInError(`administrators: ${NEEDS_USER}`)
  }
}

/** Returns the response body for an error. If the body repeats the token, in any encoding, the token is masked. */
function parseBody({ text }: Answer, token: string): unknown {
  const mask = (said: string) => maskKnown(said, [token])
  try {
    return JSON.parse(mask(JSON.stringify(parseForeignJson(text)))) // parsed and written again, so that no escape hides the token
  } catch {
    return mask(text).slice(0, 500)
  }
}

function check<T>(operation: string, answer: Answer, schema: z.ZodType<T>): T {
  try {
    return schema.parse(parseForeignJson(answer.text))
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined
    const why = issue ? `${issue.path.join('.') || 'body'}: ${issue.message}` : 'the body is not JSON'
    throw new Sso2ResponseError(operation, answer.status, why)
  }
}
