/** Makes Session Tokens, and wrong tokens for faults. Interface: "Session Token (ST), the response JWT". */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { EpochSeconds } from '../../protocol/claims'
import type { FaultOptions } from '../faults/rules'
import type { TokenContent } from '../platform/service'
import { randomId } from '../platform/sessions'
import type { ClientState, World } from '../platform/world'

/** Age of a token with the fault `expired`, beyond its lifetime. */
const LONG_AGO_SECONDS = 3600

/** Signs an outcome for a client. A fault can change the token. */
export function sessionToken(
  world: World,
  { client, key }: ClientState,
  outcome: TokenContent,
  tokenNow: EpochSeconds,
  fault?: FaultOptions,
): string {
  const { ssoIdentifier, limits } = world.config
  const { subject, attempts, ...state } = outcome
  const created = tokenNow + shift(fault)
  const claims = {
    iss: ssoIdentifier,
    aud: fault?.kind === 'wrong_audience' ? `not-${client.clientId}` : client.clientId,
    nbf: created,
    iat: created,
    exp: created + limits.tokenSeconds,
    ...(fault?.kind === 'wrong_session' ? another(subject) : subject),
    ...state,
    ...attempts,
  }
  return sign(claims, fault?.kind === 'wrong_signature' ? createSecretKey(Buffer.from(randomId())) : key)
}

/** Returns the seconds by which a fault moves the times of a token. */
function shift(fault: FaultOptions | undefined): number {
  if (fault?.kind === 'skew') return fault.seconds
  return fault?.kind === 'expired' ? -LONG_AGO_SECONDS : 0
}

function another(subject: TokenContent['subject']): TokenContent['subject'] {
  return 'sid' in subject ? { sid: randomId() } : { aid: `not-${subject.aid}` }
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' })

/** Signs with `node:crypto` alone, so that tests notice a mistake in the package's own signer. */
function sign(claims: object, key: KeyObject): string {
  const signed = `${HEADER}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
