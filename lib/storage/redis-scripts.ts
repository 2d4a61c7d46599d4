/** Scripts of Redis. No command of another client runs between the commands of a script. */
import type { Cluster, Redis } from 'ioredis'

/** Reads a text. A key of another type holds nothing, as for MGET. */
const READ = `
local function read(key)
  local value = redis.pcall('get', key)
  return type(value) == 'string' and value
end`
const COMPARE_AND_SET = `${READ}
local current = read(KEYS[1])
local other = KEYS[2] and read(KEYS[2])
if (ARGV[1] == 'none' and current) or (ARGV[1] == 'value' and current ~= ARGV[2])
  or (ARGV[7] and redis.call('pttl', KEYS[1]) > tonumber(ARGV[7])) then
  return {0, current, current and redis.call('pttl', KEYS[1]) or 0, other}
end
if ARGV[5] == 'delete' and ARGV[1] == 'none' and not other then return {1} end
if ARGV[4] == '0' then redis.call('del', KEYS[1]) else redis.call('set', KEYS[1], ARGV[3], 'EX', ARGV[4]) end
if ARGV[5] == 'delete' then redis.call('del', KEYS[2]) end
if ARGV[5] == 'renew' then redis.call('expire', KEYS[2], ARGV[6]) end
return {1, current, 0, other}`
const SET_UNLESS_MARKER = `${READ}
local marker = read(KEYS[2])
if marker and string.sub(marker, 1, 1) ~= '{' then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1`
/** Microseconds of the server, in a number that Lua holds exactly. */
const TIME = `
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]`
/** Lets an index expire together with its last member. */
const LIVE_ON = `
local last = redis.call('zrange', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('expire', KEYS[1], math.max(1, math.ceil(tonumber(last[2]) - tonumber(ARGV[3]))))`
const ADD_ENTRY = `${TIME}
redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[3])
redis.call('zadd', KEYS[1], ARGV[2], ARGV[1])
${LIVE_ON}
local size = redis.call('zcard', KEYS[1])
local revoked = redis.call('get', KEYS[2])
local surplus = size - tonumber(ARGV[4])
local oldest = {}
if surplus > 0 then
  oldest = redis.call('zrange', KEYS[1], 0, math.min(surplus + tonumber(ARGV[5]), tonumber(ARGV[6])) - 1)
end
return {revoked and now - tonumber(string.match(revoked, '^%d+')) or false, size, oldest}`
/** Never shortens an expiry, because the clock of a process may be behind. */
const RENEW_ENTRY = `
local known = redis.call('zscore', KEYS[1], ARGV[1])
if not known then return 0 end
redis.call('zadd', KEYS[1], 'XX', math.max(tonumber(known), tonumber(ARGV[2])), ARGV[1])
${LIVE_ON}
return 1`
const REVOKE_AND_LIST = `${TIME}
redis.call('set', KEYS[2], string.format('%.0f', now) .. ' ' .. ARGV[2], 'EX', ARGV[1])
redis.call('zrem', KEYS[1], ARGV[3])
return redis.call('zrangebyscore', KEYS[1], '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[4])`
const TAKE_DUE = `
for _, entry in ipairs(redis.call('zrangebyscore', KEYS[1], '(' .. ARGV[4], '+inf')) do
  redis.call('zadd', KEYS[1], ARGV[1], entry)
end
local due = redis.call('zrangebyscore', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, entry in ipairs(due) do redis.call('zadd', KEYS[1], ARGV[2], entry) end
return due`

/** Writes a key that stays, and tries the commands of the other scripts and of rate-limiter-flexible on a key that does not exist. */
const PROBE = `
redis.call('set', KEYS[1], '1', 'EX', 7776000)
redis.call('time')
redis.call('incrby', KEYS[2], 1)
redis.call('get', KEYS[2])
redis.call('expire', KEYS[2], 1)
redis.call('del', KEYS[2])
redis.call('pttl', KEYS[2])
redis.call('zadd', KEYS[2], 'XX', 1, '1')
redis.call('zcard', KEYS[2])
redis.call('zscore', KEYS[2], '1')
redis.call('zrange', KEYS[2], 0, 0)
redis.call('zrangebyscore', KEYS[2], 1, 1)
redis.call('zrem', KEYS[2], '1')
return redis.call('zremrangebyscore', KEYS[2], 1, 1)`

/** Sources by command name. */
export const SCRIPTS = {
  sso2Probe: PROBE,
  sso2CompareAndSet: COMPARE_AND_SET,
  sso2SetUnlessMarker: SET_UNLESS_MARKER,
  sso2AddEntry: ADD_ENTRY,
  sso2RenewEntry: RENEW_ENTRY,
  sso2RevokeAndList: REVOKE_AND_LIST,
  sso2TakeDue: TAKE_DUE,
} as const

interface Replies {
  sso2Probe: number
  sso2CompareAndSet: [isDone: number, value?: string | null, msLeft?: number, other?: string | null]
  sso2SetUnlessMarker: number
  sso2AddEntry: [age: number | null, size: number, oldest: string[]]
  sso2RenewEntry: number
  sso2RevokeAndList: string[]
  sso2TakeDue: string[]
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
