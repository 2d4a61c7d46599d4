/** Makes Session Tokens, spoilt ones too. Interface: "Session Token (ST), the response JWT". */
import type { EpochSeconds } from '../protocol/claims'
import { makeKeys, signToken } from '../protocol/token'
import type { FaultOptions } from './fault-rules'
import type { Outcome } from './service'
import { randomId } from './sessions'
import type { ClientState, World } from './world'

/** How much too old the fault `expired` makes a token, beyond its life. */
const LONG_AGO_SECONDS = 3600

/** Signs what an outcome says for a client, with the spoiling that a fault asks for. */
export function sessionToken(
  world: World,
  { client, keys }: ClientState,
  outcome: Outcome,
  tokenNow: EpochSeconds,
  fault?: FaultOptions,
): string {
  const { ssoIdentifier, limits } = world.config
  const created = tokenNow + shift(fault)
  const claims = {
    iss: ssoIdentifier,
    aud: fault?.kind === 'wrong_audience' ? `not-${client.clientId}` : client.clientId,
    nbf: created,
    iat: created,
    exp: created + limits.tokenSeconds,
    ...(fault?.kind === 'wrong_session' ? another(outcome.subject) : outcome.subject),
    sts: outcome.sts,
    at: outcome.at,
    err: outcome.err,
    ...outcome.attempts,
  }
  return signToken(claims, fault?.kind === 'wrong_signature' ? makeKeys(randomId()) : keys)
}

/** By how many seconds a fault moves the times of a token. */
function shift(fault: FaultOptions | undefined): number {
  if (fault?.kind === 'skew') return fault.seconds
  return fault?.kind === 'expired' ? -LONG_AGO_SECONDS : 0
}

function another(subject: Outcome['subject']): Outcome['subject'] {
  return 'sid' in subject ? { sid: randomId() } : { aid: `not-${subject.aid}` }
}
