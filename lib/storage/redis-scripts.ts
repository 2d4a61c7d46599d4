/** What Redis does in one step: Lua, so that nothing comes between reading and writing. */
import type { Cluster, Redis } from 'ioredis'

/** What is no text is not ours: nothing, as for MGET. */
const READ = `
local function read(key)
  local value = redis.pcall('get', key)
  return type(value) == 'string' and value
end`
/** Value of a key, or a false that Lua gives for nothing, against the caller's `before`. */
const IS_BEFORE = `
local current = read(KEYS[1])
if (ARGV[1] == '0' and current) or (ARGV[1] == '1' and current ~= ARGV[2]) then return 0 end
redis.call('set', KEYS[1], ARGV[3], 'EX', ARGV[4])`
const COMPARE_AND_SET = `${READ}${IS_BEFORE}
if KEYS[2] then redis.call('expire', KEYS[2], ARGV[5]) end
return 1`
const OVERWRITE = `
redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2])
redis.call('del', KEYS[2])`
/** An array of value and time, or an empty one, tells what is there. */
const SET_OR_READ = `${READ}
local current = read(KEYS[1])
if (ARGV[1] == '0' and current) or (ARGV[1] == '1' and current ~= ARGV[2]) then
  return current and {current, redis.call('pttl', KEYS[1])} or {}
end
redis.call('set', KEYS[1], ARGV[3], 'EX', ARGV[4])
return 1`
/** A count is a text of window and number, so that an addition is taken back from its own window alone. */
const COUNT = `${READ}
local function count(key)
  local window, number = string.match(read(key) or '', '^(.*):(%d+)$')
  return window, tonumber(number or 0)
end
local function recount(key, window, number)
  redis.call('set', key, window .. ':' .. number, 'PX', math.max(1, redis.call('pttl', key)))
end`
const ADD_TO_COUNTS = `${COUNT}
local _, first = count(KEYS[1])
for index, key in ipairs(KEYS) do
  local limit = tonumber(ARGV[index + 3])
  if index == #KEYS and first > 0 then limit = limit - tonumber(ARGV[3]) end
  local _, number = count(key)
  if number >= limit then return {index, redis.call('pttl', key)} end
end
local windows = {}
for index, key in ipairs(KEYS) do
  local window, number = count(key)
  if window then recount(key, window, number + 1)
  else redis.call('set', key, ARGV[2] .. ':1', 'EX', ARGV[1]) end
  windows[index] = window or ARGV[2]
end
return {0, windows}`
const TAKE_FROM_COUNTS = `${COUNT}
for index, key in ipairs(KEYS) do
  local window, number = count(key)
  if window == ARGV[index] then recount(key, window, math.max(0, number - 1)) end
end`
/** An array of one or none tells a value from nothing. */
const COMPARE_AND_TAKE = `${READ}
local taken = read(KEYS[2])
if ARGV[1] == '0' and not taken and not read(KEYS[1]) then return {} end
${IS_BEFORE}
redis.call('del', KEYS[2])
return taken and {taken} or {}`
const SET_UNLESS_DEAD = `${READ}
local guard = read(KEYS[2])
if guard and string.sub(guard, 1, 1) ~= '{' then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1`
const INCREMENT = `
local count = redis.call('incr', KEYS[1])
redis.call('expire', KEYS[1], ARGV[1])
return count`
const TAKE_ONCE = `
local first = redis.call('set', KEYS[1], '1', 'EX', ARGV[1], 'NX')
return {first and 1 or 0, redis.call('exists', KEYS[2])}`
/** Microseconds of the server, in a number that Lua holds exactly. */
const TIME = `
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]`
/** The list lives as long as its last member. */
const LIVE_ON = `
local last = redis.call('zrange', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('expire', KEYS[1], math.max(1, math.ceil(tonumber(last[2]) - tonumber(ARGV[3]))))`
const ENLIST = `${TIME}
redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[3])
redis.call('zadd', KEYS[1], ARGV[2], ARGV[1])
${LIVE_ON}
local size = redis.call('zcard', KEYS[1])
local mark = redis.call('get', KEYS[2])
local surplus = size - tonumber(ARGV[4])
local oldest = {}
if surplus > 0 then
  oldest = redis.call('zrange', KEYS[1], 0, math.min(surplus + tonumber(ARGV[5]), tonumber(ARGV[6])) - 1)
end
return {mark and now - tonumber(mark) or false, size, oldest}`
const RENEW_ENTRY = `
if not redis.call('zscore', KEYS[1], ARGV[1]) then return 0 end
redis.call('zadd', KEYS[1], 'XX', ARGV[2], ARGV[1])
${LIVE_ON}
return 1`
const MARK_AND_LIST = `${TIME}
redis.call('set', KEYS[2], string.format('%.0f', now), 'EX', ARGV[1])
redis.call('zrem', KEYS[1], ARGV[3])
return redis.call('zrangebyscore', KEYS[1], '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[4])`
const TAKE_DUE = `
for _, entry in ipairs(redis.call('zrangebyscore', KEYS[1], '(' .. ARGV[4], '+inf', 'LIMIT', 0, 100)) do
  redis.call('zadd', KEYS[1], ARGV[1], entry)
end
local due = redis.call('zrangebyscore', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, entry in ipairs(due) do redis.call('zadd', KEYS[1], ARGV[2], entry) end
return due`
const DELETE_IF = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])`
const HASTEN = `
local late = redis.call('zrangebyscore', KEYS[1], '(' .. ARGV[1], '+inf')
for _, entry in ipairs(late) do redis.call('zadd', KEYS[1], ARGV[2], entry) end
return #late`

