/** The store in Redis: every command has a deadline, and a breaker spares requests a server that does not answer. */
import { type Cluster, Redis } from 'ioredis'
import { redisFailureReason } from '../decide/redis-failure-advice'
import { type Kv, MAX_CANDIDATES, MORE_CANDIDATES } from './kv'
import { withScripts } from './redis-scripts'
import { type Probing, RedisServers, type ServersListener } from './redis-servers'

const CONNECT_MS = 2000
/** A Redis that hangs does not keep a process from its end for longer. */
const DISCONNECT_MS = 300

/** Opens a connection that never hangs: bounded retries, no endless queue, no second sending of a command that may have run. */
export function openRedis(address: string): Redis {
  const redis = new Redis(address, {
    connectTimeout: CONNECT_MS,
    disconnectTimeout: DISCONNECT_MS,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(1000, 50 * attempt) + Math.random() * 50,
  })
  redis.on('error', () => {}) // each command reports its own failure; an unheard 'error' event would end the process
  return redis
}

/** @param asked how many requests wait for it, default 1 */
type Read = (keys: readonly string[], asked?: number) => Promise<(string | null)[]>

/**
 * At once when nothing is under way; else all reads of one turn of the event loop in one command, which spares both sides
 * most of the work under load. Not on a Cluster, where the keys of two sessions stand in two slots.
 */
function batched(read: Read): Read {
  let underWay = 0
  let waiting: {
    keys: readonly string[]
    resolve: (values: (string | null)[]) => void
    reject: (error: unknown) => void
  }[] = []
  const send = async (keys: readonly string[], asked?: number) => {
    underWay += 1
    try {
      return await read(keys, asked)
    } finally {
      underWay -= 1
    }
  }
  const sendAll = () => {
    const batch = waiting
    waiting = []
    send(
      batch.flatMap(({ keys }) => keys),
      batch.length,
    ).then(
      (values) => {
        let from = 0
        for (const { keys, resolve } of batch) {
          resolve(values.slice(from, from + keys.length))
          from += keys.length
        }
      },
      (error) => {
        for (const { reject } of batch) reject(error)
      },
    )
  }
  return (keys) => {
    if (underWay === 0) return send(keys)
    return new Promise((resolve, reject) => {
      waiting.push({ keys, resolve, reject })
      if (waiting.length === 1) setImmediate(sendAll)
    })
  }
}

/** Reads keys of one session or, on one server, of as many as ask at once. */
function readerOf(redis: Redis | Cluster, servers: RedisServers): Read {
  const read: Read = (keys, asked) => servers.of(keys[0] ?? '').read(() => redis.mget(...keys), asked)
  return redis.isCluster ? read : batched(read)
}

/** Probes are a read and a script, as the commands of requests are. */
const probing = (redis: ReturnType<typeof withScripts>, prefix: string): Probing => ({
  prefix,
  send: (access, key) => (access === 'read' ? redis.mget(key) : redis.sso2Probe(1, key)),
})

/** What a script compares with: whether there was a value, and which. */
const expected = (before: string | null) => [before === null ? '0' : '1', before ?? '']

/** Runs commands for a key, behind the guard of its server. */
type At = <T>(key: string, run: () => Promise<T>) => Promise<T>

/** What locks and limits of logins need. */
function countsOver(
  redis: ReturnType<typeof withScripts>,
  at: At,
): Pick<Kv, 'increment' | 'setOrRead' | 'addToCounts' | 'takeFromCounts'> {
  return {
    increment: (key, seconds) => at(key, () => redis.sso2Increment(1, key, seconds)),
    setOrRead: (key, before, after, seconds) =>
      at(key, async () => {
        const done = await redis.sso2SetOrRead(1, key, ...expected(before), after, seconds)
        if (done === 1) return 'done'
        const [value = null, ms = 0] = done
        return { value, secondsLeft: ms / 1000 }
      }),
    addToCounts: (counts, seconds, window, kept) =>
      at(counts[0]?.key ?? '', async () => {
        const limits = counts.map(({ limit }) => limit)
        const args = [...counts.map(({ key }) => key), seconds, window, kept, ...limits]
        const [spent, left] = await redis.sso2AddToCounts(counts.length, ...args)
        return typeof left === 'number' ? { spent: spent - 1, secondsLeft: left / 1000 } : { windows: left }
      }),
    takeFromCounts: (keys, windows) =>
      at(keys[0] ?? '', async () => void (await redis.sso2TakeFromCounts(keys.length, ...keys, ...windows))),
  }
}

