/** Tickets become access tokens at the authorization server. Interface: "SSO2", point 3. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { readJsonObject } from '../protocol/json'
import { own } from '../protocol/token'
import { isOutage } from './dependency'
import { type Call, readJson, send } from './http'
import type { AccessTokenSource } from './rest-call'

/**
 * An access token: a bare text, what the token endpoint answered as it is (`expires_in` in seconds from now), or with `expiresAt` in whole
 * seconds since 1970. Without an end it is used until the REST API answers 401.
 */
export type AccessToken =
  | string
  | { readonly access_token: string; readonly expires_in?: number; readonly scope?: string }
  | { readonly accessToken: string; readonly expiresAt?: number; readonly scope?: string }

/** An access token as we keep it: printing it shows nothing. */
export interface Grant {
  readonly token: () => string
  /** End of life in whole seconds since 1970, where the server told one that can be. */
  readonly expiresAt: number | undefined
}

/** Where the ticket came from. */
export interface ExchangeContext {
  /** SSO2 session ID. */
  readonly sid: string
  /** Aborts when nobody waits for the answer any more: pass it on to `fetch`. */
  readonly signal?: AbortSignal
}

/**
 * Exchanges a ticket for an access token; may be the site's own. Interface: "SSO2", point 3. A ticket is good for one exchange: what
 * throws leaves the reader unnamed, and he is asked about again after 30 s.
 */
export type ExchangeTicket = (ticket: string, context: ExchangeContext) => Promise<AccessToken> | AccessToken

/** Adapts the default exchange to an authorization server. */
export interface TicketExchange {
  /** Value of `grant_type`. Default: `authorization_code`. */
  readonly grantType?: string | undefined
  /** Parameter that holds the ticket. Default: `code`. */
  readonly ticketParameter?: string | undefined
  /** How the client shows who it is: in the body, or by `'basic'` in the Authorization header. Default: `'post'`. */
  readonly clientAuth?: 'post' | 'basic' | undefined
}

/** The authorization server and who we are to it. */
export interface TokenEndpoint {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: () => string
  readonly ticketExchange: TicketExchange
}

const TOKEN_MS = 3000

const bare = { expiresIn: undefined, expiresAt: undefined }

const accessToken = z.union([
  z
    .string()
    .min(1)
    .transform((token) => ({ ...bare, token })),
  z
    .object({ access_token: z.string().min(1), expires_in: z.unknown().optional() })
    .transform((body) => ({ ...bare, token: body.access_token, expiresIn: wholeSeconds(body.expires_in) })),
  z
    .object({ accessToken: z.string().min(1), expiresAt: z.unknown().optional() })
    .transform((own) => ({ ...bare, token: own.accessToken, expiresAt: wholeSeconds(own.expiresAt) })),
])

/** A count of seconds that a record can hold; whatever else stands there is no reason to refuse the token. */
function wholeSeconds(value: unknown): number | undefined {
  const given = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof given !== 'number' || given < 0) return undefined
  const seconds = Math.floor(given)
  return Number.isSafeInteger(seconds) ? seconds : undefined
}

/** Reads what an exchange gave. @throws {Sso2ResponseError} no access token in it */
export function readGrant(value: unknown, now: number): Grant {
  const { data } = accessToken.safeParse(value)
  if (!data || !/^[\x21-\x7e]+$/.test(data.token))
    throw new Sso2ResponseError('token', undefined, 'the answer has no access token')
  const ending = data.expiresIn === undefined ? undefined : wholeSeconds(now + data.expiresIn)
  return { token: () => data.token, expiresAt: data.expiresAt ?? ending }
}

/** The default exchange: a form POST to the token endpoint, never sent twice. */
export function formExchange(endpoint: TokenEndpoint): ExchangeTicket {
  return (ticket, { signal }) => fetchToken({ ...ticketCall(endpoint, ticket), signal })
}

/** RFC 6749, 5.2: the client itself is refused, so every ticket would be. */
const CLIENT_REFUSED = /refused: (?:invalid_client|unauthorized_client|unsupported_grant_type) \(/

/** Does this error mean that the token endpoint exchanges no ticket of any user? */
export function isTokenEndpointFault(error: unknown): boolean {
  if (isOutage(error)) return true
  return error instanceof Sso2ResponseError && CLIENT_REFUSED.test(error.message)
}

/** Exchanges a made-up ticket. A token endpoint that works refuses it. */
export async function probeTokenEndpoint(endpoint: TokenEndpoint): Promise<void> {
  await fetchToken(ticketCall(endpoint, randomUUID()))
}

/** A token of the client itself, without an identity. */
export function serviceToken(endpoint: TokenEndpoint, scope: string): Promise<AccessToken> {
  return fetchToken(formCall(endpoint, { grant_type: 'client_credentials', scope }))
}

/** RFC 6749, 5.2. Nothing else of an answer gets into an error: who refuses may repeat what he was sent. */
const REASONS: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
])

function reasonIn(text: string): string {
  const answer = readJsonObject(Buffer.from(text))
  const reason = answer && own(answer, 'error')
  return REASONS.has(reason) ? `: ${reason}` : ''
}

/** The exchange of one ticket as it is sent. */
export function ticketCall(endpoint: TokenEndpoint, ticket: string): Call {
  const { grantType = 'authorization_code', ticketParameter = 'code' } = endpoint.ticketExchange
  return formCall(endpoint, { grant_type: grantType, [ticketParameter]: ticket })
}

function formCall(endpoint: TokenEndpoint, form: Readonly<Record<string, string>>): Call {
  const { tokenUrl, clientId, ticketExchange } = endpoint
  const isBasic = ticketExchange.clientAuth === 'basic'
  const body = new URLSearchParams(
    isBasic ? form : { ...form, client_id: clientId, client_secret: endpoint.clientSecret() },
  )
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (isBasic) {
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(endpoint.clientSecret())}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  return { operation: 'token', url: tokenUrl, method: 'POST', headers, body: String(body), timeoutMs: TOKEN_MS }
}

async function fetchToken(call: Call): Promise<AccessToken> {
  const answer = await send(call)
  const http = `HTTP ${answer.status}`
  if (answer.status >= 500)
    throw new Sso2UnavailableError('token', false, `the token endpoint answered ${http}`, false, http)
  if (answer.status !== 200)
    throw new Sso2ResponseError('token', answer.status, `the token endpoint refused${reasonIn(answer.text)}`)
  return readJson('token', answer) as AccessToken // read by readGrant, which checks it
}

const MARGIN_SECONDS = 30
const DEFAULT_LIFE_SECONDS = 300

/** @param fetchGrant asks the authorization server; @param now seconds since 1970 */
export function serviceTokenSource(fetchGrant: () => Promise<Grant>, now: () => number): AccessTokenSource {
  let kept: { readonly grant: Promise<Grant>; until: number } | undefined
  const renew = () => {
    const entry = { grant: fetchGrant(), until: Number.POSITIVE_INFINITY }
    kept = entry
    entry.grant.then(
      ({ expiresAt }) => {
        entry.until = (expiresAt ?? now() + DEFAULT_LIFE_SECONDS) - MARGIN_SECONDS
      },
      () => {
        kept = undefined // no other is begun while one is asked for
      },
    )
    return entry.grant
  }
  return async (refused) => {
    const seen = kept
    if (seen && now() < seen.until) {
      const token = (await seen.grant).token()
      if (token !== refused) return token
    }
    // whoever came first has fetched another one meanwhile
    const newer = kept !== undefined && kept !== seen ? kept.grant : renew()
    return (await newer).token()
  }
}
