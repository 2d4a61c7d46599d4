jest.unmock('../../lib/deadline')

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { withDeadline } from '../../lib/deadline'
import { standStill } from '../support/stand-still'

/* A process that stands still is late itself: what came meanwhile, or comes in a few turns more, is in time. */

const never = () => new Promise<never>(() => {})
/** After so many turns of the event loop. */
async function afterTurns<T>(turns: number, value: T): Promise<T> {
  for (let left = turns; left > 0; left -= 1) await turn()
  return value
}

test('what does not come ends with the message, and not before its time', async () => {
  const begin = performance.now()
  await expect(withDeadline(never(), 50, 'late')).rejects.toThrow('late')
  expect(performance.now() - begin).toBeGreaterThanOrEqual(49)
})

test('what can be read in two turns when the time is over is in time', async () => {
  await sleep(1) // timers come first in the turn that follows
  const outcome = withDeadline(afterTurns(2, 'read'), 30, 'late')
  standStill(40)
  expect(await outcome).toBe('read')
})
