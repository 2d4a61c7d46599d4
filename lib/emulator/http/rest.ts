/** Reads and carries out calls of the REST API with a bearer token. Interface: "REST API". */
import { z } from 'zod'
import { addressSchema, optionProblems } from '../config/schema'
import type { EmulatedOperation } from '../faults/rules'
import { findAccessToken } from '../platform/tickets'
import { type AccessToken, type AccountState, addressKey } from '../platform/world'
import type { Runtime } from '../runtime'
import { type Answer, garbledJson, json, jsonError, type Work } from './answers'

/** A request to the REST API. */
export interface RestRequest {
  readonly authorization: string | undefined
  /** Query as received. */
  readonly query: string
  /** Parsed JSON body, or `undefined` without a body. */
  readonly body: unknown
}

/** A call of the REST API. */
export type RestOperation = Extract<EmulatedOperation, 'me' | 'marketplace' | 'gift' | 'administrators'>

/** `identity`: does the endpoint need a token of an account? */
type Endpoint = { readonly method: 'GET' | 'POST'; readonly path: string; readonly scope: string | undefined } & (
  | { readonly identity: true; answer(runtime: Runtime, request: RestRequest, account: AccountState): Answer }
  | { readonly identity: false; answer(runtime: Runtime, request: RestRequest): Answer }
)

/** The endpoints, with the requirements of their tokens. Interface: "Authentication", "REST API". */
export const restEndpoints: Readonly<Record<RestOperation, Endpoint>> = {
  me: { method: 'GET', path: '/external/api/v1/me', identity: true, scope: undefined, answer: me },
  marketplace: {
    method: 'GET',
    path: '/external/api/v2/marketing/marketplace/groups',
    identity: false,
    scope: '/external/marketing/r',
    answer: marketplace,
  },
  gift: {
    method: 'POST',
    path: '/external/api/v1/me/order/validate_gift_receiver',
    identity: true,
    scope: '/external/me/order/r',
    answer: gift,
  },
  administrators: {
    method: 'GET',
    path: '/external/api/v1/admin',
    identity: true,
    scope: '/external/admin/r',
    answer: administrators,
  },
}

/** Reads a call of the REST API. */
export function restWork(runtime: Runtime, operation: RestOperation, request: RestRequest): Work {
  const [, bearer] = /^bearer ([\w.~+/-]+=*)$/i.exec(request.authorization ?? '') ?? []
  const token = bearer === undefined ? undefined : findAccessToken(runtime.world, bearer, runtime.now())
  return {
    operation,
    clientId: token?.clientId ?? null,
    sid: token?.sid ?? null,
    claims: token?.accountId === undefined ? {} : { aid: token.accountId },
    respond: () => (token ? authorised(runtime, operation, request, token) : unauthorised(request.authorization)),
    garbage: garbledJson,
  }
}

function unauthorised(authorization: string | undefined): Answer {
  const [code, message] =
    authorization === undefined
      ? ['missing_token', 'the header authorization: Bearer <ACCESS_TOKEN> is needed']
      : ['invalid_token', 'the access token is unknown or expired']
  const answer = jsonError(401, code, message)
  return { ...answer, headers: { ...answer.headers, 'www-authenticate': 'Bearer' } }
}

function authorised(runtime: Runtime, operation: RestOperation, request: RestRequest, token: AccessToken): Answer {
  const endpoint = restEndpoints[operation]
  const account = token.accountId === undefined ? undefined : runtime.world.accountsById.get(token.accountId)
  const isAllowed = endpoint.scope === undefined || token.scopes.includes(endpoint.scope)
  const refusal = isAllowed
    ? undefined
    : jsonError(403, 'insufficient_scope', `the token lacks the scope ${endpoint.scope}`)
  if (!endpoint.identity) return refusal ?? endpoint.answer(runtime, request)
  if (!account) return jsonError(403, 'identity_required', 'the token stands for no account')
  return refusal ?? endpoint.answer(runtime, request, account)
}

function me(_runtime: Runtime, _request: RestRequest, { account }: AccountState): Answer {
  const { accountId, username, name, email } = account
  return json(200, { item: { account_id: accountId, username, name, contact_email: email } }, 'ok')
}

function marketplace({ config }: Runtime): Answer {
  if (!config.marketplaceEnabled) {
    return jsonError(404, 'feature_not_enabled', 'marketplace groups are not enabled for the organisation')
  }
  return json(200, { items: config.marketplaceGroups }, 'ok')
}

const giftRequest = z.strictObject({
  campaign_code: z.string().min(1),
  delivery_address: addressSchema.refine((address) => Object.values(address).some((line) => line?.trim()), 'is empty'),
})

function gift({ config, world }: Runtime, { body }: RestRequest): Answer {
  const read = giftRequest.safeParse(body)
  if (!read.success) {
    const problems = optionProblems(read.error).map(({ option, message }) => `${option}: ${message}`)
    return jsonError(400, 'bad_request', problems.join('; '))
  }
  const { campaign_code, delivery_address } = read.data
  const campaign = config.campaigns.find(({ productCode }) => productCode === campaign_code)
  if (!campaign) return jsonError(400, 'unknown_campaign', 'campaign_code: is the product_code of no campaign')
  const owned = world.productsByAddress.get(addressKey(delivery_address))
  const conflicts = [campaign.productCode, ...campaign.conflictsWith].some((code) => owned?.has(code))
  return json(200, { item: { receiver_eligible: !conflicts } }, 'ok')
}

function administrators({ world }: Runtime, { query }: RestRequest): Answer {
  const groups = new URLSearchParams(query).getAll('group')
  if (groups.length > 1) return jsonError(400, 'bad_request', 'group: is there twice')
  const [wanted] = groups
  const items = [...world.accountsByName.values()].flatMap(({ account }) =>
    account.groups
      .filter((group) => wanted === undefined || group === wanted)
      .map((group) => ({
        group,
        created: account.created,
        account_id: account.accountId,
        contact_email: account.email,
        name: account.name,
      })),
  )
  return json(200, { items }, 'ok')
}
