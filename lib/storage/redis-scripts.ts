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
return 1`
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
const ENLIST = `
redis.call('zadd', KEYS[1], ARGV[2], ARGV[1])
redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[3])
local last = redis.call('zrange', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('expire', KEYS[1], math.max(1, tonumber(last[2] or ARGV[3]) - tonumber(ARGV[3])))
return redis.call('get', KEYS[2])`
const TAKE_DUE = `
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

const SCRIPTS = {
  sso2CompareAndSet: COMPARE_AND_SET,
  sso2CompareAndTake: COMPARE_AND_TAKE,
  sso2SetUnlessDead: SET_UNLESS_DEAD,
  sso2Increment: INCREMENT,
  sso2Enlist: ENLIST,
  sso2TakeDue: TAKE_DUE,
  sso2Hasten: HASTEN,
  sso2DeleteIf: DELETE_IF,
} as const

type Script<T> = (keys: number, ...args: (string | number)[]) => Promise<T>
interface Scripts {
  readonly sso2CompareAndSet: Script<number>
  readonly sso2CompareAndTake: Script<number | string[]>
  readonly sso2SetUnlessDead: Script<number>
  readonly sso2Increment: Script<number>
  readonly sso2Enlist: Script<string | null>
  readonly sso2TakeDue: Script<string[]>
  readonly sso2Hasten: Script<number>
  readonly sso2DeleteIf: Script<number>
}

/** Teaches a client the scripts. */
export function withScripts(redis: Redis | Cluster): (Redis | Cluster) & Scripts {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua })
  return redis as (Redis | Cluster) & Scripts // defineCommand adds the methods that the type cannot show
}
