/**
 * Says why a command or connection of Redis failed, and what the site's team can check. Pure.
 * Quotes no message of Redis, because a message may hold a command.
 */
import { LOG_LINES, type LogLine } from './log-lines'

/** Kind of a command. Both kinds have their own state, because a Redis that is full or read-only still serves reads. */
export type Access = 'read' | 'write'

/** A failure of Redis. */
export interface RedisFailure {
  readonly error: unknown
  /** The kind of command that Redis refused. `undefined` if Redis did not answer. */
  readonly access?: Access | undefined
  readonly node?: string | undefined
}

/** Message of the error of a command that Redis did not answer in time. */
export const NO_ANSWER = 'no answer in time'

const ADDRESS = 'that Redis runs at redis (REDIS_URL), and that this machine reaches it'
const CREDENTIALS = 'username and password in redis (REDIS_URL), and the permissions of that user'

const CHECKS: Readonly<Record<string, string>> = {
  NOAUTH: CREDENTIALS,
  WRONGPASS: CREDENTIALS,
  NOPERM: CREDENTIALS,
  READONLY: 'redis (REDIS_URL): it names a replica, which accepts no writes',
  OOM: 'the memory of Redis (maxmemory): it is full',
  MISCONF: 'the disk of Redis: Redis accepts no writes while it cannot save',
  NOREPLICAS: 'the replicas of Redis: Redis accepts no writes without them',
  CLUSTERDOWN: 'the Redis Cluster: some of its slots have no master',
  LOADING: 'whether Redis is still loading its data',
  ERR: 'the version of Redis, and that it allows MGET, SET, EVALSHA and the commands of sorted sets',
}

interface Fields {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly address?: unknown
  readonly port?: unknown
  /** The error of a Cluster in which no node answers. */
  readonly lastNodeError?: unknown
  readonly previousErrors?: unknown
}

const errorFields = (error: unknown): Fields => (typeof error === 'object' && error !== null ? error : {})

/** Has Redis refused the command? Then Redis answers. */
export const isRedisRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError'

/** Does the failure name its cause? The failure of a command without a connection has no cause. */
export const hasCause = ({ error }: RedisFailure): boolean => redisErrorCode(error) !== undefined

/**
 * Names the cause of a failure in a short form that stays the same, for `storeReason` of `health()`: `'writes refused: OOM'`,
 * `'reads refused: NOAUTH'`, `'ECONNREFUSED'`, `'no answer in time'` or `'no connection'`. A node of a Cluster follows: `'ECONNREFUSED (10.0.0.1:6379)'`.
 */
export function redisFailureReason({ error, access, node }: RedisFailure): string {
  const code = redisErrorCode(error)
  const refusal = code === undefined ? `${access}s refused` : `${access}s refused: ${code}`
  const cause = access === undefined ? (code ?? 'no connection') : refusal
  return node === undefined ? cause : `${cause} (${node})`
}

/** Describes a failure of Redis, with its effect on users and what to check. */
export function redisFailureAdvice(failure: RedisFailure): LogLine {
  const code = redisErrorCode(failure.error)
  const line = failure.access === 'write' ? LOG_LINES.redisRefusesWrites : LOG_LINES.redisRefusesReads
  const happened = `${line.happened} (${redisFailureReason(failure)}${nodeName(failure)})`
  return { ...line, happened, check: (code !== undefined && CHECKS[code]) || ADDRESS }
}

/** Returns the code of Node.js or of a refusal, or the time-out. */
function redisErrorCode(error: unknown): string | undefined {
  const { name, message, code, lastNodeError, previousErrors } = errorFields(error)
  if (lastNodeError !== undefined) return redisErrorCode(lastNodeError)
  if (Array.isArray(previousErrors) && previousErrors.length > 0) return redisErrorCode(previousErrors[0])
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code
  if (typeof message !== 'string') return undefined
  if (name === 'ReplyError') return refusalCode(message)
  return message === NO_ANSWER ? NO_ANSWER : undefined
}

/** Returns the code of a refusal. Redis 7.0 and older say `ERR` if a script of the Redis user may not run a command. */
function refusalCode(message: string): string | undefined {
  if (/^ERR The user executing the script /.test(message)) return 'NOPERM'
  return /^[A-Z]{2,20}(?= )/.exec(message)?.[0]
}

/** Returns the address of a connection, if the failure does not name a node. */
function nodeName({ error, node }: RedisFailure): string {
  const { address, port } = errorFields(error)
  return node === undefined && typeof address === 'string' && typeof port === 'number' ? ` ${address}:${port}` : ''
}
