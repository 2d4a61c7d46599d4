/**
 * Keeps the store in Redis. Each command has a deadline. After three commands without an answer, requests do not wait, and one probe a second
 * asks. In a Cluster each command is sent, because another master may answer it.
 */
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config'
import { withDeadline } from '../deadline'
import {
  hasCause,
  isRedisRefusal,
  isRefusedWrite,
  NO_ANSWER,
  type RedisFailure,
  redisFailureReason,
  redisRefusalCode,
} from '../log/redis-failure-advice'
import type { Kv, SessionKeys, SessionValues } from './kv'
import { storeUnavailable } from './site-store'

const COMMAND_MS = 300
const PROBE_EVERY_MS = 1000
const MAX_SILENCES = 3

const CONNECT_MS = 2000
/** A connection without data for so many milliseconds after a command is replaced. */
const SILENCE_MS = 1000
/** Maximum time for which an ending process waits for a Redis that does not answer. */
const DISCONNECT_MS = 300
/** At most once in so many milliseconds, a write refused by a replica makes a new connection. */
const DEMOTION_MS = 2000

/** KEYS record, data. ARGV part to write (1 or 2), value, seconds, is the ID new. The other part lives as long. A table is an error: no text. */
const WRITE = `
local record = redis.pcall('get', KEYS[1])
if type(record) == 'table' then return 0 end
if record then
  if string.sub(record, 1, 1) ~= '{' then return 0 end
elseif ARGV[4] == '0' and redis.call('exists', KEYS[2]) == 0 then return 0 end
redis.call('set', KEYS[tonumber(ARGV[1])], ARGV[2], 'EX', ARGV[3])
redis.call('expire', KEYS[3 - tonumber(ARGV[1])], ARGV[3])
return 1`
/** KEYS record, data. ARGV text of a session that is gone, seconds. */
const END = `
local record = redis.pcall('get', KEYS[1])
if type(record) == 'table' then record = false end
if record and string.sub(record, 1, 1) ~= '{' then return {record, false} end
local data = redis.call('get', KEYS[2])
if record or data then redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2]) end
redis.call('del', KEYS[2])
return {record, data}`
/** KEYS sorted set. ARGV score, member, seconds. */
const ADD_MEMBER = `
redis.call('zadd', KEYS[1], ARGV[1], ARGV[2])
redis.call('expire', KEYS[1], ARGV[3])
return redis.call('zcard', KEYS[1])`

/** A client of Redis with the scripts. No command of another client runs between the commands of a script. */
type ScriptedRedis = (Redis | Cluster) & {
  sso2Write(keys: 2, record: string, data: string, ...args: (string | number)[]): Promise<number>
  sso2End(
    keys: 2,
    record: string,
    data: string,
    goneText: string,
    seconds: number,
  ): Promise<[record: string | null, data: string | null]>
  sso2AddMember(keys: 1, set: string, score: number, member: string, seconds: number): Promise<number>
}

/** A `Kv` over ioredis. Listens to the errors of the client, so that the site does not need a listener. */
export class RedisKv implements Kv {
  readonly client: Redis | Cluster
  readonly #redis: ScriptedRedis
  readonly #isOwned: boolean
  readonly #probeKey: string
  readonly #log: Config['log']
  readonly #inDatabase: <T>(command: () => Promise<T>) => Promise<T>
  #silences = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  /** The last failure, until a probe has succeeded. */
  #failure: RedisFailure | undefined