/** Values that change only in one step with what was read. */
function valuesOf(redis: ReturnType<typeof withScripts>, at: At) {
  return {
    compareAndSet: (key, before, after, seconds, renewed) =>
      at(key, async () => {
        const [keys, lives] = renewed ? [[key, renewed.key], [renewed.seconds]] : [[key], []]
        const args = [...keys, ...expected(before), after, seconds, ...lives]
        return (await redis.sso2CompareAndSet(keys.length, ...args)) === 1
      }),
    compareAndTake: (key, before, after, seconds, taken) =>
      at(key, async () => {
        const found = await redis.sso2CompareAndTake(2, key, taken, ...expected(before), after, seconds)
        return typeof found === 'number' ? false : { taken: found[0] ?? null }
      }),
    overwrite: (key, value, seconds, alsoDelete) =>
      at(key, async () => {
        if (alsoDelete) await redis.sso2Overwrite(2, key, alsoDelete, value, seconds)
        else await redis.set(key, value, 'EX', seconds)
      }),
    setUnlessDead: (key, guardKey, value, seconds) =>
      at(key, async () => (await redis.sso2SetUnlessDead(2, key, guardKey, value, seconds)) === 1),
  } satisfies Partial<Kv>
}

/** Lists and queues. */
function listsOf(redis: ReturnType<typeof withScripts>, at: At) {
  return {
    enlist: (list, member, { until, now, max }, mark) =>
      at(list, async () => {
        const args = [list, mark, member, until, now, max, MORE_CANDIDATES, MAX_CANDIDATES]
        const [age, size, oldest] = await redis.sso2Enlist(2, ...args)
        return { markAgeMs: age === null ? null : age / 1000, size, oldest }
      }),
    renewEntry: (list, member, until, now) =>
      at(list, async () => void (await redis.sso2RenewEntry(1, list, member, until, now))),
    markAndList: (mark, seconds, list, { now, member, most }) =>
      at(list, () => redis.sso2MarkAndList(2, list, mark, seconds, now, member, most)),
    unlist: (list, members) => at(list, async () => void (await redis.zrem(list, ...members))),
    enqueue: (queue, entry, due) => at(queue, async () => void (await redis.zadd(queue, due, entry))),
    enqueueOnce: (queue, entry, due) => at(queue, async () => void (await redis.zadd(queue, 'NX', due, entry))),
    takeDue: (queue, { now, latest }, next, most) =>
      at(queue, () => redis.sso2TakeDue(1, queue, now, next, most, latest)),
    hasten: (queue, after, due) => at(queue, async () => void (await redis.sso2Hasten(1, queue, after, due))),
    dequeue: (queue, entry) => at(queue, async () => void (await redis.zrem(queue, entry))),
  } satisfies Partial<Kv>
}

/**
 * A `Kv` over ioredis. Every command but MGET counts as a write.
 * @param owned close the connection with the store: true where this package opened it
 * @param listener hears of failures and recoveries
 * @param prefix begins the keys that probes use
 */
export function redisKv(client: Redis | Cluster, owned: boolean, listener?: ServersListener, prefix = 'sso2:'): Kv {
  const redis = withScripts(client)
  const servers = new RedisServers(client, probing(redis, prefix), listener)
  const at: At = (key, run) => servers.of(key).write(run)
  return {
    mget: readerOf(redis, servers) as Kv['mget'], // Redis answers with one value for each key
    ...valuesOf(redis, at),
    claim: (key, seconds) => at(key, async () => (await redis.set(key, '1', 'EX', seconds, 'NX')) === 'OK'),
    del: (key) => at(key, async () => void (await redis.del(key))),
    deleteIf: (key, value) => at(key, async () => (await redis.sso2DeleteIf(1, key, value)) === 1),
    expire: (key, seconds) => at(key, async () => void (await redis.expire(key, seconds))),
    ...countsOver(redis, at),
    takeOnce: (key, seconds, mark) =>
      at(key, async () => {
        const [isFirst, isMarked] = await redis.sso2TakeOnce(2, key, mark, seconds)
        return { isFirst: isFirst === 1, isMarked: isMarked === 1 }
      }),
    ...listsOf(redis, at),
    isTogether: (key, other) => servers.of(key) === servers.of(other),
    get isAvailable() {
      return servers.areSomeWell
    },
    get failure() {
      return servers.failure && redisFailureReason(servers.failure)
    },
    probe: () => servers.probe(),
    close: async () => servers.close(owned),
  }
}
