import { describeError } from '../../lib/log/describe-error'
import { onOneLine } from '../../lib/log/masking'

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

test.each<[thrown: unknown, text: string]>([
  [undefined, 'nothing'],
  [{ status: 500 }, 'what is no error (object)'],
  ['a text', 'the text "a text"'],
  ['a\r\ntext', 'the text "a text"'],
])('%p that is thrown is told as %j', (thrown, text) => {
  expect(describeError(thrown)).toEqual({ text, frames: [] })
})

test('a message is cut after 500 characters, and all together after 1000', () => {
  expect(describeError(new Error('x'.repeat(500))).text).toBe(`Error: ${'x'.repeat(500)}`)
  expect(describeError(new Error('x'.repeat(501))).text).toBe(`Error: ${'x'.repeat(500)}...`)
  const all = describeError(new Error('x'.repeat(600), { cause: new Error('y'.repeat(600)) })).text
  expect(all).toMatch(/^Error: x{500}\.\.\.; caused by Error: y{400,}\.\.\.$/)
  expect(all).toHaveLength(1003)
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
