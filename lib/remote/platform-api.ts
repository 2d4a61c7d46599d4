/** The client of the REST API, with checked arguments and responses. Works without Express. Interface: "REST API". Fields keep the platform's names. */
import { z } from 'zod'
import type { Agents } from '../config/agents'
import { NotLoggedInError, Sso2ResponseError } from '../errors'
import { withoutLastSlashes } from '../protocol/requests'
import { type Answer, readJson } from './http'
import {
  type Administrator,
  type AdministratorAccount,
  administrator,
  administratorFilter,
  byAccount,
  eligibility,
  type GiftReceiver,
  giftReceiver,
  type MarketplaceGroup,
  marketplaceGroup,
} from './platform-types'
import { type AccessTokenSource, type CallOptions, callRest, type RestRequest } from './rest-call'

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

/**
 * Client of the REST API for an access token. Works without Express. Interface: "REST API".
 *
 * Every call has a time limit (`timeoutMs`, 3000 milliseconds). Within the limit, a call is retried once after a lost connection, a 502,
 * 503 or 504, or a 429 with a short `Retry-After`. Errors:
 * - `PlatformApiError`: the REST API refuses the call.
 * - `AccessTokenExpiredError`: the token has expired, and there is no other token.
 * - `Sso2UnavailableError`: there is no response in time.
 * - `Sso2ResponseError`: the interface does not document the response.
 * - `TypeError`: the arguments are wrong. Nothing was sent.
 */
export class PlatformApi {
  /** Scope that each call needs. */
  static readonly scopes = scopes
  readonly #apiUrl: string
  readonly #accessToken: AccessTokenSource
  /** Can a refused token be replaced by a new token? */
  readonly #canRenew: boolean
  readonly #agent: Agents | undefined

  /** @throws {TypeError} that names the wrong option */
  constructor({ apiUrl, accessToken, agent }: PlatformApiOptions) {
    if (typeof apiUrl !== 'string' || !/^https?:\/\//i.test(apiUrl) || !URL.canParse(apiUrl))
      throw new TypeError('PlatformApi: apiUrl must be an absolute address')
    if (typeof accessToken !== 'function' && (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken)))
      throw new TypeError('PlatformApi: accessToken must be a printable text without spaces, or a function')
    this.#apiUrl = withoutLastSlashes(new URL(apiUrl).href)
    this.#accessToken = typeof accessToken === 'function' ? accessToken : async () => accessToken
    this.#canRenew = typeof accessToken === 'function'
    this.#agent = agent
  }

  /** Scope that each call needs. */
  get scopes(): typeof scopes {
    return scopes
  }

  /**
   * Returns the configured marketplace groups with their markets, in the platform's order. Needs the scope `/external/marketing/r`. A
   * service token is enough. Interface: "Marketplace group".
   * @param options signal and time limit of this call
   */
  marketplaceGroups(options?: CallOptions): Promise<MarketplaceGroup[]> {
    const path = '/external/api/v2/marketing/marketplace/groups'
    return this.#items('marketplaceGroups', path, marketplaceGroup, scopes.marketplaceGroups, options)
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
    const body = checkArgument('validateGiftReceiver', giftReceiver, receiver)
    const path = '/external/api/v1/me/order/validate_gift_receiver'
    const operation = 'validateGiftReceiver'
    const answer = await this.#send(
      { operation, method: 'POST', url: this.#apiUrl + path, body, scope: scopes.validateGiftReceiver },
      options,
    )
    return check(operation, answer, eligibility).item.receiver_eligible
  }

  /**
   * Returns all administrators, with an entry for each account in a group, in the platform's order. Needs a user's token with
   * `/external/admin/r`. Interface: "Administrator entry".
   * @param filter limits the result to a group
   * @param options signal and time limit of this call
   */
  async administrators(filter: { readonly group?: string } = {}, options?: CallOptions): Promise<Administrator[]> {
    const { group } = checkArgument('administrators', administratorFilter, filter)
    const query = group === undefined ? '' : `?group=${encodeURIComponent(group)}`
    return this.#items(
      'administrators',
      `/external/api/v1/admin${query}`,
      administrator,
      scopes.administrators,
      options,
    )
  }

  /**
   * Returns all {@link administrators}, with an entry for each account that lists all groups of the account. The order is that of the first
   * entries.
   * @param options signal and time limit of this call
   */
  async administratorsByAccount(options?: CallOptions): Promise<AdministratorAccount[]> {
    return byAccount(await this.administrators({}, options))
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
    const answer = await this.#send({ operation: 'get', method: 'GET', url: this.#apiUrl + path }, options)
    return check('get', answer, z.record(z.string(), z.unknown()))
  }

  async #items<T>(
    operation: string,
    path: string,
    item: z.ZodType<T>,
    scope: string,
    options?: CallOptions,
  ): Promise<T[]> {
    const answer = await this.#send({ operation, method: 'GET', url: this.#apiUrl + path, scope }, options)
    return check(operation, answer, z.object({ items: z.array(item) })).items
  }

  #send(request: RestRequest, options?: CallOptions): Promise<Answer> {
    return callRest({ ...request, agent: this.#agent }, this.#accessToken, this.#canRenew, options)
  }
}

/** The REST API with a token of the site itself. Refuses calls that need a user before anything is sent. */
export class ServiceApi extends PlatformApi {
  override async validateGiftReceiver(): Promise<never> {
    throw needsUser('validateGiftReceiver')
  }
  override async administrators(): Promise<never> {
    throw needsUser('administrators')
  }
  override async administratorsByAccount(): Promise<never> {
    throw needsUser('administratorsByAccount')
  }
}

const needsUser = (operation: string) =>
  new NotLoggedInError(`${operation}: the call needs a user, and sso.api has none. Use req.sso2.api`)

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
