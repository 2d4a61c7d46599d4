jest.unmock('../../lib/deadline')

import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import type { Log } from '../../lib/log/log'
import { RedisKv } from '../../lib/storage/redis-kv'

/* How a store treats a client that fails, with a clock that the test turns. */

const log = {
  warn: (cause: string, heading: string) => void heard.push(`${cause}: ${heading}`),
  recovered: (topic: string, text: string) => void heard.push(`${topic}: ${text}`),
}
const open = () => new RedisKv(client as unknown as Redis, { prefix: 'site:', log: log as unknown as Log })

let client: EventEmitter & { status: string; isCluster: boolean }
let kv: RedisKv
let probe: () => Promise<unknown>
/** What the store has sent and logged. */
let heard: string[]
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] })
  heard = []
  probe = async () => {}
  client = Object.assign(new EventEmitter(), {
    ...{ status: 'connect', isCluster: false, options: {}, defineCommand: () => {}, sso2Write: async () => 1 },
    mget: (key: string) => {
      heard.push(`probe ${key}`)
      return probe()
    },
  })
  kv = open()
})
afterEach(() => {
  void kv.close()
  jest.useRealTimers()
})

const PROBE = 'probe site:probe:{any}'
const NO_ANSWER = 'store:no_answer: Redis does not respond'
const RECOVERED = 'store: Redis works again.'
const fails = () => Promise.reject(new Error('broken'))
const refuses = () => Promise.reject(Object.assign(new Error('OOM full'), { name: 'ReplyError' }))
const unavailable = { operation: 'store', message: expect.stringContaining('did not answer') }

/** So many commands that fail. */
async function miss(times: number, command: () => Promise<unknown> = fails): Promise<void> {
  for (let time = 0; time < times; time += 1) await expect(kv.run(command)).rejects.toMatchObject(unavailable)
}

test('three silences in a row: no request waits, and one probe a second is sent until it is answered', async () => {
  probe = fails
  await miss(2)
  expect(kv.isAvailable).toBe(true)
  await miss(1)
  let commands = 0
  await miss(2, () => {
    commands += 1
    return fails()
  })
  expect([commands, kv.isAvailable]).toEqual([0, false])
  heard.length = 0
  await jest.advanceTimersByTimeAsync(2999)
  expect(heard.filter((what) => what === PROBE)).toHaveLength(2)
  probe = async () => {}
  heard.length = 0
  await jest.advanceTimersByTimeAsync(1000)
  expect([kv.isAvailable, kv.failure, heard]).toEqual([true, undefined, [PROBE, RECOVERED]])
  await jest.advanceTimersByTimeAsync(5000)
  expect(heard).toHaveLength(2)
  expect(await kv.run(async () => 7)).toBe(7)
})

test('a Cluster: commands are sent after any number of silences and refusals', async () => {
  client.isCluster = true
  probe = fails
  await miss(9)
  await miss(1, refuses)
  expect([await kv.run(async () => 7), kv.isAvailable]).toEqual([7, true])
})

test('a connection that told its error has that cause, until the next one answers a probe', async () => {
  client.emit('error', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  await miss(1)
  const line = 'store:ECONNREFUSED: Redis does not respond'
  expect([kv.isAvailable, heard]).toEqual([false, [line, line]])
  client.emit('ready')
  await jest.advanceTimersByTimeAsync(0)
  expect([kv.isAvailable, kv.failure, heard.at(-1)]).toEqual([true, undefined, RECOVERED])
})

test.each(['close', 'reconnecting'])('a connection is lost (%s) → the line waits for the cause', async (status) => {
  client.isCluster = true // of which another master may answer, but not then
  client.status = status
  await miss(1)
  expect([kv.isAvailable, heard]).toEqual([false, []])
  client.emit('error', Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  expect(heard).toEqual(['store:ECONNRESET: Redis does not respond'])
})

test('a client that has ended is not available, and one that is ready is probed at once', async () => {
  client.status = 'end'
  expect(kv.isAvailable).toBe(false)
  client.status = 'ready'
  await open().close()
  expect(heard).toEqual([PROBE])
})

test('a command has 300 ms', async () => {
  const outcome = kv.run(() => new Promise(() => {})).catch((error: Error) => error.message)
  await jest.advanceTimersByTimeAsync(299)
  expect(heard).toEqual([])
  await jest.advanceTimersByTimeAsync(1)
  expect(await outcome).toContain('did not answer')
  expect(heard).toEqual([NO_ANSWER])
})

test('a store that is closed probes and reports nothing more, and leaves no timer and no listener behind', async () => {
  await miss(1)
  const failing = miss(2)
  void kv.close()
  await failing
  await jest.advanceTimersByTimeAsync(5000)
  expect([heard, jest.getTimerCount(), client.eventNames()]).toEqual([[NO_ANSWER], 0, []])
})
