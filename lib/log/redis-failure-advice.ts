/**
 * Says why a command or connection of Redis failed, and what the site's team can check. Pure.
 * Quotes no message of Redis, because a message may hold a command. Of the message, only the name of a command is used.
 */
import { LOG_LINES, type LogLine, RECOVERIES } from './log-lines'

/** A failure of Redis. */
export interface RedisFailure {
  readonly error: unknown
  /** The master of a Cluster. */
  readonly node?: string | undefined
}

/** Message of the error of a command that Redis did not answer in time. */
export const NO_ANSWER = 'no answer in time'
/** Code of a server that answers, but not in the protocol of Redis. */
const NOT_REDIS = 'PROTOCOL'

const READS: ReadonlySet<string> = new Set(['GET', 'MGET'])
/** Commands with which ioredis sets up a connection. */
const SET_UP: ReadonlySet<string> = new Set(['AUTH', 'SELECT', 'INFO', 'CLUSTER', 'HELLO', 'READONLY'])

const CREDENTIALS = 'username and password in redis (REDIS_URL)'
const SCHEME = 'the scheme of redis (REDIS_URL): rediss:// for a port with TLS, redis:// for a port without'
const ADDRESS = `that Redis runs at redis (REDIS_URL), that this machine reaches it, and ${SCHEME}`
const AUTHORITY = 'the certificate of Redis. NODE_EXTRA_CA_CERTS=/path/to/ca.pem names an authority of your own'
const LIST = '"Permissions" in docs/deployment.md lists the commands'

const CHECKS: Readonly<Record<string, string>> = {
  NOAUTH: CREDENTIALS,
  WRONGPASS: CREDENTIALS,
  READONLY: 'redis (REDIS_URL): it names a replica, which accepts no writes',
  OOM: 'the memory of Redis (maxmemory): it is full',
  MISCONF: 'the disk of Redis: Redis accepts no writes while it cannot save',
  NOREPLICAS: 'the replicas of Redis: Redis accepts no writes without them',
  CLUSTERDOWN: 'the Redis Cluster: some of its slots have no master',
  LOADING: 'whether Redis is still loading its data',
  [NOT_REDIS]: SCHEME,
  EPROTO: SCHEME,
  CERT_HAS_EXPIRED: 'the certificate of Redis: it has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the host in redis (REDIS_URL): the certificate of Redis has another name',
}

interface Fields {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly address?: unknown
  readonly port?: unknown
  /** Of a refusal. */
  readonly command?: { readonly name?: unknown } | undefined
  /** The error of a Cluster in which no node answers. */
  readonly lastNodeError?: unknown
}

const fieldsOf = (error: unknown): Fields => (typeof error === 'object' && error !== null ? error : {})
const messageOf = (error: unknown) => String(fieldsOf(error).message ?? '')

/** Has Redis refused the command? Then Redis answers. */
export const isRedisRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError'

/** Does the failure name its cause? The failure of a command without a connection has no cause. */
export const hasCause = ({ error }: RedisFailure): boolean => causeOf(error) !== undefined

/**
 * Names the cause of a failure in a short form that stays the same, for `storeReason` of `health()`: `'writes refused: OOM'`,
 * `'reads refused: NOAUTH'`, `'SELECT refused: ERR'`, `'ECONNREFUSED'`, `'no answer in time'` or `'no connection'`. A node of a Cluster
 * follows: `'ECONNREFUSED (10.0.0.1:6379)'`.
 */
export function redisFailureReason({ error, node }: RedisFailure): string {
  const cause = causeOf(error)
  const refusal = [`${refusedKind(error)} refused`, ...(cause === undefined ? [] : [cause])].join(': ')
  const reason = isRedisRefusal(error) ? refusal : (cause ?? 'no connection')
  return node === undefined ? reason : `${reason} (${node})`
}

