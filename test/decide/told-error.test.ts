import vm from 'node:vm'
import { onOneLine } from '../../lib/decide/masking'
import { tellError } from '../../lib/decide/told-error'

function thrownHere(): Error {
  return new TypeError('no such user')
}

test('an error is told by name and message, and where it was thrown', () => {
  const { text, frames } = tellError(thrownHere())
  expect(text).toBe('TypeError: no such user')
  expect(frames[0]).toMatch(/^at thrownHere \(.*told-error\.test\.ts:\d+:\d+\)$/)
  expect(frames.length).toBeLessThanOrEqual(8)
})

test('its code and its causes are told with it, and no endless row of them', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  expect(tellError(new TypeError('fetch failed', { cause: refused })).text).toBe(
    'TypeError: fetch failed; caused by Error: connect ECONNREFUSED 127.0.0.1:1',
  )
  expect(tellError(Object.assign(new Error('no luck'), { code: 'E_LUCK' })).text).toBe('Error: no luck (E_LUCK)')
  const circle = new Error('round')
  circle.cause = circle
  expect(tellError(circle).text.split('caused by')).toHaveLength(4)
})

test('an error of another realm is one too', () => {
  expect(tellError(vm.runInNewContext('new RangeError("far away")')).text).toBe('RangeError: far away')
})

test.each<[thrown: unknown, text: string]>([
  [undefined, 'nothing'],
  [null, 'what is no error (object)'],
  [42, 'what is no error (number)'],
  [{ status: 500 }, 'what is no error (object)'],
  ['a text', 'the text "a text"'],
  ['a\r\ntext', 'the text "a text"'],
])('%p that is thrown is told as %j', (thrown, text) => {
  expect(tellError(thrown)).toEqual({ text, frames: [] })
})

test('a trap costs nothing but the words', () => {
  const trap = {
    get message() {
      throw new Error('a trap')
    },
  }
  expect(tellError(trap)).toEqual({ text: 'an error that cannot be read', frames: [] })
})

test('nobody writes lines of his own by a message, a name or a stack', () => {
  const error = Object.assign(new Error('a\r\nINJECTED\u001b[31m'), { name: 'N\nINJECTED' })
  const { text, frames } = tellError(error)
  expect(text).toBe('N INJECTED: a INJECTED [31m')
  expect([text, ...frames].join('')).toBe(onOneLine([text, ...frames].join('')))
  expect(frames[0]).toMatch(/^at /)
})

test('a message of any length is told in a few words', () => {
  const { text } = tellError(new Error('x'.repeat(1_000_000), { cause: new Error('y'.repeat(1_000_000)) }))
  expect(text.length).toBeLessThan(1100)
})
