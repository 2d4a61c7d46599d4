/**
 * Verifies request tokens with `node:crypto` alone, each rule separately.
 * Shares no code with the package's own verifier, so that tests notice a mistake in either of them.
 * Interface: "SSO JSON Web Token (JWT)", "Authentication", "SSO2".
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type EpochSeconds, type Operation, TOKEN_LIFETIME_SECONDS } from '../../protocol/claims'
import { type Claims, text } from '../platform/claims'
import type { ClientState, World } from '../platform/world'

/** Maximum length in characters. A longer token is refused unread. */
const MAX_TOKEN_LENGTH = 8192

/** A request that passed every check. The claims that its operation needs exist and are strings. */
export interface AcceptedRequest {
  readonly ok: true
  readonly client: ClientState
  readonly claims: Claims
}

/** A request that failed a check. */
export interface RefusedRequest {
  readonly ok: false
  /** Client that the token names, if the client is flagged for SSO2. Only then can a response be signed. */
  readonly client: ClientState | undefined
  /** Unverified claims, for the log and for the `sid` of the response. */
  readonly claims: Claims
  /** Reason of the refusal, for people. */
  readonly reason: string
}

/** Verifies `t` of a request. `tokenNow` is the current time for tokens. */
export function readRequestToken(
  world: World,
  operation: Operation,
  token: string,
  tokenNow: EpochSeconds,
): AcceptedRequest | RefusedRequest {
  const parts = split(token)
  if (!parts) return { ok: false, client: undefined, claims: {}, reason: 'not a JWT of three base64url parts' }
  const { header, claims } = parts
  const client = sso2Client(world, text(claims, 'cid'))
  if (!client) return { ok: false, client, claims, reason: 'cid: no API client that is flagged for SSO2' }
  const reason =
    faultOfHeader(header) ??
    faultOfSignature(token, client) ??
    faultOfParties(world, claims) ??
    faultOfTimes(world, claims, tokenNow) ??
    faultOfOperation(operation, claims)
  return reason === undefined ? { ok: true, client, claims } : { ok: false, client, claims, reason }
}

function sso2Client({ clients }: World, clientId: string): ClientState | undefined {
  const state = clients.get(clientId)
  return state?.client.sso2 ? state : undefined
}

function split(token: string): { header: Claims; claims: Claims } | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined
  const [header, claims] = token.split('.', 2).map(parseObject)
  return header && claims ? { header, claims } : undefined
}

function parseObject(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isClaims(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isClaims(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function faultOfHeader(header: Claims): string | undefined {
  if (text(header, 'alg') !== 'HS256') return 'alg: must be HS256'
  if (text(header, 'typ') !== 'JWT') return 'typ: must be JWT'
  return Object.hasOwn(header, 'crit') ? 'crit: is not supported' : undefined
}

function faultOfSignature(token: string, { key }: ClientState): string | undefined {
  const end = token.lastIndexOf('.')
  const expected = createHmac('sha256', key).update(token.slice(0, end)).digest()
  const given = Buffer.from(token.slice(end + 1), 'base64url')
  const matches = given.length === expected.length && timingSafeEqual(given, expected)
  return matches ? undefined : "signature: not made with this client's secret"
}

function faultOfParties({ config }: World, claims: Claims): string | undefined {
  if (text(claims, 'iss') !== config.organisationId) return 'iss: must be the organisation ID'
  if (text(claims, 'aud') !== config.ssoIdentifier) return 'aud: must be the identifier of the SSO system'
  return undefined
}

function faultOfTimes({ config }: World, claims: Claims, now: EpochSeconds): string | undefined {
  const { leewaySeconds } = config.limits
  const [nbf, iat, exp] = [secondsClaim(claims, 'nbf'), secondsClaim(claims, 'iat'), secondsClaim(claims, 'exp')]
  if (nbf === undefined || iat === undefined || exp === undefined) return 'nbf, iat, exp: must be whole seconds'
  if (nbf !== iat) return 'nbf: must be the creation time, as iat is'
  if (exp <= iat) return 'exp: must be after iat'
  if (exp - iat > TOKEN_LIFETIME_SECONDS) return `exp: more than ${TOKEN_LIFETIME_SECONDS} s after iat`
  if (iat > now + leewaySeconds) return `iat: ${iat - now} s in the future`
  if (exp <= now - leewaySeconds) return `exp: expired ${now - exp} s ago`
  return undefined
}

function secondsClaim(claims: Claims, name: string): EpochSeconds | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

const device = ['ipa', 'uas']

/** Additional claims by operation: claims that must be strings, and claims that must also not be empty. */
const additionalClaims: Record<Operation, { strings: readonly string[]; filled: readonly string[] }> = {
  identify: { strings: [], filled: [] },
  authenticate: { strings: device, filled: ['sid', 'usr', 'pwd'] },
  sessionstatus: { strings: device, filled: ['sid'] },
  logout: { strings: device, filled: ['sid'] },
  logoutall: { strings: device, filled: ['aid'] },
}

const lastKnownStatuses = ['anon', 'loggedin', 'terminated']

function faultOfOperation(operation: Operation, claims: Claims): string | undefined {
  const { strings, filled } = additionalClaims[operation]
  const noString = strings.find((name) => !Object.hasOwn(claims, name) || typeof claims[name] !== 'string')
  if (noString !== undefined) return `${noString}: must be a string`
  const empty = filled.find((name) => text(claims, name) === '')
  if (empty !== undefined) return `${empty}: must be a string, and not empty`
  if (operation === 'sessionstatus' && !lastKnownStatuses.includes(text(claims, 'lks'))) {
    return 'lks: must be anon, loggedin or terminated'
  }
  return undefined
}
