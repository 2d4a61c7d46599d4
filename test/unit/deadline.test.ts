jest.unmock('../../lib/deadline')

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { onTimeout, withDeadline } from '../../lib/deadline'
import { standStill } from '../support/stand-still'

/* A process that stands still is late itself: what came meanwhile, or comes in a few turns more, is in time. */

const never = () => new Promise<never>(() => {})
/** After so many turns of the event loop. */
async function afterTurns<T>(turns: number, value: T): Promise<T> {
  for (let left = turns; left > 0; left -= 1) await turn()
  return value
}

test('what comes in time is passed on, and what goes wrong too', async () => {
  expect(await withDeadline(Promise.resolve(7), 1000, 'late')).toBe(7)
  await expect(withDeadline(Promise.reject(new Error('broken')), 1000, 'late')).rejects.toThrow('broken')
})

test('what does not come ends with the message, and not before its time', async () => {
  const begin = performance.now()
  await expect(withDeadline(never(), 50, 'late')).rejects.toThrow('late')
  expect(performance.now() - begin).toBeGreaterThanOrEqual(49)
})

test.each([1, 2])('what can be read in %i turns when the time is over is in time', async (turns) => {
  await sleep(1) // timers come first in the turn that follows
  const outcome = withDeadline(afterTurns(turns, 'read'), 30, 'late')
  standStill(40)
  expect(await outcome).toBe('read')
})

// the reading takes five turns at least, and two more follow: four turns do not depend on how fast this process runs
test.each([1, 2])('a process that stood still, %i times, has some turns more to read', async (times) => {
  const outcome = withDeadline(
    sleep(180).then(() => afterTurns(4, 'read')),
    30,
    'late',
  ).catch(() => 'late')
  for (let time = 0; time < times; time += 1) {
    standStill(200)
    await turn()
  }
  expect(await outcome).toBe('read')
})

test('one that stood still does not wait for ever', async () => {
  const outcome = withDeadline(never(), 30, 'late')
  standStill(200)
  await expect(outcome).rejects.toThrow('late')
})

test('one that stood still once has some steps to read in, and not many', async () => {
  const late = jest.fn()
  onTimeout(30, late)
  standStill(100)
  for (let steps = 0; steps < 12; ) {
    const begin = performance.now()
    await sleep(25)
    // where the machine held this process up, for as long as a step of the deadline that does not count, no step counts here either
    if (performance.now() - begin < 50) steps += 1
  }
  expect(late).toHaveBeenCalledTimes(1)
})

test('one that stands still again and again gives up in the end', async () => {
  const late = jest.fn()
  const callOff = onTimeout(20, late)
  let times = 0
  for (; times < 40 && late.mock.calls.length === 0; times += 1) {
    standStill(80)
    await turn()
  }
  expect(late).toHaveBeenCalledTimes(1)
  expect(times).toBeGreaterThan(10) // five steps alone would end sooner
  callOff()
})

test('what is called off is not late, not even while the last is read', async () => {
  const late = jest.fn()
  onTimeout(1000, late)()
  const callOff = onTimeout(30, late)
  setImmediate(callOff)
  standStill(40)
  await sleep(100)
  expect(late).not.toHaveBeenCalled()
})
