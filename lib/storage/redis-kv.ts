/**
 * Keeps the store in Redis. Each command has a deadline. After three commands without an answer, requests do not wait, and one probe a second
 * asks. In a Cluster each command is sent, because another master may answer it.
 */
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config'
import { withDeadline } from '../deadline'
import type { Kv, SessionKeys, SessionValues } from './kv'
import { isRedisRefusal, isRefusedWrite, NO_ANSWER, redisFailureReason } from './redis-failure'
import { storeUnavailable } from './site-store'

export const COMMAND_MS = 300
const PROBE_EVERY_MS = 1000
const MAX_SILENCES = 3

const CONNECT_MS = 2000
/** A connection without data for so many milliseconds after a command is replaced. */
const SILENCE_MS = 1000
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
/** KEYS record, data. ARGV seconds. */
const RENEW = `
local record = redis.pcall('get', KEYS[1])
if type(record) == 'string' and string.sub(record, 1, 1) ~= '{' then return end
for _, key in ipairs(KEYS) do redis.call('expire', key, ARGV[1]) end`
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

type Script<T> = (keys: number, ...keysAndArgs: (string | number)[]) => Promise<T>
/** A client of Redis with the scripts. No command of another client runs between the commands of a script. */
type ScriptedRedis = (Redis | Cluster) & {
  readonly sso2Write: Script<number>
  readonly sso2Renew: Script<null>
  readonly sso2End: Script<[record: string | null, data: string | null]>
  readonly sso2AddMember: Script<number>
}

/** A `Kv` over ioredis. Listens to the errors of the client, so that the site does not need a listener. */
export class RedisKv implements Kv {
  readonly client: ScriptedRedis
  /** Name of the last failure with a known cause, else of any failure, until a probe has succeeded. */
  failure: string | undefined
  readonly #isOwned: boolean
  readonly #probeKey: string
  readonly #log: Config['log']
  /** In a row. None is counted in a Cluster, because another master may answer. */
  #silences = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  /** The connection that has agreed to serve the configured database. */
  #connectionInDatabase: Redis['stream'] | undefined