/** Tries every command of the other scripts, on a key that does not exist, and leaves nothing behind. */
const PROBE = `
redis.call('time')
redis.call('set', KEYS[1], '1', 'XX')
redis.call('incr', KEYS[1])
redis.call('get', KEYS[1])
redis.call('exists', KEYS[1])
redis.call('expire', KEYS[1], 1)
redis.call('del', KEYS[1])
redis.call('pttl', KEYS[1])
redis.call('zadd', KEYS[1], 'XX', 1, '1')
redis.call('zcard', KEYS[1])
redis.call('zscore', KEYS[1], '1')
redis.call('zrange', KEYS[1], 0, 0)
redis.call('zrangebyscore', KEYS[1], 1, 1)
redis.call('zrem', KEYS[1], '1')
return redis.call('zremrangebyscore', KEYS[1], 1, 1)`

export const SCRIPTS = {
  sso2Probe: PROBE,
  sso2CompareAndSet: COMPARE_AND_SET,
  sso2SetOrRead: SET_OR_READ,
  sso2AddToCounts: ADD_TO_COUNTS,
  sso2TakeFromCounts: TAKE_FROM_COUNTS,
  sso2CompareAndTake: COMPARE_AND_TAKE,
  sso2SetUnlessDead: SET_UNLESS_DEAD,
  sso2Increment: INCREMENT,
  sso2Overwrite: OVERWRITE,
  sso2TakeOnce: TAKE_ONCE,
  sso2Enlist: ENLIST,
  sso2RenewEntry: RENEW_ENTRY,
  sso2MarkAndList: MARK_AND_LIST,
  sso2TakeDue: TAKE_DUE,
  sso2Hasten: HASTEN,
  sso2DeleteIf: DELETE_IF,
} as const

type Script<T> = (keys: number, ...args: (string | number)[]) => Promise<T>
interface Scripts {
  readonly sso2Probe: Script<number>
  readonly sso2CompareAndSet: Script<number>
  readonly sso2SetOrRead: Script<1 | [] | [value: string, ms: number]>
  readonly sso2AddToCounts: Script<[spent: number, left: number | string[]]>
  readonly sso2TakeFromCounts: Script<null>
  readonly sso2CompareAndTake: Script<number | string[]>
  readonly sso2SetUnlessDead: Script<number>
  readonly sso2Increment: Script<number>
  readonly sso2Overwrite: Script<null>
  readonly sso2TakeOnce: Script<[number, number]>
  readonly sso2Enlist: Script<[number | null, number, string[]]>
  readonly sso2RenewEntry: Script<number>
  readonly sso2MarkAndList: Script<string[]>
  readonly sso2TakeDue: Script<string[]>
  readonly sso2Hasten: Script<number>
  readonly sso2DeleteIf: Script<number>
}

/** Teaches a client the scripts. */
export function withScripts(redis: Redis | Cluster): (Redis | Cluster) & Scripts {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua })
  return redis as (Redis | Cluster) & Scripts // defineCommand adds the methods that the type cannot show
}
