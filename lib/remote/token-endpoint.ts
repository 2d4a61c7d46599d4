/** Access tokens of the authorization server: for a ticket, or for the client itself. Interface: "SSO2", point 3. */
import type { Agents } from '../config/agents'
import { Sso2ConfigError, Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { isNonNegativeInteger, isObject, readJsonObject } from '../protocol/json'
import { ownValue } from '../protocol/token'
import { type Call, sendCall } from './http'
import type { AccessTokenSource } from './platform-api'

/**
 * An access token: a text, the response of the token endpoint (`expires_in` in seconds from now), or an object with `expiresAt` in whole
 * seconds since 1970. A token without a time of expiry is used until the REST API responds with a 401.
 */
export type AccessToken =
  | string
  | { readonly access_token: string; readonly expires_in?: number; readonly scope?: string }
  | { readonly accessToken: string; readonly expiresAt?: number; readonly scope?: string }

/** Context of a ticket exchange. */
export interface ExchangeContext {
  /** SSO2 session ID. */
  readonly sid: string
  /** Aborts when the package no longer waits for the result. Pass the signal on to `fetch`. */
  readonly signal?: AbortSignal
}

/**
 * Exchanges a ticket for an access token. A site may have its own function. Interface: "SSO2", point 3. A ticket is valid for a single
 * exchange. If the function throws, the request has no user, and the next status check follows after 30 seconds.
 */
export type ExchangeTicket = (ticket: string, context: ExchangeContext) => Promise<AccessToken> | AccessToken

/** Adapts the calls to a token endpoint. */
export interface TicketExchange {
  /** Value of `grant_type`. Default: `authorization_code`. */
  readonly grantType?: string | undefined
  /** Parameter that holds the ticket. Default: `code`. */
  readonly ticketParameter?: string | undefined
  /** How the client shows who it is: in the body, or by `'basic'` in the Authorization header. Default: `'post'`. */
  readonly clientAuth?: 'post' | 'basic' | undefined
}

/** The token endpoint of the authorization server, and the site's client there. */
export interface TokenEndpoint {
  /** Empty if the site has none. */
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: () => string
  readonly ticketExchange: TicketExchange
  readonly agent?: Agents | undefined
}

const TOKEN_MS = 3000

/**
 * Reads the result of an exchange.
 * @param now seconds since 1970
 * @returns the token, and its time of expiry in whole seconds since 1970 if the server sent a valid time
 * @throws {Sso2ResponseError} if the result has no access token
 */
export function readGrant(value: unknown, now: number): { token: string; expiresAt: number | undefined } {
  const answer = typeof value === 'string' ? { accessToken: value } : isObject(value) ? value : {}
  const token = ownValue(answer, 'access_token') ?? ownValue(answer, 'accessToken')
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new Sso2ResponseError('token', undefined, 'the answer has no access token')
  const life = wholeSeconds(ownValue(answer, 'expires_in'))
  const end = life === undefined ? ownValue(answer, 'expiresAt') : now + life
  return { token, expiresAt: wholeSeconds(end) }
}

/** Returns a number of seconds for a login record. Another value counts as absent, because the token itself may be valid. */
function wholeSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && isNonNegativeInteger(Math.floor(seconds)) ? Math.floor(seconds) : undefined
}

/** Returns the default exchange: a form POST to the token endpoint, never repeated. */
export function formExchange(endpoint: TokenEndpoint): ExchangeTicket {
  return (ticket, { signal }) => fetchToken({ ...ticketCall(endpoint, ticket), signal })
}

/** Gets an access token of the client itself, without a user. A site with its own `exchangeTicket` may have no `tokenUrl`. */
export async function serviceToken(endpoint: TokenEndpoint, scope: string): Promise<AccessToken> {
  const message = 'is required for sso.api. The hook exchangeTicket only exchanges tickets of users'
  if (endpoint.tokenUrl === '') throw new Sso2ConfigError([{ option: 'tokenUrl', variable: 'SSO2_TOKEN_URL', message }])
  return fetchToken(formCall(endpoint, { grant_type: 'client_credentials', scope }))
}

/** Returns the HTTP call that exchanges a ticket. */
export function ticketCall(endpoint: TokenEndpoint, ticket: string): Call {
  const { grantType = 'authorization_code', ticketParameter = 'code' } = endpoint.ticketExchange
  return formCall(endpoint, { grant_type: grantType, [ticketParameter]: ticket })
}

function formCall(endpoint: TokenEndpoint, form: Readonly<Record<string, string>>): Call {
  const { tokenUrl, clientId, ticketExchange, agent } = endpoint
  const isBasic = ticketExchange.clientAuth === 'basic'
  const body = new URLSearchParams(
    isBasic ? form : { ...form, client_id: clientId, client_secret: endpoint.clientSecret() },
  )
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (isBasic) {
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(endpoint.clientSecret())}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  return { operation: 'token', url: tokenUrl, method: 'POST', headers, body: String(body), timeoutMs: TOKEN_MS, agent }
}

/** RFC 6749, 5.2. Errors quote no other text of a response, because a response may repeat the ticket or the secret. */
const REASONS = /^(?:invalid_(?:request|client|grant|scope)|unauthorized_client|unsupported_grant_type)$/

/** @returns the body, which readGrant checks */
async function fetchToken(call: Call): Promise<AccessToken> {
  const { status, text } = await sendCall(call)
  const said = `HTTP ${status}`
  if (status >= 500) throw new Sso2UnavailableError('token', false, `the token endpoint answered ${said}`, false, said)
  const body = readJsonObject(Buffer.from(text)) ?? {}
  if (status === 200) return body as unknown as AccessToken
  const reason = String(ownValue(body, 'error'))
  const why = `the token endpoint refused${REASONS.test(reason) ? `: ${reason}` : ''}`
  throw new Sso2ResponseError('token', status, why)
}

const MARGIN_SECONDS = 30

/**
 * Returns a source of service tokens. The source keeps a token until 30 seconds before its expiry.
 * @param now returns seconds since 1970
 */
export function serviceTokenSource(endpoint: TokenEndpoint, scope: string, now: () => number): AccessTokenSource {
  let newest: Promise<ReturnType<typeof readGrant>> | undefined
  const fetchNext = async () => readGrant(await serviceToken(endpoint, scope), now())
  return async (refused) => {
    const known = newest
    const grant = await known?.catch(() => undefined)
    const { token, expiresAt = Number.POSITIVE_INFINITY } = grant ?? {}
    if (token !== undefined && token !== refused && now() < expiresAt - MARGIN_SECONDS) return token
    if (newest === known) newest = fetchNext() // or another call has begun to fetch one since
    return (await newest)?.token
  }
}