/** Describes a failure of Redis, with its effect on users and what to check. */
export function redisFailureAdvice(failure: RedisFailure): LogLine {
  const { error, node } = failure
  const isOfWrites = isRedisRefusal(error) && refusedKind(error) === 'writes'
  const line = isOfWrites ? LOG_LINES.redisRefusesWrites : LOG_LINES.redisRefusesReads
  const happened = `${line.happened} (${redisFailureReason(failure)}${nodeName(failure)})`
  const users = node === undefined ? line.users : `${line.users}. Only users with data on this master are affected`
  return { ...line, happened, users, check: checkOf(error) }
}

/** Returns the line that says that a failure is over. */
export const redisRecovery = ({ error }: RedisFailure): string =>
  isRedisRefusal(error) && refusedKind(error) === 'writes' ? RECOVERIES.redisWrites : RECOVERIES.redis

function checkOf(error: unknown): string {
  const cause = causeOf(error) ?? ''
  if (commandOf(error) === 'SELECT')
    return 'that the database number in redis (REDIS_URL) exists, and that the user may run SELECT'
  if (cause === 'NOPERM') return permissionCheck(error)
  if (cause === 'ERR') return unknownCommandCheck(error)
  if (/^ERR_SSL_/.test(cause)) return SCHEME
  if (/CERT|LEAF_SIGNATURE/.test(cause)) return CHECKS[cause] ?? AUTHORITY
  return CHECKS[cause] ?? ADDRESS
}

function permissionCheck(error: unknown): string {
  if (/\bkeys?\b/.test(messageOf(error)))
    return 'the permissions of the Redis user: it needs all keys that begin with session.prefix'
  const command = namedCommand(error)
  const refused = command === undefined ? 'ACL LOG names the refused command' : `it may not run ${command}`
  return `the permissions of the Redis user: ${refused}. ${LIST}`
}

function unknownCommandCheck(error: unknown): string {
  const command = namedCommand(error)
  if (command === undefined) return `the version of Redis, and that it allows all commands. ${LIST}`
  const way = command === 'INFO' ? ', or set enableReadyCheck: false' : ''
  return `that Redis, and a proxy in front of it, know ${command}${way}. ${LIST}`
}

/** Returns the command that the message of a refusal names. */
function namedCommand(error: unknown): string | undefined {
  return /(?:run the|unknown command) ['`]([a-z]+)/i.exec(messageOf(error))?.[1]?.toUpperCase()
}

/** Returns the command that was sent. */
function commandOf(error: unknown): string | undefined {
  const sent = fieldsOf(error).command?.name
  return typeof sent === 'string' ? sent.toUpperCase() : undefined
}

function refusedKind(error: unknown): string {
  const command = commandOf(error)
  if (command === undefined) return 'commands'
  if (SET_UP.has(command)) return command
  return READS.has(command) ? 'reads' : 'writes'
}

/** Returns the code of a refusal, for example `'OOM'`. Redis 7.0 and older say `ERR` if a script of the Redis user may not run a command. */
export function redisRefusalCode(error: unknown): string | undefined {
  if (!isRedisRefusal(error)) return undefined
  const message = messageOf(error)
  if (/^ERR The user executing the script /.test(message)) return 'NOPERM'
  return /^[A-Z]{2,20}(?= )/.exec(message)?.[0]
}

/** Returns the code of Node.js or of a refusal, or the time-out. */
function causeOf(error: unknown): string | undefined {
  const { name, message, code, lastNodeError } = fieldsOf(error)
  if (lastNodeError !== undefined) return causeOf(lastNodeError)
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code
  if (name === 'ParserError') return NOT_REDIS
  return message === NO_ANSWER ? NO_ANSWER : redisRefusalCode(error)
}

/** Returns the address of a connection, if the failure does not name a node. */
function nodeName({ error, node }: RedisFailure): string {
  const { address, port } = fieldsOf(error)
  return node === undefined && typeof address === 'string' && typeof port === 'number' ? ` ${address}:${port}` : ''
}
