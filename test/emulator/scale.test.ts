import { readConfig } from '../../lib/emulator/config/schema'
import { answerCall, identify } from '../../lib/emulator/platform/service'
import { createWorld, type World } from '../../lib/emulator/platform/world'
import { configuration } from './configuration'

/* What grows: no call looks through all sessions, and nothing that visitors cause grows without bound. */

const now = 1_800_000_000
const many = 20_000

/** A world of many sessions, and a count of those that were looked at one after the other. */
function crowd(idleSeconds: number): { world: World; looked(): number } {
  const sessions = Array.from({ length: many }, (_, n) => ({
    sid: `sid-${n}`,
    browser: `browser-${n}`,
    status: 'anon' as const,
    idleSeconds,
  }))
  const world = createWorld(readConfig({ ...configuration, sessions }), now)
  let looked = 0
  const counted =
    <T>(list: () => MapIterator<T>) =>
    () => {
      const iterator = list()
      const next = iterator.next.bind(iterator)
      iterator.next = () => {
        const step = next()
        if (!step.done) looked += 1
        return step
      }
      return iterator
    }
  const { sessions: all } = world
  all.values = counted(all.values.bind(all))
  all.keys = counted(all.keys.bind(all))
  all.entries = counted(all.entries.bind(all))
  all[Symbol.iterator] = counted(all[Symbol.iterator].bind(all))
  all.forEach = () => {
    looked += many
  }
  return { world, looked: () => looked }
}

const claims = { sid: 'sid-7', aid: 'A-ada', usr: 'ada', pwd: 'correct-horse', lks: 'anon' }

test.each(['authenticate', 'sessionstatus', 'logout', 'logoutall'] as const)(
  '%s looks at no other session',
  (operation) => {
    const { world, looked } = crowd(60)
    answerCall(world, { operation, clientId: 'morning', claims }, now)
    expect(looked()).toBe(0)
  },
)

test.each([
  ['of a known browser', 'browser-7'],
  ['of a new browser', undefined],
])('Identify %s looks at one other session at most', (_what, browser) => {
  const { world, looked } = crowd(60)
  identify(world, 'morning', browser, now)
  expect(looked()).toBeLessThanOrEqual(1)
})

test('forgotten sessions are dropped when a new one begins, and each is looked at once', () => {
  const { world, looked } = crowd(7200)
  identify(world, 'morning', undefined, now)
  expect([world.sessions.size, world.sidByBrowser.size, looked()]).toEqual([1, 1, many])
  identify(world, 'morning', undefined, now)
  expect(looked()).toBe(many + 1)
})

test('tickets are dropped when they have expired', () => {
  const { world } = crowd(60)
  answerCall(world, { operation: 'authenticate', clientId: 'morning', claims }, now)
  const ask = (time: number) => answerCall(world, { operation: 'sessionstatus', clientId: 'morning', claims }, time)
  for (let n = 0; n < 100; n += 1) ask(now)
  expect(world.tickets.size).toBe(101)
  ask(now + 60)
  expect(world.tickets.size).toBe(1)
})

test('names that are no account are remembered up to a number', () => {
  const { world } = crowd(60)
  for (let n = 0; n < 1500; n += 1) {
    const wrong = { ...claims, usr: `nobody-${n}` }
    answerCall(world, { operation: 'authenticate', clientId: 'morning', claims: wrong }, now)
  }
  expect(world.attemptsByUnknownName.size).toBe(1000)
})
