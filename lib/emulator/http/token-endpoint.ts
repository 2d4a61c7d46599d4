/** Serves the access token endpoint of the authorization server. Interface: "Authentication", "SSO2", 3. */

import type { Client } from '../config/options'
import { isSameText } from '../platform/credentials'
import { issueAccessToken, takeTicket } from '../platform/tickets'
import type { AccessToken } from '../platform/world'
import type { Runtime } from '../runtime'
import { type Answer, garbledJson, json, type Work } from './answers'

/** A form POST to the token endpoint. */
export interface TokenRequest {
  /** Fields of the form. A repeated field is not a string. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly authorization: string | undefined
}

interface Credentials {
  readonly clientId: string
  readonly secret: string
}

/** Reads a request for an access token. */
export function tokenWork(runtime: Runtime, request: TokenRequest): Work {
  const given = credentials(request)
  const grantType = field(request.fields, 'grant_type') ?? ''
  const code = field(request.fields, 'code')
  return {
    operation: 'token',
    clientId: given && runtime.world.clients.has(given.clientId) ? given.clientId : null,
    sid: (code !== undefined && runtime.world.tickets.get(code)?.sid) || null,
    claims: { grant_type: grantType.slice(0, 100) },
    respond: () => grant(runtime, request, grantType, given),
    garbage: garbledJson,
  }
}

function grant(runtime: Runtime, { fields }: TokenRequest, grantType: string, given: Credentials | undefined): Answer {
  if (Object.values(fields).some((value) => typeof value !== 'string'))
    return tokenErrorAnswer('invalid_request', 'a field twice')
  const client = given && knownClient(runtime, given)
  if (!client) {
    const answer = tokenErrorAnswer('invalid_client', 'client_id and client_secret are not those of a client', 401)
    return { ...answer, headers: { ...answer.headers, 'www-authenticate': 'Basic realm="token"' } }
  }
  if (grantType === 'authorization_code') return grantForTicket(runtime, client, field(fields, 'code'))
  if (grantType === 'client_credentials') return grantForClient(runtime, client, field(fields, 'scope'))
  return grantType === ''
    ? tokenErrorAnswer('invalid_request', 'grant_type is missing')
    : tokenErrorAnswer('unsupported_grant_type', 'authorization_code or client_credentials')
}

function grantForTicket(runtime: Runtime, client: Client, code: string | undefined): Answer {
  if (!code) return tokenErrorAnswer('invalid_request', 'code is missing')
  const token = takeTicket(runtime.world, code, client, runtime.now())
  return typeof token === 'string' ? tokenErrorAnswer('invalid_grant', token) : granted(runtime, token)
}

/** Issues a token for a client. Without `scope`, the token has all of the client's scopes. */
function grantForClient(runtime: Runtime, client: Client, scope: string | undefined): Answer {
  const asked = (scope ?? '').split(' ').filter((name) => name !== '')
  if (asked.some((name) => !client.scopes.includes(name)))
    return tokenErrorAnswer('invalid_scope', 'a scope that the client does not have')
  const scopes = asked.length > 0 ? [...new Set(asked)] : client.scopes
  const expiresAt = runtime.now() + runtime.config.limits.accessTokenSeconds
  return granted(runtime, { clientId: client.clientId, accountId: undefined, sid: undefined, scopes, expiresAt })
}

function granted(runtime: Runtime, token: AccessToken): Answer {
  const access_token = issueAccessToken(runtime.world, token, runtime.now())
  const expires_in = runtime.config.limits.accessTokenSeconds
  return json(200, { access_token, token_type: 'Bearer', expires_in, scope: token.scopes.join(' ') }, 'ok')
}

function tokenErrorAnswer(error: string, description: string, status = 400): Answer {
  return json(status, { error, error_description: description }, error, description)
}

/**
 * Returns client ID and secret from the header or the form.
 * @returns undefined if they are missing, or given in both places
 */
function credentials({ fields, authorization }: TokenRequest): Credentials | undefined {
  const clientId = field(fields, 'client_id')
  const secret = field(fields, 'client_secret')
  if (authorization === undefined) {
    return clientId === undefined || secret === undefined ? undefined : { clientId, secret }
  }
  const basic = readBasic(authorization)
  const agrees = secret === undefined && (clientId === undefined || clientId === basic?.clientId)
  return agrees ? basic : undefined
}

function readBasic(authorization: string): Credentials | undefined {
  const [, encoded] = /^basic ([\w+/=-]+)$/i.exec(authorization) ?? []
  const [clientId, secret] = Buffer.from(encoded ?? '', 'base64')
    .toString('utf8')
    .split(/:(.*)/s)
  if (!clientId || secret === undefined) return undefined
  try {
    return { clientId: formDecode(clientId), secret: formDecode(secret) }
  } catch {
    return undefined
  }
}

/** Decodes half of a Basic header, which is form-encoded first (RFC 6749, 2.3.1). */
function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

/** Returns the client with this ID and secret. Compares without a client too, so that the response time does not reveal clients. */
function knownClient({ world }: Runtime, { clientId, secret }: Credentials): Client | undefined {
  const client = world.clients.get(clientId)?.client
  return isSameText(secret, client?.clientSecret ?? '') ? client : undefined
}

function field(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === 'string' ? value : undefined
}
