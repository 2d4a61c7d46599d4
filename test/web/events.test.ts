import { format } from 'node:util'
import createDebug from 'debug'
import { publish } from '../../lib/web/hooks'

const said: string[] = []
const { log } = createDebug
beforeAll(() => {
  createDebug.log = (...args: unknown[]) => void said.push(format(...args))
  createDebug.enable('express-sso2*')
})
afterAll(() => {
  createDebug.disable()
  createDebug.log = log
})

test.each([
  [0, '0ms'],
  [0.4999, '0ms'],
  [12.500001, '13ms'],
  [2003.2718, '2003ms'],
])('a debug line says %d milliseconds as %s', (durationMs, expected) => {
  publish('check', { operation: 'sessionstatus', outcome: 'keep', durationMs })
  expect(said.at(-1)?.split(' ')).toContain(expected)
})
