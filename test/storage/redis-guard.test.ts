jest.unmock('../../lib/deadline')

import type { RedisFailure } from '../../lib/log/redis-failure-advice'
import { RedisGuard } from '../../lib/storage/redis-guard'

/* The guard of one server, whose clock the test turns. */

let guard: RedisGuard
let probe: () => Promise<void>
/** What its server has heard. */
let heard: string[]
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] })
  heard = []
  probe = async () => {}
  guard = new RedisGuard({
    probe: () => {
      heard.push('probe')
      return probe()
    },
    cut: () => void heard.push('cut'),
    failed: ({ error }: RedisFailure) => void heard.push(String(error)),
    recovered: () => void heard.push('recovered'),
  })
})
afterEach(() => {
  guard.close()
  jest.useRealTimers()
})

const fails = () => Promise.reject(new Error('broken'))
const refuses = (message = 'OOM full') => Promise.reject(Object.assign(new Error(message), { name: 'ReplyError' }))
const unavailable = { operation: 'store', message: expect.stringContaining('did not answer') }

/** So many commands that fail. */
async function miss(times: number, command: () => Promise<unknown> = fails): Promise<void> {
  for (let time = 0; time < times; time += 1) await expect(guard.run(command)).rejects.toMatchObject(unavailable)
}

test('three silences in a row: no request waits, the connection is cut, and one probe a second is sent until it is answered', async () => {
  probe = fails
  await miss(3)
  let commands = 0
  await miss(2, () => {
    commands += 1
    return fails()
  })
  expect([commands, guard.isAvailable, heard.at(-2)]).toEqual([0, false, 'cut'])
  heard.length = 0
  await jest.advanceTimersByTimeAsync(2999)
  expect(heard.filter((what) => what === 'probe')).toHaveLength(2)
  probe = async () => {}
  heard.length = 0
  await jest.advanceTimersByTimeAsync(1000)
  expect([guard.isAvailable, guard.failure, heard]).toEqual([true, undefined, ['probe', 'recovered']])
  await jest.advanceTimersByTimeAsync(5000)
  expect(heard).toHaveLength(2)
  expect(await guard.run(async () => 7)).toBe(7)
})

test('a reply with an error is no silence: later commands are sent, and only a probe says that it is over', async () => {
  probe = refuses as () => Promise<never>
  await miss(5, refuses)
  expect(await guard.run(async () => 'read')).toBe('read')
  await jest.advanceTimersByTimeAsync(1500)
  expect([guard.isAvailable, heard.includes('cut'), heard.includes('recovered')]).toEqual([false, false, false])
  probe = async () => {}
  await jest.advanceTimersByTimeAsync(1000)
  expect([guard.isAvailable, heard.at(-1)]).toEqual([true, 'recovered'])
})

test('a command has 300 ms', async () => {
  const outcome = guard.run(() => new Promise(() => {})).catch((error: Error) => error.message)
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
