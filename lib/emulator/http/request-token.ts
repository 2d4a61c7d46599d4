/**
 * Reads request tokens, each rule its own check, on node:crypto alone: it shares no judgement with the package's own
 * verifier, so that one can contradict the other. Interface: "SSO JSON Web Token (JWT)", "Authentication", "SSO2".
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type EpochSeconds, type Operation, TOKEN_LIFETIME_SECONDS } from '../../protocol/claims'
import { type Claims, text } from '../platform/claims'
import type { ClientState, World } from '../platform/world'

/** A token of more characters is refused unread. */
const MAX_TOKEN_LENGTH = 8192

/** A request that passed every check; the claims of its operation are there, and are strings. */
export interface AcceptedRequest {
  readonly ok: true
  readonly client: ClientState
  readonly claims: Claims
}

/** A request that failed one. */
export interface RefusedRequest {
  readonly ok: false
  /** The client that the token names, when it is one for SSO2: only then can an answer be signed. */
  readonly client: ClientState | undefined
  /** What the token says, unchecked; for the log, and for echoing the `sid`. */
  readonly claims: Claims
  /** What was wrong, for people. */
  readonly reason: string
}

/** Reads `t` of a request. `tokenNow` is the time that tokens live in. */
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
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Claims {
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
  const [nbf, iat, exp] = [seconds(claims, 'nbf'), seconds(claims, 'iat'), seconds(claims, 'exp')]
  if (nbf === undefined || iat === undefined || exp === undefined) return 'nbf, iat, exp: must be whole seconds'
  if (nbf !== iat) return 'nbf: must be the creation time, as iat is'
  if (exp <= iat) return 'exp: must be after iat'
  if (exp - iat > TOKEN_LIFETIME_SECONDS) return `exp: more than ${TOKEN_LIFETIME_SECONDS} s after iat`
  if (iat > now + leewaySeconds) return `iat: ${iat - now} s in the future`
  if (exp <= now - leewaySeconds) return `exp: expired ${now - exp} s ago`
  return undefined
}

function seconds(claims: Claims, name: string): EpochSeconds | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

const device = ['ipa', 'uas']

/** Additional claims by operation: those that must be strings, and those that must not be empty either. */
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
