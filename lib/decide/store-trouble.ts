/** Why Redis does not answer, and what to look at: words for whoever runs the site. Pure. No message of Redis is quoted, for it may hold a command. */

const REACH = 'redis (REDIS_URL): does Redis run there, and does this machine reach it?'
const CREDENTIALS = 'user name, password and permissions in redis (REDIS_URL)'

/** By the word that a refusal begins with. */
const LOOKS: Readonly<Record<string, string>> = {
  NOAUTH: CREDENTIALS,
  WRONGPASS: CREDENTIALS,
  NOPERM: CREDENTIALS,
  READONLY: 'redis (REDIS_URL): this is a replica, which takes no writes',
  OOM: 'maxmemory of Redis: it is full',
  MISCONF: 'the disk of Redis: it takes no writes while it cannot save',
  NOREPLICAS: 'the replicas of Redis: it takes no writes without them',
  CLUSTERDOWN: 'the Redis Cluster: some of its slots are served by nobody',
  LOADING: 'Redis, which is still loading its data',
  ERR: 'the commands that Redis allows: MGET, SET, EVALSHA and those of sorted sets are needed, and no old version',
}

/** One line about a store that fails. */
export function storeTroubleOf(error: unknown): string {
  const reason = reasonOf(error)
  const look = (reason !== undefined && LOOKS[reason]) || REACH
  const what = `Redis does not answer as it should (${reason ?? 'no connection'}${placeOf(error)})`
  return `${what}: pages are served without their sessions, and nobody can log in. Look at ${look}`
}

interface Fields {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly address?: unknown
  readonly port?: unknown
  /** Of a Cluster, none of whose nodes answers. */
  readonly lastNodeError?: unknown
}

const fieldsOf = (error: unknown): Fields => (typeof error === 'object' && error !== null ? error : {})

/** A code of Node.js, the first word of a refusal, or that the time was up. */
function reasonOf(error: unknown): string | undefined {
  const { name, message, code, lastNodeError } = fieldsOf(error)
  if (lastNodeError !== undefined) return reasonOf(lastNodeError)
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code
  if (typeof message !== 'string') return undefined
  if (name === 'ReplyError') return /^[A-Z]{2,20}(?= )/.exec(message)?.[0]
  return message === NO_ANSWER ? NO_ANSWER : undefined
}

/** What the error of a command says whose time was up. */
export const NO_ANSWER = 'no answer in time'

function placeOf(error: unknown): string {
  const { address, port } = fieldsOf(error)
  return typeof address === 'string' && typeof port === 'number' ? ` ${address}:${port}` : ''
}
