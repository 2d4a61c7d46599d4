import vm from 'node:vm'
import { describeError } from '../../lib/decide/describe-error'
import { onOneLine } from '../../lib/decide/masking'

function thrownHere(): Error {
  return new TypeError('no such user')
}

test('an error is told by name and message, and where it was thrown', () => {
  const { text, frames } = describeError(thrownHere())
  expect(text).toBe('TypeError: no such user')
  expect(frames[0]).toMatch(/^at thrownHere \(.*describe-error\.test\.ts:\d+:\d+\)$/)
  expect(frames.length).toBeLessThanOrEqual(8)
})

test('its code and its causes are told with it, and no endless row of them', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  expect(describeError(new TypeError('fetch failed', { cause: refused })).text).toBe(
    'TypeError: fetch failed; caused by Error: connect ECONNREFUSED 127.0.0.1:1',
  )
  expect(describeError(Object.assign(new Error('no luck'), { code: 'E_LUCK' })).text).toBe('Error: no luck (E_LUCK)')
  const circle = new Error('round')
  circle.cause = circle
  expect(describeError(circle).text.split('caused by')).toHaveLength(4)
})

test('an error of another realm is one too', () => {
  expect(describeError(vm.runInNewContext('new RangeError("far away")')).text).toBe('RangeError: far away')
})

test.each<[thrown: unknown, text: string]>([
  [undefined, 'nothing'],
  [null, 'what is no error (object)'],
  [42, 'what is no error (number)'],
  [{ status: 500 }, 'what is no error (object)'],
  ['a text', 'the text "a text"'],
  ['a\r\ntext', 'the text "a text"'],
])('%p that is thrown is told as %j', (thrown, text) => {
  expect(describeError(thrown)).toEqual({ text, frames: [] })
})

test('an error is known by its message, and by a name of its own where it has one', () => {
  expect(describeError({ message: 'no luck' })).toEqual({ text: 'Error: no luck', frames: [] })
  expect(describeError({ message: 42, stack: 'at x' })).toEqual({ text: 'what is no error (object)', frames: [] })
  expect(describeError(new Error(' no luck '))).toMatchObject({ text: 'Error: no luck' })
})

test.each(['a b', 'a.b', ' E', 'E\n', '', 'x'.repeat(41), 7])('the code %j is not told', (code) => {
  expect(describeError(Object.assign(new Error('no luck'), { code })).text).toBe('Error: no luck')
})

test('a message is cut after 500 characters, and all together after 1000', () => {
  expect(describeError(new Error('x'.repeat(500))).text).toBe(`Error: ${'x'.repeat(500)}`)
  expect(describeError(new Error('x'.repeat(501))).text).toBe(`Error: ${'x'.repeat(500)}...`)
  const all = describeError(new Error('x'.repeat(600), { cause: new Error('y'.repeat(600)) })).text
  expect(all).toMatch(/^Error: x{500}\.\.\.; caused by Error: y{400,}\.\.\.$/)
  expect(all).toHaveLength(1003)
})

test('what looks like a place in a message is none, and what follows the message is', () => {
  const error = new Error('no luck\n    at nowhere (x.js:1:1)')
  expect(describeError(error).frames[0]).toContain('describe-error.test.ts')
  const odd = Object.assign(new Error('another message, which is longer than its stack'), {
    stack: 'Error: one\n    at place (a.js:1:1)\nlook at that\n  at end',
  })
  const message = 'at nowhere\n  at all'
  const nameless = Object.assign(new Error(message), { stack: `${message}\n    at place (a.js:1:1)` })
  expect(describeError(nameless).frames).toEqual(['at place (a.js:1:1)'])
  expect(describeError(odd).frames).toEqual(['at place (a.js:1:1)', 'at end'])
})

test('an error that throws when it is read is told as one', () => {
  const unreadable = {
    get message() {
      throw new Error('a getter threw')
    },
  }
  expect(describeError(unreadable)).toEqual({ text: 'an error that cannot be read', frames: [] })
})

test('a message, a name or a stack cannot add lines to the log', () => {
  const error = Object.assign(new Error('a\r\nINJECTED\u001b[31m'), { name: 'N\nINJECTED' })
  const { text, frames } = describeError(error)
  expect(text).toBe('N INJECTED: a INJECTED [31m')
  expect([text, ...frames].join('')).toBe(onOneLine([text, ...frames].join('')))
  expect(frames[0]).toMatch(/^at /)
})
