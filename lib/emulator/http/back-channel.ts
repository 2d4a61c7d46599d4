/** Reads and carries out the four server-to-server operations. Interface: "SSO2 endpoints", "SSO2 errors". */
import type { Operation } from '../../protocol/claims'
import type { FaultOptions } from '../faults/rules'
import { claimsForLog } from '../platform/calls'
import { text } from '../platform/claims'
import { answerCall, contentOfRefusal, type TokenContent } from '../platform/service'
import { answerForLog } from '../platform/traces'
import type { ClientState } from '../platform/world'
import type { Runtime } from '../runtime'
import { type Answer, garbledJson, json, jsonError, type Work } from './answers'
import { type AcceptedRequest, type RefusedRequest, readRequestToken } from './request-token'
import { sessionToken } from './session-token'

/** An operation of the back channel. */
export type BackChannelOperation = Exclude<Operation, 'identify'>

/** Reads the body of a call. An invalid body is noticed here and refused when the call is carried out. */
export function backChannelWork(runtime: Runtime, operation: BackChannelOperation, body: unknown): Work {
  const token = readTokenBody(body)
  const nobody = { operation, clientId: null, sid: null, claims: {}, garbage: garbledJson }
  if (token === undefined) {
    const message = 'the body must be a JSON object with one field t, a string'
    return { ...nobody, respond: () => jsonError(400, 'bad_request', message) }
  }
  const request = readRequestToken(runtime.world, operation, token, runtime.tokenNow())
  return {
    ...nobody,
    clientId: request.client?.client.clientId ?? null,
    sid: text(request.claims, 'sid') || null,
    claims: claimsForLog(request.claims),
    respond: (fault) =>
      request.ok ? accepted(runtime, operation, request, fault) : refusedWork(runtime, operation, request, fault),
  }
}

function readTokenBody(body: unknown): string | undefined {
  const { t, ...others }: Readonly<Record<string, unknown>> = Object(body)
  return typeof t === 'string' && Object.keys(others).length === 0 ? t : undefined
}

function accepted(
  runtime: Runtime,
  operation: BackChannelOperation,
  { client, claims }: AcceptedRequest,
  fault: FaultOptions | undefined,
): Answer {
  const { clientId } = client.client
  const asked = text(claims, operation === 'logoutall' ? 'aid' : 'sid')
  const outcome =
    fault?.kind === 'error'
      ? errorByFault(runtime, operation, asked, fault.code)
      : answerCall(runtime.world, { operation, clientId, claims }, runtime.now())
  return tokenAnswer(runtime, client, outcome, fault)
}

/** Returns the error that a fault asks for, with plausible `frf` or `raa`. */
function errorByFault(
  { config }: Runtime,
  operation: Operation,
  asked: string,
  code: Extract<FaultOptions, { kind: 'error' }>['code'],
): TokenContent {
  const outcome = contentOfRefusal(operation, asked, code)
  if (operation !== 'authenticate') return outcome
  const frf = code === 'account_frozen' ? config.limits.freezeSeconds : -1
  const raa = code === 'invalid_credentials' ? config.limits.attemptsBeforeFreeze - 1 : -1
  return { ...outcome, attempts: { frf, raa } }
}

/** Refuses a call. Without a known client, the response has no token, because there is no secret to sign with. */
function refusedWork(
  runtime: Runtime,
  operation: Operation,
  { client, claims, reason }: RefusedRequest,
  fault: FaultOptions | undefined,
): Answer {
  if (!client) return jsonError(400, 'invalid_client', reason)
  const outcome = contentOfRefusal(
    operation,
    text(claims, operation === 'logoutall' ? 'aid' : 'sid') || null,
    'invalid_token',
  )
  return { ...tokenAnswer(runtime, client, outcome, fault), detail: reason }
}

function tokenAnswer(
  runtime: Runtime,
  client: ClientState,
  outcome: TokenContent,
  fault: FaultOptions | undefined,
): Answer {
  const t = sessionToken(runtime.world, client, outcome, runtime.tokenNow(), fault)
  return { ...json(200, { t }, outcome.err ?? outcome.sts), claims: answerForLog(t) }
}
