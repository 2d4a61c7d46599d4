/** Keeps the store in Redis. Every command passes the guard. */
import type { Cluster, Redis } from 'ioredis'
import { redisFailureReason } from '../log/redis-failure-advice'
import type { Kv, SessionKeys, SessionValues, SessionWrite } from './kv'
import { type GuardListener, RedisGuard } from './redis-guard'

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
/** KEYS lock, record. ARGV value, milliseconds. */
const LOCK = `
local found = redis.call('get', KEYS[1])
if found then return found end
local record = redis.call('get', KEYS[2])
if not record or string.sub(record, 1, 1) ~= '{' then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`

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
  sso2Lock(keys: 2, lock: string, record: string, value: string, ms: number): Promise<number | string>
}

/** A `Kv` over ioredis. */
export class RedisKv implements Kv {
  readonly #redis: ScriptedRedis
  readonly #isOwned: boolean
  readonly #guard: RedisGuard
  readonly redis: NonNullable<Kv['redis']>

  /**
   * @param isOwned has this package opened the connection? Then `close` ends it
   * @param listener is notified of failures and recoveries
   * @param prefix begins the keys of probes
   */
  constructor(client: Redis | Cluster, isOwned: boolean, listener?: GuardListener, prefix = 'sso2:') {
    client.defineCommand('sso2Write', { lua: WRITE })
    client.defineCommand('sso2End', { lua: END })
    client.defineCommand('sso2Lock', { lua: LOCK })
    const redis = client as ScriptedRedis // defineCommand adds the methods, which the type cannot show
    const whenSelected = inDatabase(client)
    const probe = (key: string) =>
      whenSelected(async () => {
        await redis.mget(key)
        await redis.sso2Write(2, key, `${key}:data`, 1, '{}', 60, 1)
      })
    this.#redis = redis
    this.#isOwned = isOwned
    this.#guard = new RedisGuard(client, { prefix, probe, listener })
    this.redis = { client, run: (key, command) => this.#guard.run(key, () => whenSelected(command)) }
  }

  get(key: string): Promise<string | null> {
    return this.redis.run(key, () => this.#redis.get(key))
  }
  mget(keys: readonly string[]): Promise<(string | null)[]> {
    return this.redis.run(keys[0] ?? '', () => this.#redis.mget(...keys))
  }
  async set(key: string, value: string, seconds: number): Promise<void> {
    await this.redis.run(key, () => this.#redis.set(key, value, 'EX', seconds))
  }
  async add(key: string, value: string, ms: number): Promise<boolean> {
    return (await this.redis.run(key, () => this.#redis.set(key, value, 'PX', Math.ceil(ms), 'NX'))) === 'OK'
  }
  async del(key: string): Promise<void> {
    await this.redis.run(key, () => this.#redis.del(key))
  }
  async expire(key: string, seconds: number): Promise<void> {
    await this.redis.run(key, () => this.#redis.expire(key, seconds))
  }

  async write({ record, data }: SessionKeys, part: keyof SessionKeys, write: SessionWrite): Promise<boolean> {
    const { value, seconds, isNew } = write
    const args = [part === 'record' ? 1 : 2, value, seconds, isNew ? 1 : 0]
    return (await this.redis.run(record, () => this.#redis.sso2Write(2, record, data, ...args))) === 1
  }
  async end({ record, data }: SessionKeys, goneText: string, seconds: number): Promise<SessionValues> {
    const [was, taken] = await this.redis.run(record, () => this.#redis.sso2End(2, record, data, goneText, seconds))
    return { record: was ?? null, data: taken ?? null }
  }
  async lock(lock: string, record: string, value: string, ms: number) {
    const found = await this.redis.run(lock, () => this.#redis.sso2Lock(2, lock, record, value, ms))
    if (typeof found === 'string') return { value: found }
    return found === 1 ? 'taken' : 'ended'
  }

  async addMember(set: string, member: string, score: number, seconds: number): Promise<number> {
    return this.redis.run(set, async () => {
      const replies = await this.#redis.pipeline().zadd(set, score, member).expire(set, seconds).zcard(set).exec()
      const failure = replies?.find(([error]) => error)?.[0]
      if (failure) throw failure
      return Number(replies?.[2]?.[1])
    })
  }
  members(set: string, most: number, max?: number): Promise<string[]> {
    return this.redis.run(set, () => this.#redis.zrangebyscore(set, '-inf', max ?? '+inf', 'LIMIT', 0, most))
  }
  async removeMembers(set: string, members: readonly string[]): Promise<void> {
    await this.redis.run(set, () => this.#redis.zrem(set, ...members))
  }

  get isAvailable(): boolean {
    return this.#guard.isAvailable
  }
  get failure(): string | undefined {
    return this.#guard.failure && redisFailureReason(this.#guard.failure)
  }
  probe(): Promise<void> {
    return this.#guard.probe()
  }
  async close(): Promise<void> {
    this.#guard.close()
    if (this.#isOwned) this.redis.client.disconnect()
  }
}

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
