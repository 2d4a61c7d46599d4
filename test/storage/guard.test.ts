import { Guard, type Server } from '../../lib/storage/redis-guard'

/* The guard of one server, whose clock the test turns. */

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] })
})
afterEach(() => {
  jest.useRealTimers()
})

/** A guard, and what its server and its watch have heard. */
function guarded(ask: Server['ask'] = async () => 'PONG') {
  const heard: string[] = []
  const server = {
    ask: () => {
      heard.push('asked')
      return ask()
    },
    reconnect: () => void heard.push('reconnect'),
  }
  const watch = { failed: (error: unknown) => void heard.push(String(error)), back: () => void heard.push('back') }
  return { guard: new Guard(server, watch), heard }
}

const fails =
  (name = 'Error', message = 'broken') =>
  () =>
    Promise.reject(Object.assign(new Error(message), { name }))
const away = { operation: 'store', message: expect.stringContaining('did not answer') }

/** So many commands that fail. */
async function miss(guard: Guard, times: number, command = fails()): Promise<void> {
  for (let time = 0; time < times; time += 1) await expect(guard.run(command)).rejects.toMatchObject(away)
}

test('what a command finds is passed on, and what went wrong is told to the watch alone', async () => {
  const { guard, heard } = guarded()
  expect(await guard.run(async () => 7)).toBe(7)
  expect([guard.isWell, heard]).toEqual([true, []])
  await miss(guard, 1)
  expect([guard.isWell, heard]).toEqual([false, ['Error: broken']])
})

test('a command that answers ends the misses before it, once', async () => {
  const { guard, heard } = guarded()
  await miss(guard, 2)
  await guard.run(async () => 7)
  await guard.run(async () => 7)
  expect([guard.isWell, heard]).toEqual([true, ['Error: broken', 'Error: broken', 'back']])
  await miss(guard, 2)
  expect(await guard.run(async () => 8)).toBe(8)
  expect(heard).not.toContain('reconnect')
  await jest.advanceTimersByTimeAsync(5000)
  expect(heard).not.toContain('asked')
})

test('after three misses in a row nobody waits: the guard asks, each second, until it is answered', async () => {
  let ask: Server['ask'] = fails()
  const { guard, heard } = guarded(() => ask())
  await miss(guard, 3)
  let commands = 0
  await miss(guard, 2, () => {
    commands += 1
    return Promise.reject(new Error('asked in vain'))
  })
  expect(commands).toBe(0)
  heard.length = 0
  await jest.advanceTimersByTimeAsync(999)
  expect(heard).toEqual([])
  await jest.advanceTimersByTimeAsync(1)
  expect(heard).toEqual(['asked', 'Error: broken', 'reconnect'])
  ask = async () => 'PONG'
  await jest.advanceTimersByTimeAsync(1000)
  expect([guard.isWell, heard.slice(3)]).toEqual([true, ['asked', 'back']])
  await jest.advanceTimersByTimeAsync(5000)
  expect(heard).toHaveLength(5)
  expect(await guard.run(async () => 7)).toBe(7)
})

test('one miss makes the guard ask too', async () => {
  const { guard, heard } = guarded()
  await miss(guard, 1)
  await jest.advanceTimersByTimeAsync(1000)
  expect([guard.isWell, heard]).toEqual([true, ['Error: broken', 'asked', 'back']])
})

test('commands that were sent together count as many, and the connection is given up at the third', async () => {
  const { guard, heard } = guarded()
  await expect(guard.run(fails(), 2)).rejects.toMatchObject(away)
  expect(heard).not.toContain('reconnect')
  await miss(guard, 1)
  expect(heard).toContain('reconnect')
  const together = guarded()
  await expect(together.guard.run(fails(), 3)).rejects.toMatchObject(away)
  expect(together.heard).toContain('reconnect')
})

test('a server that refuses has been heard: its connection stays', async () => {
  const { guard, heard } = guarded(fails('ReplyError'))
  await miss(guard, 3, fails('ReplyError'))
  await jest.advanceTimersByTimeAsync(1000)
  expect(heard).toContain('asked')
  expect(heard).not.toContain('reconnect')
})

test('what is thrown and is no error counts as silence', async () => {
  const { guard, heard } = guarded()
  await miss(guard, 3, () => Promise.reject({ name: 'ReplyError' }))
  expect(heard).toContain('reconnect')
})

test('a command has 300 ms', async () => {
  const { guard, heard } = guarded()
  const outcome = guard.run(() => new Promise(() => {})).catch((error: Error) => error.message)
  await jest.advanceTimersByTimeAsync(299)
  expect(guard.isWell).toBe(true)
  await jest.advanceTimersByTimeAsync(1)
  expect(await outcome).toContain('did not answer')
  expect(heard).toEqual(['Error: no answer in time'])
})

test('an answer that waited in the socket while this process was busy still counts', async () => {
  const { guard, heard } = guarded()
  let answer = (_value: number) => {}
  const outcome = guard.run(() => new Promise<number>((resolve) => (answer = resolve)))
  jest.advanceTimersByTime(400)
  setImmediate(() => answer(7))
  expect(await outcome).toBe(7)
  expect([guard.isWell, heard]).toEqual([true, []])
})

test('a command that is over leaves no timer behind, however it ended', async () => {
  const { guard } = guarded()
  await guard.run(async () => 7)
  expect(jest.getTimerCount()).toBe(0)
  await miss(guard, 1)
  expect(jest.getTimerCount()).toBe(1) // the guard's own
  guard.close()
  expect(jest.getTimerCount()).toBe(0)
})

test('nobody need watch', async () => {
  const guard = new Guard({ ask: async () => 'PONG', reconnect: () => {} })
  await miss(guard, 3)
  await jest.advanceTimersByTimeAsync(1000)
  expect(guard.isWell).toBe(true)
})

test('one that is closed under a command asks and tells nothing more, whatever becomes of the command', async () => {
  const { guard, heard } = guarded()
  const failing = miss(guard, 1)
  guard.close()
  await failing
  await jest.advanceTimersByTimeAsync(5000)
  expect(heard).toEqual([])
})

test('one that has missed and is closed does not say that it is back', async () => {
  const { guard, heard } = guarded()
  await miss(guard, 1)
  guard.close()
  expect(await guard.run(async () => 7)).toBe(7)
  expect(heard).toEqual(['Error: broken'])
})
