jest.unmock('../../lib/deadline')

import type { Access, RedisFailure } from '../../lib/decide/redis-failure-advice'
import { RedisCircuitBreaker } from '../../lib/storage/redis-circuit-breaker'

/* The guard of one server, whose clock the test turns. */

let guard: RedisCircuitBreaker
/** What its server and its listener have heard. */
let heard: string[]
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] })
  ;({ guard, heard } = guarded())
})
afterEach(() => {
  jest.useRealTimers()
})

function guarded(answer: (access: Access) => Promise<unknown> = async () => 'OK') {
  const heard: string[] = []
  const server = {
    probe: (access: Access) => {
      heard.push(`probe ${access}`)
      return answer(access)
    },
    reconnect: (isSilent: boolean) => void heard.push(isSilent ? 'reconnect' : 'reconnect gracefully'),
  }
  const listener = {
    failed: ({ error }: RedisFailure) => void heard.push(String(error)),
    recovered: () => void heard.push('recovered'),
  }
  return { guard: new RedisCircuitBreaker(server, listener), heard }
}

const fails =
  (name = 'Error', message = 'broken') =>
  () =>
    Promise.reject(Object.assign(new Error(message), { name }))
const refuses = (message = 'OOM full') => fails('ReplyError', message)
const unavailable = { operation: 'store', message: expect.stringContaining('did not answer') }

/** So many commands that fail. */
async function miss(times: number, command = fails(), access: Access = 'read'): Promise<void> {
  for (let time = 0; time < times; time += 1)
    await expect(guard.run(access, command)).rejects.toMatchObject(unavailable)
}

test('the result of a command is passed on, and the cause of a failure reaches the listener only', async () => {
  expect(await guard.run('read', async () => 7)).toBe(7)
  expect(await guard.run('write', async () => 8)).toBe(8)
  expect([guard.isHealthy, guard.failure, heard]).toEqual([true, undefined, []])
  await miss(1)
  expect([guard.isHealthy, heard]).toEqual([false, ['Error: broken']])
})

