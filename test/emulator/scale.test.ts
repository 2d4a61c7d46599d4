import { readConfig } from '../../lib/emulator/config/schema'
import { CALLS_KEPT, CallLog } from '../../lib/emulator/platform/calls'
import { answerCall, identify } from '../../lib/emulator/platform/service'
import { createWorld } from '../../lib/emulator/platform/world'
import { configuration } from './configuration'

/* Nothing that visitors cause grows without bound. */

const now = 1_800_000_000
const claims = { sid: 'sid-7', aid: 'A-ada', usr: 'ada', pwd: 'correct-horse', lks: 'anon' }

/** A world of 2,000 sessions that were last seen some time ago. */
function crowd(idleSeconds: number) {
  const status = 'anon' as const
  const sessions = Array.from({ length: 2000 }, (_, n) => {
    return { sid: `sid-${n}`, browser: `browser-${n}`, status, idleSeconds }
  })
  return createWorld(readConfig({ ...configuration, sessions }), now)
}

test('forgotten sessions are dropped when a new one begins', () => {
  const world = crowd(7200)
  identify(world, 'morning', undefined, now)
  expect([world.sessions.size, world.sidByBrowser.size]).toEqual([1, 1])
})

test('tickets are dropped when they have expired', () => {
  const world = crowd(60)
  answerCall(world, { operation: 'authenticate', clientId: 'morning', claims }, now)
  const ask = (time: number) => answerCall(world, { operation: 'sessionstatus', clientId: 'morning', claims }, time)
  for (let n = 0; n < 100; n += 1) ask(now)
  expect(world.tickets.size).toBe(101)
  ask(now + 60)
  expect(world.tickets.size).toBe(1)
})

test('names that are no account are remembered up to a number', () => {
  const world = crowd(60)
  for (let n = 0; n < 1500; n += 1) {
    const wrong = { ...claims, usr: `nobody-${n}` }
    answerCall(world, { operation: 'authenticate', clientId: 'morning', claims: wrong }, now)
  }
  expect(world.attemptsByUnknownName.size).toBe(1000)
})

test('the log keeps the latest calls', () => {
  const log = new CallLog()
  const call = { at: 1, operation: 'logout' as const, clientId: 'c', claims: {}, outcome: 'terminated' }
  for (let n = 1; n <= 2 * CALLS_KEPT; n += 1) log.add({ ...call, sid: String(n) })
  const kept = log.list()
  expect([kept.length, kept.at(-1)?.sid]).toEqual([CALLS_KEPT, String(2 * CALLS_KEPT)])
})
