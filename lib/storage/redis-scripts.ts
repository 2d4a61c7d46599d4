/** Scripts of Redis. No command of another client runs between the commands of a script. */
import type { Cluster, Redis } from 'ioredis'

/** KEYS record, data. ARGV part to write (1 or 2), value, seconds, is the ID new, seconds of the other part. A table is an error: no text. */
const WRITE = `
local record = redis.pcall('get', KEYS[1])
if type(record) == 'table' then return 0 end
if record then
  if string.sub(record, 1, 1) ~= '{' then return 0 end
elseif ARGV[4] == '0' and redis.call('exists', KEYS[2]) == 0 then return 0 end
redis.call('set', KEYS[tonumber(ARGV[1])], ARGV[2], 'EX', ARGV[3])
if ARGV[5] then redis.call('expire', KEYS[3 - tonumber(ARGV[1])], ARGV[5]) end
return 1`
/** KEYS record, data. ARGV marker, seconds. */
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

/**
 * KEYS probe, absent. Writes the first, and tries every command of the other scripts and calls on the second, which does not exist.
 */
const PROBE = `
redis.call('set', KEYS[1], '1', 'EX', 60)
redis.call('get', KEYS[2])
redis.call('exists', KEYS[2])
redis.call('incrby', KEYS[2], 1)
redis.call('pttl', KEYS[2])
redis.call('expire', KEYS[2], 1)
redis.call('del', KEYS[2])
redis.call('zadd', KEYS[2], 'XX', 1, '1')
redis.call('zcard', KEYS[2])
redis.call('zrangebyscore', KEYS[2], 1, 1)
return redis.call('zrem', KEYS[2], '1')`

/** Sources by command name. */
const SCRIPTS = { sso2Write: WRITE, sso2End: END, sso2Lock: LOCK, sso2Probe: PROBE } as const

interface Replies {
  sso2Write: number
  sso2End: [record: string | null, data: string | null]
  sso2Lock: number | string
  sso2Probe: number
}

type Scripts = {
  readonly [name in keyof Replies]: (keys: number, ...args: (string | number)[]) => Promise<Replies[name]>
}

/** A client of Redis with the scripts. */
export type ScriptedRedis = (Redis | Cluster) & Scripts

/** Adds the scripts to a client. */
export function withScripts(redis: Redis | Cluster): ScriptedRedis {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua })
  return redis as ScriptedRedis // defineCommand adds the methods, which the type cannot show
}