describe('silence, which concerns the connection', () => {
  test('is over when a read and a write have succeeded', async () => {
    await miss(2)
    await guard.run('read', async () => 7)
    expect([guard.isHealthy, heard]).toEqual([false, ['Error: broken', 'Error: broken']])
    await guard.run('write', async () => 7)
    await guard.run('write', async () => 7)
    expect([guard.isHealthy, heard.slice(2)]).toEqual([true, ['recovered']])
    await miss(2)
    expect(await guard.run('read', async () => 8)).toBe(8)
    expect(heard).not.toContain('reconnect')
  })

  test('three times in a row: no request waits, and the guard sends a probe each second until it is answered', async () => {
    let answer = fails()
    ;({ guard, heard } = guarded(() => answer()))
    await miss(3)
    let commands = 0
    const counted = () => {
      commands += 1
      return Promise.reject(new Error('sent in vain'))
    }
    await miss(2, counted)
    await miss(2, counted, 'write')
    expect(commands).toBe(0)
    heard.length = 0
    await jest.advanceTimersByTimeAsync(999)
    expect(heard).toEqual([])
    await jest.advanceTimersByTimeAsync(1)
    const failed = ['Error: broken', 'reconnect']
    expect(heard).toEqual(['probe read', 'probe write', ...failed, ...failed])
    answer = (async () => 'OK') as never
    heard.length = 0
    await jest.advanceTimersByTimeAsync(1000)
    expect([guard.isHealthy, heard]).toEqual([true, ['probe read', 'probe write', 'recovered']])
    await jest.advanceTimersByTimeAsync(5000)
    expect(heard).toHaveLength(3)
    expect(await guard.run('read', async () => 7)).toBe(7)
  })

  test('once makes the guard send a probe too', async () => {
    await miss(1)
    await jest.advanceTimersByTimeAsync(1000)
    expect([guard.isHealthy, heard]).toEqual([true, ['Error: broken', 'probe read', 'probe write', 'recovered']])
  })

  test('of a read that several requests wait for counts for each, and the third ends the connection', async () => {
    await expect(guard.run('read', fails(), 2)).rejects.toMatchObject(unavailable)
    expect(heard).not.toContain('reconnect')
    await miss(1)
    expect(heard).toContain('reconnect')
    const together = guarded()
    await expect(together.guard.run('read', fails(), 3)).rejects.toMatchObject(unavailable)
    expect(together.heard).toContain('reconnect')
  })

  test('of a connection that told its error has that cause, until the server answers', async () => {
    guard.connectionFailed(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    await miss(1)
    expect(heard).toEqual(['Error: refused', 'Error: refused'])
    await guard.run('read', async () => 7)
    await guard.run('write', async () => 7)
    await miss(1)
    expect(heard.slice(2)).toEqual(['recovered', 'Error: broken'])
  })
})

test('a failure without a cause does not take the place of one that has a cause', async () => {
  await miss(1, fails('Error', 'no answer in time'))
  guard.connectionFailed(new Error('Connection is closed.'))
  expect(heard).toEqual(['Error: no answer in time', 'Error: no answer in time'])
})

test('a connection that told its error has that cause, although a read was refused before', async () => {
  await miss(1, refuses('NOPERM'))
  guard.connectionFailed(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  await miss(1)
  expect(heard.slice(1)).toEqual(['Error: refused', 'Error: refused', 'reconnect'])
})

describe('a refused write', () => {
  test('is no news about reads: they are sent, and no read says that writes work', async () => {
    ;({ guard, heard } = guarded((access) => (access === 'read' ? Promise.resolve() : refuses()())))
    await miss(5, refuses(), 'write')
    for (let time = 0; time < 5; time += 1) expect(await guard.run('read', async () => time)).toBe(time)
    expect(guard.failure).toMatchObject({ access: 'write' })
    await jest.advanceTimersByTimeAsync(3000)
    expect(guard.isHealthy).toBe(false)
    expect(heard).not.toContain('recovered')
    expect(heard.join()).not.toContain('reconnect')
  })

  test('is over when a probe has succeeded, which tries every command: DEL works while SET does not', async () => {
    await miss(1, refuses(), 'write')
    await guard.run('write', async () => 'deleted')
    expect(guard.isHealthy).toBe(false)
    await miss(1, fails(), 'write') // silence in between changes nothing
    await guard.run('write', async () => 'deleted')
    await guard.run('read', async () => 7)
    expect(guard.failure).toMatchObject({ access: 'write' })
    await guard.probe()
    expect([guard.isHealthy, heard.at(-1)]).toEqual([true, 'recovered'])
  })

  test('by a replica makes a new connection, which lets responses on their way arrive', async () => {
    await miss(1, refuses('READONLY You can’t write'), 'write')
    expect(heard).toContain('reconnect gracefully')
    expect(heard).not.toContain('reconnect')
  })
})

test('what only reads like the refusal of a replica makes no new connection', async () => {
  await miss(1, fails('Error', 'READONLY is what a proxy says'))
  expect(heard).toEqual(['Error: READONLY is what a proxy says'])
})

test('a refused read is no news about writes, and is over with the next read', async () => {
  await miss(2, refuses('NOPERM'))
  expect(await guard.run('write', async () => 7)).toBe(7)
  expect(guard.failure).toMatchObject({ access: 'read' })
  await guard.run('read', async () => 7)
  expect([guard.isHealthy, heard.at(-1)]).toEqual([true, 'recovered'])
})

test('what is thrown and is no error counts as silence', async () => {
  await miss(3, () => Promise.reject({ name: 'ReplyError' }))
  expect(heard).toContain('reconnect')
})

test('a command has 300 ms', async () => {
  const outcome = guard.run('read', () => new Promise(() => {})).catch((error: Error) => error.message)
  await jest.advanceTimersByTimeAsync(299)
  expect(guard.isHealthy).toBe(true)
  await jest.advanceTimersByTimeAsync(1)
  expect(await outcome).toContain('did not answer')
  expect(heard).toEqual(['Error: no answer in time'])
})

describe('a command that was sent before the connection that is ready now', () => {
  const unanswered = () => new Promise<never>(() => {})

  test.each<Access>(['read', 'write'])('may be lost, and says nothing about this connection: %s', async (access) => {
    const lost = Promise.all([1, 2, 3].map(() => miss(1, unanswered, access)))
    await jest.advanceTimersByTimeAsync(100)
    guard.connected()
    await jest.advanceTimersByTimeAsync(200)
    await lost
    expect([guard.isHealthy, heard]).toEqual([true, []])
    expect(await guard.run(access, async () => 8)).toBe(8)
  })

  test('hides no later one that is not answered', async () => {
    const lost = miss(1, unanswered)
    await jest.advanceTimersByTimeAsync(100)
    guard.connected()
    const later = miss(1, unanswered)
    await jest.advanceTimersByTimeAsync(300)
    await Promise.all([lost, later])
    expect([guard.isHealthy, heard]).toEqual([false, ['Error: no answer in time']])
  })

  test('counts if Redis refuses it, because a refusal is an answer', async () => {
    let refuse = (_error: Error) => {}
    const refused = miss(1, () => new Promise<never>((_resolve, reject) => (refuse = reject)), 'write')
    await jest.advanceTimersByTimeAsync(100)
    guard.connected()
    refuse(Object.assign(new Error('OOM full'), { name: 'ReplyError' }))
    await refused
    expect(guard.failure).toMatchObject({ access: 'write' })
  })
})

test('a response that waited in the socket while this process was busy still counts', async () => {
  let answer = (_value: number) => {}
  const outcome = guard.run('read', () => new Promise<number>((resolve) => (answer = resolve)))
  jest.advanceTimersByTime(400)
  setImmediate(() => answer(7))
  expect(await outcome).toBe(7)
  expect([guard.isHealthy, heard]).toEqual([true, []])
})

test('a command that is over leaves no timer behind, however it ended', async () => {
  await guard.run('read', async () => 7)
  expect(jest.getTimerCount()).toBe(0)
  await miss(1)
  expect(jest.getTimerCount()).toBe(1) // the guard's own
  guard.close()
  expect(jest.getTimerCount()).toBe(0)
})

test('a listener is not needed', async () => {
  guard = new RedisCircuitBreaker({ probe: async () => 'OK', reconnect: () => {} })
  await miss(3)
  await jest.advanceTimersByTimeAsync(1000)
  expect(guard.isHealthy).toBe(true)
})

test('a guard that is closed under a command probes and reports nothing more', async () => {
  const failing = miss(3)
  guard.close()
  await failing
  await jest.advanceTimersByTimeAsync(5000)
  expect(heard).toEqual([])
})

test('a guard that has missed and is closed does not report a recovery', async () => {
  await miss(1)
  guard.close()
  expect(await guard.run('read', async () => 7)).toBe(7)
  expect(await guard.run('write', async () => 7)).toBe(7)
  expect(heard).toEqual(['Error: broken'])
})
