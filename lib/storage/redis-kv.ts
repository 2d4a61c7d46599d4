/** The store in Redis: every command has a deadline, and a breaker spares requests a store that does not answer. */

import { setImmediate as yieldToSocket } from 'node:timers/promises'
import { ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel'
import { type Cluster, Redis } from 'ioredis'
import type { Kv } from './kv'
import { withScripts } from './redis-scripts'
import { storeUnavailable } from './unavailable'

const COMMAND_MS = 300
const CONNECT_MS = 2000
const OPEN_MS = 1000
const MISSES = 3

/** Opens a connection that never hangs: bounded retries, no endless queue, no second sending of a command that may have run. */
export function openRedis(address: string): Redis {
  const redis = new Redis(address, {
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(1000, 50 * attempt) + Math.random() * 50,
    reconnectOnError: (error) => /^(READONLY|LOADING)/.test(error.message),
  })
  redis.on('error', () => {}) // each command reports its own failure; an unheard 'error' event would end the process
  return redis
}

/** Gives a command its deadline; an answer that already waits in the socket while this process was busy still counts. */
function inTime<T>(run: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = async () => {
      await yieldToSocket()
      await yieldToSocket()
      reject(storeUnavailable())
    }
    const timer = setTimeout(late, COMMAND_MS).unref()
    run().then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

interface Guard {
  run<T>(run: () => Promise<T>): Promise<T>
  readonly isWell: boolean
}

/** Deadline and breaker; while all is well the breaker is not asked, for it is in the way of every request. */
function makeGuard(): Guard {
  const breaker = circuitBreaker(handleAll, { halfOpenAfter: OPEN_MS, breaker: new ConsecutiveBreaker(MISSES) })
  let isWell = true
  const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
    // a signal of its own: cockatiel's shared one warns of a leak at eleven commands at once
    const result = await breaker.execute(() => inTime(run), new AbortController().signal)
    isWell = true
    return result
  }
  return {
    run: async (run) => {
      try {
        return await (isWell ? inTime(run) : guarded(run))
      } catch {
        if (isWell) await guarded(() => Promise.reject(storeUnavailable())).catch(() => {})
        isWell = false
        throw storeUnavailable()
      }
    },
    get isWell() {
      return isWell
    },
  }
}

const connections = new WeakMap<Redis | Cluster, { isLost: boolean }>()

/** Is the connection lost? One that is only being made for the first time is not. Many sites may share a client: it is watched once. */
function watchConnection(redis: Redis | Cluster): { readonly isLost: boolean } {
  const watched = connections.get(redis)
  if (watched) return watched
  const state = { isLost: false }
  connections.set(redis, state)
  redis.on('close', () => {
    state.isLost = true
  })
  redis.on('ready', () => {
    state.isLost = false
  })
  return state
}

type Read = (keys: readonly string[]) => Promise<(string | null)[]>

/**
 * At once when nothing is under way; else all reads of one turn of the event loop in one command, which spares both sides
 * most of the work under load. Not on a Cluster, where the keys of two sessions stand in two slots.
 */
function batchedRead(redis: Redis | Cluster): Read {
  let underWay = 0
  let waiting: {
    keys: readonly string[]
    resolve: (values: (string | null)[]) => void
    reject: (error: unknown) => void
  }[] = []
  const send = async (keys: readonly string[]) => {
    underWay += 1
    try {
      return await redis.mget(...keys)
    } finally {
      underWay -= 1
    }
  }
  const sendAll = () => {
    const batch = waiting
    waiting = []
    send(batch.flatMap(({ keys }) => keys)).then(
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

/** What a script compares with: whether there was a value, and which. */
const expected = (before: string | null) => [before === null ? '0' : '1', before ?? '']

/** A `Kv` over ioredis. @param owned close the connection with the store: true where this package opened it */
export function redisKv(client: Redis | Cluster, owned: boolean): Kv {
  const redis = withScripts(client)
  const guard = makeGuard()
  const guarded = guard.run
  const connection = watchConnection(client)
  const read = redis.isCluster ? (keys: readonly string[]) => redis.mget(...keys) : batchedRead(redis)
  return {
    mget: (keys) => guarded(() => read(keys)),
    compareAndSet: (key, before, after, seconds) =>
      guarded(async () => (await redis.sso2CompareAndSet(1, key, ...expected(before), after, seconds)) === 1),
    compareAndTake: (key, before, after, seconds, taken) =>
      guarded(async () => {
        const found = await redis.sso2CompareAndTake(2, key, taken, ...expected(before), after, seconds)
        return typeof found === 'number' ? false : { taken: found[0] ?? null }
      }),
    overwrite: (key, value, seconds, alsoDelete) =>
      guarded(async () => {
        const written = redis.multi().set(key, value, 'EX', seconds)
        await (alsoDelete ? written.del(alsoDelete) : written).exec()
      }),
    setUnlessDead: (key, guardKey, value, seconds) =>
      guarded(async () => (await redis.sso2SetUnlessDead(2, key, guardKey, value, seconds)) === 1),
    claim: (key, seconds) => guarded(async () => (await redis.set(key, '1', 'EX', seconds, 'NX')) === 'OK'),
    del: (key) => guarded(async () => void (await redis.del(key))),
    expire: (key, seconds) => guarded(async () => void (await redis.expire(key, seconds))),
    increment: (key, seconds) => guarded(() => redis.sso2Increment(1, key, seconds)),
    enlist: (list, member, until, now, mark) => guarded(() => redis.sso2Enlist(2, list, mark, member, until, now)),
    listed: (list, now) => guarded(() => redis.zrangebyscore(list, `(${now}`, '+inf')),
    unlist: (list, member) => guarded(async () => void (await redis.zrem(list, member))),
    enqueue: (queue, entry, due) => guarded(async () => void (await redis.zadd(queue, due, entry))),
    takeDue: (queue, now, next, most) => guarded(() => redis.sso2TakeDue(1, queue, now, next, most)),
    dequeue: (queue, entry) => guarded(async () => void (await redis.zrem(queue, entry))),
    get isAvailable() {
      return guard.isWell && !connection.isLost
    },
    ping: () => guarded(async () => void (await redis.ping())),
    close: async () => {
      if (owned) redis.disconnect()
    },
  }
}
