/** Defines the faults, and the operations that each fault fits. */
import { z } from 'zod'
import { isServiceErrorCode, type Operation, type Sso2ServiceErrorCode } from '../../protocol/claims'

/** Operations that a fault can affect, by their names in the call log. */
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
  /** Number of responses that the fault affects. Default: until the fault is cleared. */
  readonly times?: number | undefined
  /** Affects only this SSO session, or the browser's session at Identify. Not for Logout all, which names no session. */
  readonly sid?: string | undefined
}

/** The fault itself. `ms` is milliseconds, `seconds` and `retryAfter` are seconds. The kinds of the first two lines and `error` do no work. The others do the work and spoil the response. */
export type FaultKind =
  /** The connection ends without a response, there is never a response, or the body cannot be read, is JSON `null`, is empty, has 20 MB, or comes byte by byte without an end. */
  | { readonly kind: 'down' | 'hang' | 'garbage' | 'null' | 'empty' | 'huge' | 'drip' }
  /** An HTTP status from 300 to 599 instead of a response, with a `Retry-After` header if `retryAfter` is given. `'date'`: the time one second later. */
  | { readonly kind: 'status'; readonly code: number; readonly retryAfter?: number | 'date' | undefined }
  /** A documented `err` in a correctly signed response. */
  | { readonly kind: 'error'; readonly code: Sso2ServiceErrorCode }
  /** The work and the response are `ms` milliseconds late. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The work is done, but the connection ends without a response. */
  | { readonly kind: 'drop_after_commit' }
  /** The Session Token has a wrong signature, has expired, or names another session (account) or another client. */
  | { readonly kind: 'wrong_signature' | 'expired' | 'wrong_session' | 'wrong_audience' }
  /** The times of the Session Token are `seconds` ahead, or behind if `seconds` is negative. */
  | { readonly kind: 'skew'; readonly seconds: number }

/** Options of a fault. */
export type FaultOptions = Target & FaultKind

const target = {
  operation: z.enum(emulatedOperations),
  times: z.int().min(1).max(1_000_000).optional(),
  sid: z.string().min(1).max(200).optional(),
}
const code = z.string().refine(isServiceErrorCode, 'is no error code of the specification')

/** Validates a fault, and refuses unknown members and impossible combinations. */
export const faultSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...target, kind: z.enum(['down', 'hang', 'garbage', 'null', 'empty', 'huge', 'drip']) }),
    z.strictObject({
      ...target,
      kind: z.literal('status'),
      code: z.int().min(300).max(599),
      retryAfter: z.union([z.int().min(0).max(86_400), z.literal('date')]).optional(),
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
