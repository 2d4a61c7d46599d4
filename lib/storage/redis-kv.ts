/** Keeps the store in Redis. Every command passes the guard of its server. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { redisFailureReason } from '../decide/redis-failure-advice'
import { type Kv, MAX_CANDIDATES, MORE_CANDIDATES } from './kv'
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

const expected = (before: string | null | undefined) => [
  before === undefined ? 'any' : before === null ? 'none' : 'value',
  before ?? '',
]

/** Runs a command for a key, behind the guard of its server. */
type RunForKey = <T>(key: string, run: () => Promise<T>) => Promise<T>

function textsOf(redis: ScriptedRedis, runForKey: RunForKey) {
  return {
    compareAndSet: (key, before, after, seconds, other, maxSecondsLeft) =>
      runForKey(key, async () => {
        const keys = other ? [key, other.key] : [key]
        const life = after === null ? 0 : seconds
        const then = other ? [other.action, other.action === 'renew' ? other.seconds : 0] : ['', 0]
        const most = maxSecondsLeft === undefined ? [] : [maxSecondsLeft * 1000]
        const args = [...keys, ...expected(before), after ?? '', life, ...then, ...most]
        const [isDone, value, msLeft = 0, held] = await redis.sso2CompareAndSet(keys.length, ...args)
        return { isDone: isDone === 1, value: value ?? null, secondsLeft: msLeft / 1000, other: held ?? null }
      }),
    setUnlessMarker: (key, markerKey, value, seconds) =>
      runForKey(key, async () => (await redis.sso2SetUnlessMarker(2, key, markerKey, value, seconds)) === 1),
    del: (key) => runForKey(key, async () => void (await redis.del(key))),
    expire: (key, seconds) => runForKey(key, async () => void (await redis.expire(key, seconds))),
  } satisfies Partial<Kv>
}

function setsOf(redis: ScriptedRedis, runForKey: RunForKey) {
  return {
    addEntry: (index, member, { until, now, max }, revocation) =>
      runForKey(index, async () => {
        const args = [index, revocation, member, until, now, max, MORE_CANDIDATES, MAX_CANDIDATES]
        const [age, size, oldest] = await redis.sso2AddEntry(2, ...args)
        return { revokedAgeMs: age === null ? null : age / 1000, size, oldest }
      }),
    renewEntry: (index, member, until, now) =>
      runForKey(index, async () => void (await redis.sso2RenewEntry(1, index, member, until, now))),
    revokeAndList: (revocation, seconds, index, { now, member, most }) =>
      runForKey(index, () => redis.sso2RevokeAndList(2, index, revocation, seconds, now, member, most)),
    enqueue: (queue, entry, due) => runForKey(queue, async () => void (await redis.zadd(queue, due, entry))),
    enqueueOnce: (queue, entry, due) => runForKey(queue, async () => void (await redis.zadd(queue, 'NX', due, entry))),
    takeDue: (queue, { now, latest }, next, most) =>
      runForKey(queue, () => redis.sso2TakeDue(1, queue, now, next, most, latest)),
    remove: (set, members) => runForKey(set, async () => void (await redis.zrem(set, ...members))),
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
  const guards = new RedisGuards(
    client,
    {
      prefix,
      read: async (key) => (await whenSelected(() => redis.mget(key)))[0] !== null,
      write: (key) => whenSelected(() => redis.sso2Probe(2, key, `${key}:absent`)),
      cut: owned ? () => (client as Redis).stream?.destroy() : undefined,
    },
    listener,
  )
  const run: RunForKey = (key, command) => guards.run(key, () => whenSelected(command))
  const read: Read = (keys) => run(keys[0] ?? '', () => redis.mget(...keys))
  return {
    mget: (client.isCluster ? read : batched(read)) as Kv['mget'], // Redis answers with a value for each key
    ...textsOf(redis, run),
    ...setsOf(redis, run),
    redis: { client, run },
    isOnSameServer: (key, other) => guards.ownerOf(key) === guards.ownerOf(other),
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
