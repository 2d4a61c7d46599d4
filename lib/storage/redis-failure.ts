/**
 * Names why a command or a connection of Redis failed. docs/troubleshooting.md says what to do about each name. Quotes no message of Redis,
 * because a message may hold a command.
 */

/** Name of a failure without a known cause. */
export const NO_ANSWER = 'no_answer'

/** Refusals of a Redis that still answers reads. */
const REFUSED_WRITES: ReadonlySet<string> = new Set(['OOM', 'MISCONF', 'NOREPLICAS', 'READONLY'])

/** Does Redis answer reads, and refuse writes? @param reason name of the failure */
export const isRefusedWrite = (reason: string): boolean => REFUSED_WRITES.has(reason)

/** Has Redis refused the command? Then Redis answers. */
export const isRedisRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError'

/** Fields of the errors of Node.js and ioredis. A Cluster in which no node answers has `lastNodeError`. */
interface Fields extends Partial<Error> {
  readonly code?: unknown
  readonly lastNodeError?: unknown
}

/** Returns the code of a refusal or of Node.js (`'OOM'`, `'NOAUTH'`, `'ECONNREFUSED'`), or `'no_answer'`. */
export function redisFailureReason(error: unknown): string {
  const { name, message = '', code, lastNodeError }: Fields = Object(error)
  if (lastNodeError !== undefined) return redisFailureReason(lastNodeError)
  if (name === 'ReplyError') return /^[A-Z]{2,20}(?= )/.exec(message)?.[0] ?? 'ERR'
  if (name === 'ParserError') return 'PROTOCOL'
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? code : NO_ANSWER
}
