import { createHash } from 'node:crypto'
import { type Command, Redis } from 'ioredis'
import { type Context, contexts, EVERYTHING, type Mode, type StepInfo, type Touch } from './scheduler'

/*
 * A client of a real Redis whose commands are steps: each waits until the scheduler lets it happen. A transaction, a
 * pipeline and a script are one step each. Commands that belong to no actor pass at once.
 */

type Stream = Parameters<Redis['sendCommand']>[1]

/** Commands that change nothing but how long a key lives, or nothing at all. */
const PASSING = new Set(['expire', 'pexpire', 'expireat', 'pexpireat', 'touch', 'ping', 'info', 'script', 'client'])
const READING = new Set(
  'get mget exists strlen type ttl pttl smembers sismember scard zrange zrangebyscore zscore zcard hget hmget hgetall getrange'.split(
    ' ',
  ),
)
const FRAME = new Set(['multi', 'exec'])

/** What makes a Redis refuse writes and answer reads: `min-replicas-to-write`, a replica, a full disk. */
const REFUSAL = 'NOREPLICAS Not enough good replicas to write.'
const LOST = 'Connection is closed.'

export interface GatedClient {
  readonly redis: Redis
  /** While true every write is refused. */
  isReadOnly: boolean
}

/** Opens a client. @param short name of a key in a schedule that people read */
export function openGatedClient(socket: string, short: (key: string) => string): GatedClient {
  const redis = new Redis(socket, { maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false })
  delete redis.options.retryStrategy // a site ends a silent connection only if another follows, and another takes real time
  redis.setMaxListeners(0) // every site that is made on it may listen
  redis.on('error', () => {})
  const client: GatedClient = { redis, isReadOnly: false }
  useVirtualTime(redis)
  const send = redis.sendCommand.bind(redis)
  const groups = new Map<object, Command[]>()
  const hold = (context: Context, commands: readonly Command[], stream: Stream) => {
    const isWriting = !commands.every(({ name }) => READING.has(name))
    const pass = (mode: Mode) =>
      mode === 'ok' && client.isReadOnly && isWriting && context.actor
        ? refuse(commands, REFUSAL)
        : pump(context, commands, stream, mode, send)
    if (commands.every(({ name }) => PASSING.has(name))) return pass('ok')
    context.scheduler.gate(context.actor, describe(commands, short)).then(pass)
  }
  redis.sendCommand = (command: Command, stream?: Stream): unknown => {
    const context = contexts.getStore()
    if (isScript(command)) command.args.push(String(Date.now()))
    if (!context) return send(command, stream)
    if (!stream) hold(context, [command], stream)
    else {
      const group = groups.get(stream)
      if (group) group.push(command)
      else {
        const begun = [command]
        groups.set(stream, begun)
        queueMicrotask(() => {
          groups.delete(stream)
          hold(context, begun, stream)
        })
      }
    }
    return command.promise
  }
  return client
}

const isScript = ({ name }: Command) => name.startsWith('eval')

const VIRTUAL_TIME =
  'local function virtualTime() return {math.floor(tonumber(ARGV[#ARGV]) / 1000), (tonumber(ARGV[#ARGV]) % 1000) * 1000} end'

/** A script that asks the server for its time gets that of the execution, which is its last argument. */
function useVirtualTime(redis: Redis): void {
  const define = redis.defineCommand.bind(redis)
  redis.defineCommand = (name, { lua, ...definition }) => {
    const virtual = `${VIRTUAL_TIME}\n${lua.replaceAll("redis.call('time')", 'virtualTime()')}`
    if (lua.includes("redis.call('time')") && lua.includes("redis.call('set'"))
      storesTime.add(createHash('sha1').update(virtual).digest('hex'))
    void redis.script('LOAD', virtual) // a script that Redis does not know yet would be sent twice, in one step
    return define(name, { ...definition, lua: virtual })
  }
}

/** Hashes of scripts that store the server's time. It is compared with times read between two steps, so they touch every step. */
const storesTime = new Set<string>()

type Send = (command: Command, stream?: Stream) => unknown

/** Lets the step happen, not happen, or happen unseen. */
function pump({ scheduler }: Context, commands: readonly Command[], stream: Stream, mode: Mode, send: Send): void {
  if (mode === 'fail') {
    refuse(commands, LOST)
    return
  }
  for (const command of commands) if (isScript(command)) command.args.splice(-1, 1, String(scheduler.now))
  const sent = mode === 'ok' ? commands : commands.map(clone)
  const answered = scheduler.underWay(async () => {
    for (const command of sent) send(command, mode === 'ok' ? stream : undefined)
    await Promise.allSettled(sent.map(({ promise }) => promise))
  })
  if (mode === 'lost') answered.then(() => refuse(commands, LOST))
}

function refuse(commands: readonly Command[], message: string): void {
  for (const command of commands) command.reject(new Error(message))
}

function clone(command: Command): Command {
  const { name, args, constructor: Kind } = command
  return new (Kind as new (name: string, args: unknown[]) => Command)(name, [...args])
}

function describe(commands: readonly Command[], short: (key: string) => string): StepInfo {
  const inner = commands.filter(({ name }) => !FRAME.has(name))
  const touches = inner.flatMap(touchesOf)
  const names = inner.map(({ name }) => (name.startsWith('eval') ? 'script' : name)).join('+')
  const keys = [...new Set(touches.map(({ key }) => short(key)))].join(' ')
  const all = inner.some(({ args: [hash] }) => storesTime.has(String(hash))) ? [...touches, EVERYTHING] : touches
  return { label: `${names} ${keys}`, touches: all, canFail: true }
}

function touchesOf(command: Command): Touch[] {
  const isWrite = !READING.has(command.name)
  return command.getKeys().map((key) => ({ key: withoutPart(String(key)), isWrite }))
}

/**
 * Takes the parts of the logout queue for one. A logout's part follows from its random session ID, so two logouts would
 * touch each other in one execution and not in the next, and an order could not be followed.
 */
const withoutPart = (key: string) => key.replace(/\{logouts\d\}/, '{logouts}')
