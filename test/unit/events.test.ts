import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { publish } from '../../lib/web/hooks'
import { hearEvents } from '../support/landing'
import { pause } from '../support/wait'

test('a monitor that subscribes after the first events hears the next ones', async () => {
  const facts = { operation: 'sessionstatus', outcome: 'kept', durationMs: 1 }
  publish('check', facts)
  await pause(10)
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')() // Node.js 20 later forgets a channel that was collected, and its new subscribers
  const events = hearEvents()
  await pause(20)
  publish('check', facts)
  expect(events.heard).toEqual(['check kept'])
  events.stop()
})
