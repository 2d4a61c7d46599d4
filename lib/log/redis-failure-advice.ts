/** Names why a command or connection of Redis failed. docs/troubleshooting.md says what to do about each name. Pure. Quotes no message of Redis, because a message may hold a command. */

/** A failure of Redis. */
export interface RedisFailure {
  readonly error: unknown
}

/** Message of the error of a command that Redis did not answer in time. */
export const NO_ANSWER = 'no answer in time'

/** Commands with which ioredis sets up a connection. */
const SET_UP: ReadonlySet<string> = new Set(['AUTH', 'SELECT', 'INFO', 'CLUSTER', 'HELLO', 'READONLY'])

/** Fields of the errors of Node.js and ioredis. A Cluster in which no node answers has `lastNodeError`, a refusal has `command`. */
interface Fields extends Partial<Error> {
  readonly code?: unknown
  readonly command?: { readonly name?: unknown } | undefined
  readonly lastNodeError?: unknown
}

const fieldsOf = (error: unknown): Fields => (typeof error === 'object' && error !== null ? error : {})

/** Has Redis refused the command? Then Redis answers. */
export const isRedisRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError'

/** Does the failure name its cause? The failure of a command without a connection has no cause. */
export const hasCause = ({ error }: RedisFailure): boolean => causeOf(error) !== undefined

/**
 * Names the cause of a failure in a short form that stays the same, for `storeReason` of `health()`: `'writes refused: OOM'`,
 * `'reads refused: NOAUTH'`, `'SELECT refused: ERR'`, `'ECONNREFUSED'`, `'no answer in time'` or `'no connection'`.
 */
export function redisFailureReason({ error }: RedisFailure): string {
  const cause = causeOf(error)
  if (!isRedisRefusal(error)) return cause ?? 'no connection'
  return `${refusedKind(error)} refused${cause === undefined ? '' : `: ${cause}`}`
}

/** Does Redis answer, and refuse writes? */
export const isRefusedWrite = ({ error }: RedisFailure): boolean =>
  isRedisRefusal(error) && refusedKind(error) === 'writes'

function refusedKind(error: unknown): string {
  const sent = fieldsOf(error).command?.name
  if (typeof sent !== 'string') return 'commands'
  const command = sent.toUpperCase()
  if (SET_UP.has(command)) return command
  return command === 'GET' || command === 'MGET' ? 'reads' : 'writes'
}

/** Returns the code of a refusal, for example `'OOM'`. Redis 7.0 and older say `ERR` if a script of the Redis user may not run a command. */
export function redisRefusalCode(error: unknown): string | undefined {
  if (!isRedisRefusal(error)) return undefined
  const message = String(fieldsOf(error).message)
  if (/^ERR The user executing the script /.test(message)) return 'NOPERM'
  return /^[A-Z]{2,20}(?= )/.exec(message)?.[0]
}

/** Returns the code of Node.js or of a refusal, or the time-out. */
function causeOf(error: unknown): string | undefined {
  const { name, message, code, lastNodeError } = fieldsOf(error)
  if (lastNodeError !== undefined) return causeOf(lastNodeError)
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code
  if (name === 'ParserError') return 'PROTOCOL'
  return message === NO_ANSWER ? NO_ANSWER : redisRefusalCode(error)
}
