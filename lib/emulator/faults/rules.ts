/** Which faults there are, and which of them make sense where. Contract: section 9, "Faults". */
import { z } from 'zod'
import { isServiceErrorCode, type Operation, type Sso2ServiceErrorCode } from '../../protocol/claims'

/** Every operation that a fault can hit, and that the call log names. */
export const emulatedOperations = [
  'identify',
  'authenticate',
  'sessionstatus',
  'logout',
  'logoutall',
  'token',
  'me',
  'marketplace',
  'gift',
  'administrators',
] as const

/** An operation of SSO2, the token endpoint, or a call of the REST API. */
export type EmulatedOperation = (typeof emulatedOperations)[number]

const sso2Operations: readonly string[] = [
  'identify',
  'authenticate',
  'sessionstatus',
  'logout',
  'logoutall',
] satisfies Operation[]

interface Target {
  readonly operation: EmulatedOperation
  /** How many answers it hits; until cleared when left out. */
  readonly times?: number | undefined
  /** Only this SSO session; at Identify, the browser's. Not for Logout all, which names no session. */
  readonly sid?: string | undefined
}

/** The fault itself. `ms` is milliseconds, `seconds` and `retryAfter` are seconds. The kinds of the first two lines and `error` do no work. The others do the work and spoil the response. */
export type FaultKind =
  /** The connection ends without a response, there is never a response, or the body cannot be read, is empty, or has 20 MB. */
  | { readonly kind: 'down' | 'hang' | 'garbage' | 'empty' | 'huge' }
  /** An HTTP status from 300 to 599 instead of a response, with a `Retry-After` header if `retryAfter` is given. */
  | { readonly kind: 'status'; readonly code: number; readonly retryAfter?: number | undefined }
  /** A documented `err` in a properly signed answer. */
  | { readonly kind: 'error'; readonly code: Sso2ServiceErrorCode }
  /** Work and answer come `ms` milliseconds late. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The work is done, and the connection ends without an answer. */
  | { readonly kind: 'drop_after_commit' }
  /** The Session Token is signed with another secret, too old, about another session (account), or for another client. */
  | { readonly kind: 'wrong_signature' | 'expired' | 'wrong_session' | 'wrong_audience' }
  /** The Session Token's times are `seconds` ahead (negative: behind). */
  | { readonly kind: 'skew'; readonly seconds: number }

/** A fault as it is asked for. */
export type FaultOptions = Target & FaultKind

const target = {
  operation: z.enum(emulatedOperations),
  times: z.int().min(1).max(1_000_000).optional(),
  sid: z.string().min(1).max(200).optional(),
}
const code = z.string().refine(isServiceErrorCode, 'is no error code of the specification')

/** Reads a fault; refuses unknown members and what makes no sense. */
export const faultSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...target, kind: z.enum(['down', 'hang', 'garbage', 'empty', 'huge']) }),
    z.strictObject({
      ...target,
      kind: z.literal('status'),
      code: z.int().min(300).max(599),
      retryAfter: z.int().min(0).max(86_400).optional(),
    }),
    z.strictObject({ ...target, kind: z.literal('error'), code }),
    z.strictObject({ ...target, kind: z.literal('slow'), ms: z.int().min(1).max(600_000) }),
    z.strictObject({ ...target, kind: z.literal('drop_after_commit') }),
    z.strictObject({ ...target, kind: z.enum(['wrong_signature', 'expired', 'wrong_session', 'wrong_audience']) }),
    z.strictObject({ ...target, kind: z.literal('skew'), seconds: z.int().min(-1_000_000).max(1_000_000) }),
  ])
  .superRefine((fault, context) => {
    if (isTokenFault(fault.kind) && !sso2Operations.includes(fault.operation)) {
      context.addIssue({
        code: 'custom',
        path: ['kind'],
        message: `${fault.operation} answers without a Session Token`,
      })
    }
    if (fault.sid !== undefined && fault.operation === 'logoutall') {
      context.addIssue({ code: 'custom', path: ['sid'], message: 'Logout all names no session' })
    }
    if (fault.kind === 'skew' && fault.seconds === 0) {
      context.addIssue({ code: 'custom', path: ['seconds'], message: 'a skew of 0 seconds is none' })
    }
  })

const tokenFaults: readonly string[] = [
  'error',
  'wrong_signature',
  'expired',
  'wrong_session',
  'wrong_audience',
  'skew',
] satisfies FaultKind['kind'][]

function isTokenFault(kind: string): boolean {
  return tokenFaults.includes(kind)
}