  /** @param redis an address, whose connection ends with the store, or a client of the site. The keys of probes have its prefix, too */
  constructor(redis: string | Redis | Cluster, { prefix, log }: Pick<Config, 'prefix' | 'log'>) {
    const client = typeof redis === 'string' ? openRedis(redis) : redis
    client.defineCommand('sso2Write', { lua: WRITE })
    client.defineCommand('sso2End', { lua: END })
    client.defineCommand('sso2AddMember', { lua: ADD_MEMBER })
    this.client = client
    this.#redis = client as ScriptedRedis // defineCommand adds the methods, which the type cannot show
    this.#isOwned = typeof redis === 'string'
    this.#probeKey = `${prefix}probe:{any}`
    this.#log = log
    this.#inDatabase = inDatabase(client)
    client.on('error', this.#failed).on('ready', this.#tryAgain)
    if (client.status === 'ready') this.#tryAgain()
  }

  get(key: string): Promise<string | null> {
    return this.run(() => this.#redis.get(key))
  }
  mget(keys: readonly string[]): Promise<(string | null)[]> {
    return this.run(() => this.#redis.mget(...keys))
  }
  async set(key: string, value: string, seconds: number): Promise<void> {
    await this.run(() => this.#redis.set(key, value, 'EX', seconds))
  }
  async add(key: string, value: string, ms: number): Promise<boolean> {
    return (await this.run(() => this.#redis.set(key, value, 'PX', Math.ceil(ms), 'NX'))) === 'OK'
  }
  async del(...keys: string[]): Promise<void> {
    await this.run(() => this.#redis.del(...keys))
  }
  async expire(key: string, seconds: number): Promise<void> {
    await this.run(() => this.#redis.expire(key, seconds))
  }

  async write({ record, data }: SessionKeys, part: keyof SessionKeys, value: string, seconds: number, isNew = false) {
    const args = [part === 'record' ? 1 : 2, value, seconds, isNew ? 1 : 0]
    return (await this.run(() => this.#redis.sso2Write(2, record, data, ...args))) === 1
  }
  async end({ record, data }: SessionKeys, goneText: string, seconds: number): Promise<SessionValues> {
    const [was, taken] = await this.run(() => this.#redis.sso2End(2, record, data, goneText, seconds))
    return { record: was ?? null, data: taken ?? null }
  }

  addMember(set: string, member: string, score: number, seconds: number): Promise<number> {
    return this.run(() => this.#redis.sso2AddMember(1, set, score, member, seconds))
  }
  members(set: string, most: number, max?: number): Promise<string[]> {
    return this.run(() => this.#redis.zrangebyscore(set, '-inf', max ?? '+inf', 'LIMIT', 0, most))
  }
  async removeMembers(set: string, members: readonly string[]): Promise<void> {
    await this.run(() => this.#redis.zrem(set, ...members))
  }

  get isAvailable(): boolean {
    const { isCluster, status } = this.client
    if (isReconnecting(status) || status === 'end') return false
    return isCluster || (this.#silences < MAX_SILENCES && !isKnown(this.#failure))
  }
  get failure(): string | undefined {
    return this.#failure && redisFailureReason(this.#failure)
  }

  /** Runs a command of any library. @throws {Sso2UnavailableError} without an answer in time, or after a refusal */
  async run<T>(command: () => Promise<T>): Promise<T> {
    if (this.#silences >= MAX_SILENCES && !this.client.isCluster) throw storeUnavailable()
    return this.#send(command)
  }

  async probe(): Promise<void> {
    const key = this.#probeKey
    await this.#send(async () => {
      await this.#redis.mget(key)
      await this.#redis.sso2Write(2, key, `${key}:data`, 1, '{}', 60, 1)
    })
    this.#stopProbing()
    if (this.#failure)
      this.#log.recovered(
        'store',
        isRefusedWrite(this.#failure) ? 'Redis takes writes again.' : 'Redis responds again.',
      )
    this.#failure = undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.client.off('error', this.#failed).off('ready', this.#tryAgain)
    this.#stopProbing()
    if (this.#isOwned) this.client.disconnect()
  }

  async #send<T>(command: () => Promise<T>): Promise<T> {
    try {
      const reply = await withDeadline(this.#inDatabase(command), COMMAND_MS, NO_ANSWER)
      this.#silences = 0
      return reply
    } catch (error) {
      this.#silences = isRedisRefusal(error) ? 0 : this.#silences + 1
      this.#failed(error)
      throw storeUnavailable()
    }
  }

  /** A failure keeps its cause while later commands are silent. After a lost connection, the cause is known when the next one fails. */
  readonly #failed = (error: unknown): void => {
    if (this.#isClosed) return
    if (!this.#failure || isKnown({ error })) this.#failure = { error }
    if (hasCause(this.#failure) || !isReconnecting(this.client.status)) {
      const detail = redisFailureReason(this.#failure)
      const heading = isRefusedWrite(this.#failure) ? 'Redis refuses writes' : 'Redis does not respond'
      this.#log.warn(`store:${detail}`, heading, { detail })
    }
    this.#timer ??= setInterval(this.#tryAgain, PROBE_EVERY_MS).unref()
  }
  readonly #tryAgain = () => void this.probe().catch(() => {})

  #stopProbing(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const isReconnecting = (status: string) => status === 'close' || status === 'reconnecting'

/** Has the server refused a command, or the connection? */
const isKnown = (failure: RedisFailure | undefined) =>
  failure !== undefined && hasCause(failure) && (failure.error as Error).message !== NO_ANSWER

/**
 * Returns a function that runs commands in the configured database.
 * ioredis goes on in database 0 after a refused SELECT. So each connection is asked once more, and serves no command before it has agreed.
 */
function inDatabase(client: Redis | Cluster): <T>(command: () => Promise<T>) => Promise<T> {
  const { db = 0 } = client.isCluster ? {} : (client as Redis).options
  if (db === 0) return (command) => command()
  const redis = client as Redis
  let agreed: Redis['stream'] | undefined
  return async (command) => {
    const { stream } = redis
    if (stream === undefined || stream !== agreed || !stream.writable) {
      await redis.select(db)
      agreed = stream
    }
    return command()
  }
}

/**
 * Opens a connection that never hangs. Retries are bounded, and a command that may have run is not sent again.
 * Needs neither INFO nor CLIENT, which a proxy in front of Redis may not know.
 */
export function openRedis(address: string): Redis {
  const ioredis: typeof import('ioredis') = require('ioredis') // a site without Redis, or with its own client, does not load ioredis here
  let demotedAt = Number.NEGATIVE_INFINITY
  const redis = new ioredis.Redis(address, {
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disconnectTimeout: DISCONNECT_MS,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => 100 + Math.random() * 100,
    // the address may point to another master by now
    reconnectOnError: (error) => {
      if (redisRefusalCode(error) !== 'READONLY' || performance.now() - demotedAt < DEMOTION_MS) return false
      demotedAt = performance.now()
      return true
    },
  })
  redis.on('error', () => {}) // each command reports its own failure, and an unheard 'error' event would end the process
  return redis
}