  /** @param redis an address, whose connection ends with the store, or a client of the site. The keys of probes have its prefix, too */
  constructor(redis: string | Redis | Cluster, { prefix, log }: Pick<Config, 'prefix' | 'log'>) {
    const client = typeof redis === 'string' ? openRedis(redis) : redis
    client.defineCommand('sso2Write', { lua: WRITE })
    client.defineCommand('sso2Renew', { lua: RENEW })
    client.defineCommand('sso2End', { lua: END })
    client.defineCommand('sso2AddMember', { lua: ADD_MEMBER })
    this.client = client as ScriptedRedis // defineCommand adds the methods, which the type cannot show
    this.#isOwned = typeof redis === 'string'
    this.#probeKey = `${prefix}probe:{any}`
    this.#log = log
    client.on('error', this.#failed).on('ready', this.#tryAgain)
    if (client.status === 'ready') this.#tryAgain()
  }

  get(key: string): Promise<string | null> {
    return this.run(() => this.client.get(key))
  }
  mget(keys: readonly string[]): Promise<(string | null)[]> {
    return this.run(() => this.client.mget(...keys))
  }
  async set(key: string, value: string, seconds: number): Promise<void> {
    await this.run(() => this.client.set(key, value, 'EX', seconds))
  }
  async add(key: string, value: string, ms: number): Promise<boolean> {
    return (await this.run(() => this.client.set(key, value, 'PX', Math.ceil(ms), 'NX'))) === 'OK'
  }
  async del(...keys: string[]): Promise<void> {
    await this.run(() => this.client.del(...keys))
  }

  async write({ record, data }: SessionKeys, part: keyof SessionKeys, value: string, seconds: number, isNew = false) {
    const args = [part === 'record' ? 1 : 2, value, seconds, isNew ? 1 : 0]
    return (await this.run(() => this.client.sso2Write(2, record, data, ...args))) === 1
  }
  async renew({ record, data }: SessionKeys, seconds: number): Promise<void> {
    await this.run(() => this.client.sso2Renew(2, record, data, seconds))
  }
  async end({ record, data }: SessionKeys, goneText: string, seconds: number): Promise<SessionValues> {
    const [was, taken] = await this.run(() => this.client.sso2End(2, record, data, goneText, seconds))
    return { record: was, data: taken }
  }

  addMember(set: string, member: string, score: number, seconds: number): Promise<number> {
    return this.run(() => this.client.sso2AddMember(1, set, score, member, seconds))
  }
  members(set: string, most: number, max?: number): Promise<string[]> {
    return this.run(() => this.client.zrangebyscore(set, '-inf', max ?? '+inf', 'LIMIT', 0, most))
  }
  async removeMembers(set: string, members: readonly string[]): Promise<void> {
    await this.run(() => this.client.zrem(set, ...members))
  }

  get isAvailable(): boolean {
    const { isCluster, status } = this.client
    if (isReconnecting(status) || status === 'end') return false
    if (isCluster) return true // another master may answer
    return this.#silences < MAX_SILENCES && (this.failure === undefined || this.failure === NO_ANSWER)
  }

  /** Runs a command of any library. @throws {Sso2UnavailableError} without an answer in time, or after a refusal */
  async run<T>(command: () => Promise<T>): Promise<T> {
    if (this.#silences >= MAX_SILENCES) throw storeUnavailable()
    return this.#send(command)
  }

  async probe(): Promise<void> {
    const key = this.#probeKey
    await this.#send(() => {
      const written = this.client.sso2Write(2, key, `${key}:data`, 1, '{}', 60, 1)
      return Promise.all([this.client.mget(key), written]) // at once, because the deadline is that of one command
    })
    this.#stopProbing()
    this.failure = undefined
    this.#log.recovered('store', 'Redis works again.')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.client.off('ready', this.#tryAgain)
    this.#stopProbing()
    if (this.#isOwned)
      this.client.disconnect() // errors until its end are heard, or ioredis would print them
    else this.client.off('error', this.#failed)
  }

  async #send<T>(command: () => Promise<T>): Promise<T> {
    try {
      const reply = await withDeadline(this.#inDatabase(command), COMMAND_MS, NO_ANSWER)
      this.#silences = 0
      return reply
    } catch (error) {
      if (isRedisRefusal(error)) this.#silences = 0
      else if (!this.client.isCluster) this.#silences += 1
      this.#failed(error)
      throw storeUnavailable()
    }
  }

  /** ioredis goes on in database 0 after a refused SELECT. So each connection is asked once more, before its first command. */
  async #inDatabase<T>(command: () => Promise<T>): Promise<T> {
    const { stream, options } = this.client as Redis
    if (options.db && (stream !== this.#connectionInDatabase || !stream?.writable)) {
      await this.client.select(options.db)
      this.#connectionInDatabase = stream
    }
    gatherWrites(this.client as Redis)
    return command()
  }

  /** After a lost connection, the log waits for the cause, which is known when the next connection fails. */
  readonly #failed = (error: unknown): void => {
    if (this.#isClosed) return
    const reason = redisFailureReason(error)
    if (reason !== NO_ANSWER) this.failure = reason
    this.failure ??= NO_ANSWER
    if (this.failure !== NO_ANSWER || !isReconnecting(this.client.status)) {
      const heading = isRefusedWrite(this.failure) ? 'Redis refuses writes' : 'Redis does not respond'
      this.#log.warn(`store:${this.failure}`, heading, { detail: this.failure })
    }
    this.#timer ??= setInterval(this.#tryAgain, PROBE_EVERY_MS).unref()
  }
  readonly #tryAgain = () => void this.probe().catch(() => {})

  #stopProbing(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** Commands of one turn of the event loop leave in one write, because each write costs as much as the rest of a command. A Cluster has no stream. */
function gatherWrites({ stream }: Partial<Redis>): void {
  if (!stream || stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}

const isReconnecting = (status: string) => status === 'close' || status === 'reconnecting'

/**
 * Opens a connection that never hangs. Retries are bounded, and a command that may have run is not sent again.
 * Needs neither INFO nor CLIENT, which a proxy in front of Redis may not know.
 */
export function openRedis(address: string): Redis {
  const ioredis: typeof import('ioredis') = require('ioredis') // a site without Redis, or with its own client, does not load ioredis here
  let demotedAt = Number.NEGATIVE_INFINITY
  return new ioredis.Redis(address, {
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => 100 + Math.random() * 100,
    // the address may point to another master by now
    reconnectOnError: (error) => {
      if (redisFailureReason(error) !== 'READONLY' || performance.now() - demotedAt < DEMOTION_MS) return false
      demotedAt = performance.now()
      return true
    },
  })
}
