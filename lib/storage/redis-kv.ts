/** Keeps the store in Redis. Every command passes the guard of its server. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { redisFailureReason } from '../log/redis-failure-advice'
import type { Kv } from './kv'
import { inDatabase } from './redis-connection'
import { type GuardListener, RedisGuards } from './redis-guard'
import { type ScriptedRedis, withScripts } from './redis-scripts'

type Read = (keys: readonly string[]) => Promise<(string | null)[]>

/** Reads of the same turn of the event loop. */
interface Batch {
  readonly keys: string[]
  readonly values: Promise<(string | null)[]>
}

/**
 * Reads at once while no other read is in progress.
 * Otherwise joins all reads of a turn of the event loop to a single command, which saves both sides most of the work under load.
 * Not for a Cluster, where the keys of two sessions are in two slots.
 */
function batched(read: Read): Read {
  let inProgress = 0
  let batch: Batch | undefined
  const send = async (keys: readonly string[]) => {
    inProgress += 1
    try {
      return await read(keys)
    } finally {
      inProgress -= 1
    }
  }
  const sendBatch = async () => {
    await nextTurn()
    const { keys = [] } = batch ?? {}
    batch = undefined
    return send(keys)
  }
  const join = async (keys: readonly string[]) => {
    batch ??= { keys: [], values: sendBatch() }
    const from = batch.keys.push(...keys) - keys.length
    const values = await batch.values
    return values.slice(from, from + keys.length)
  }
  return (keys) => (inProgress === 0 ? send(keys) : join(keys))
}

/** Runs a command for a key, behind the guard of its server. */
type RunForKey = <T>(key: string, run: () => Promise<T>) => Promise<T>

function textsOf(redis: ScriptedRedis, run: RunForKey) {
  return {
    get: (key) => run(key, () => redis.get(key)),
    set: (key, value, seconds) => run(key, async () => void (await redis.set(key, value, 'EX', seconds))),
    add: (key, value, ms) => run(key, async () => (await redis.set(key, value, 'PX', Math.ceil(ms), 'NX')) === 'OK'),
    del: (key) => run(key, async () => void (await redis.del(key))),
    expire: (key, seconds) => run(key, async () => void (await redis.expire(key, seconds))),
    write: ({ record, data }, part, { value, seconds, isNew, otherSeconds }) =>
      run(record, async () => {
        const other = otherSeconds === undefined ? [] : [otherSeconds]
        const args = [part === 'record' ? 1 : 2, value, seconds, isNew ? 1 : 0, ...other]
        return (await redis.sso2Write(2, record, data, ...args)) === 1
      }),
    end: ({ record, data }, marker, seconds) =>
      run(record, async () => {
        const [was, taken] = await redis.sso2End(2, record, data, marker, seconds)
        return { record: was ?? null, data: taken ?? null }
      }),
    lock: (lock, record, value, ms) =>
      run(lock, async () => {
        const found = await redis.sso2Lock(2, lock, record, value, ms)
        if (typeof found === 'string') return { value: found }
        return found === 1 ? 'taken' : 'over'
      }),
  } satisfies Partial<Kv>
}

function setsOf(redis: ScriptedRedis, run: RunForKey) {
  return {
    addMember: (set, member, score, seconds) =>
      run(set, async () => {
        const replies = await redis.pipeline().zadd(set, score, member).expire(set, seconds).zcard(set).exec()
        const failure = replies?.find(([error]) => error)?.[0]
        if (failure) throw failure
        return Number(replies?.[2]?.[1])
      }),
    members: (set, most, max) => run(set, () => redis.zrangebyscore(set, '-inf', max ?? '+inf', 'LIMIT', 0, most)),
    removeMembers: (set, members) => run(set, async () => void (await redis.zrem(set, ...members))),
  } satisfies Partial<Kv>
}

/**
 * Returns a `Kv` over ioredis.
 * @param owned true if this package opened the connection. `close` then ends the connection too.
 * @param listener is notified of failures and recoveries
 * @param prefix begins the keys of probes
 */
export function redisKv(client: Redis | Cluster, owned: boolean, listener?: GuardListener, prefix = 'sso2:'): Kv {
  const redis = withScripts(client)
  const whenSelected = inDatabase(client)
  const guards = new RedisGuards(client, {
    prefix,
    probe: async (key) => {
      await whenSelected(() => redis.mget(key))
      await whenSelected(() => redis.sso2Probe(2, key, `${key}:absent`))
    },
    cut: owned ? () => (client as Redis).stream?.destroy() : undefined,
    listener,
  })
  const run: RunForKey = (key, command) => guards.run(key, () => whenSelected(command))
  const read: Read = (keys) => run(keys[0] ?? '', () => redis.mget(...keys))
  return {
    mget: client.isCluster ? read : batched(read),
    ...textsOf(redis, run),
    ...setsOf(redis, run),
    redis: { client, run },
    get isAvailable() {
      return guards.isAvailable
    },
    get failure() {
      return guards.failure && redisFailureReason(guards.failure)
    },
    probe: () => guards.probe(),
    close: async () => {
      guards.close()
      if (owned) client.disconnect()
    },
  }
}
