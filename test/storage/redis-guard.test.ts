jest.unmock('../../lib/deadline')

import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import type { RedisFailure } from '../../lib/log/redis-failure-advice'
import { RedisGuard } from '../../lib/storage/redis-guard'

/* The guard of a client, whose clock the test turns. */

let client: EventEmitter & { status: string; isCluster: boolean }
let guard: RedisGuard
let probe: () => Promise<unknown>
/** What the guard has sent and reported. */
let heard: string[]
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] })
  heard = []
  probe = async () => {}
  client = Object.assign(new EventEmitter(), { status: 'connect', isCluster: false })
  guard = new RedisGuard(client as unknown as Redis, {
    prefix: 'site:',
    probe: (key) => {
      heard.push(`probe ${key}`)
      return probe()
    },
    listener: {
      failed: ({ error }: RedisFailure) => void heard.push(String(error)),
      recovered: () => void heard.push('recovered'),
    },
  })
})
afterEach(() => {
  guard.close()
  jest.useRealTimers()
})

const KEY = 'site:sess:{a}'
const PROBE = 'probe site:probe:{a}'
const fails = () => Promise.reject(new Error('broken'))
const refuses = () => Promise.reject(Object.assign(new Error('OOM full'), { name: 'ReplyError' }))
const unavailable = { operation: 'store', message: expect.stringContaining('did not answer') }

/** So many commands that fail. */
async function miss(times: number, command: () => Promise<unknown> = fails): Promise<void> {
  for (let time = 0; time < times; time += 1) await expect(guard.run(KEY, command)).rejects.toMatchObject(unavailable)
}

test('three silences in a row: no request waits, and one probe a second is sent until it is answered', async () => {
  probe = fails
  await miss(3)
  let commands = 0
  await miss(2, () => {
    commands += 1
    return fails()
  })
  expect([commands, guard.isAvailable]).toEqual([0, false])
  heard.length = 0
  await jest.advanceTimersByTimeAsync(2999)
  expect(heard.filter((what) => what === PROBE)).toHaveLength(2)
  probe = async () => {}
  heard.length = 0
  await jest.advanceTimersByTimeAsync(1000)
  expect([guard.isAvailable, guard.failure, heard]).toEqual([true, undefined, [PROBE, 'recovered']])
  await jest.advanceTimersByTimeAsync(5000)
  expect(heard).toHaveLength(2)
  expect(await guard.run(KEY, async () => 7)).toBe(7)
})

test('a Cluster: commands are sent after any number of silences, and the master of the key that failed is probed', async () => {
  client.isCluster = true
  probe = fails
  await miss(9)
  expect([await guard.run('site:sess:{b}', async () => 7), guard.isAvailable]).toEqual([7, true])
  probe = async () => {}
  await guard.probe()
  expect([heard.at(-1), guard.failure]).toEqual(['probe site:probe:{any}', expect.anything()])
  await jest.advanceTimersByTimeAsync(1000)
  expect([heard.slice(-2), guard.failure]).toEqual([[PROBE, 'recovered'], undefined])
})

test('a reply with an error is no silence: later commands are sent, and only a probe says that it is over', async () => {
  probe = refuses
  await miss(5, refuses)
  expect(await guard.run(KEY, async () => 'read')).toBe('read')
  await jest.advanceTimersByTimeAsync(1500)
  expect([guard.isAvailable, heard.includes('recovered')]).toEqual([false, false])
  probe = async () => {}
  await jest.advanceTimersByTimeAsync(1000)
  expect([guard.isAvailable, heard.at(-1)]).toEqual([true, 'recovered'])
})

test('a connection that told its error has that cause, until the next one answers a probe', async () => {
  client.emit('error', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  await miss(1)
  expect([guard.isAvailable, heard]).toEqual([false, ['Error: refused', 'Error: refused']])
  client.emit('ready')
  await jest.advanceTimersByTimeAsync(0)
  expect([guard.isAvailable, guard.failure, heard.at(-1)]).toEqual([true, undefined, 'recovered'])
})

test('a command has 300 ms', async () => {
  const outcome = guard.run(KEY, () => new Promise(() => {})).catch((error: Error) => error.message)
  await jest.advanceTimersByTimeAsync(299)
  expect(heard).toEqual([])
  await jest.advanceTimersByTimeAsync(1)
  expect(await outcome).toContain('did not answer')
  expect(heard).toEqual(['Error: no answer in time'])
})

test('a guard that is closed probes and reports nothing more, and leaves no timer behind', async () => {
  await miss(1)
  const failing = miss(2)
  guard.close()
  await failing
  await jest.advanceTimersByTimeAsync(5000)
  expect([heard, jest.getTimerCount()]).toEqual([['Error: broken'], 0])
})
