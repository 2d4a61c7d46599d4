import fc from 'fast-check'
import {
  flowParameterOf,
  MAX_CARRIED_LENGTH,
  MAX_RETURN_LENGTH,
  validateReferer,
  validateReturnTo,
  withFlowParameter,
  withoutFlowParameter,
} from '../../lib/decide/return-to'

const ORIGIN = 'https://news.example'
const policy = { origin: ORIGIN, trustedOrigins: ['https://shop.example:8443'] }
const isOurs = (address: string) => [ORIGIN, ...policy.trustedOrigins].includes(new URL(address).origin)

const hostile: unknown[] = [
  ...[undefined, 0, [`${ORIGIN}/`], ''],
  ...['//evil.example', '///evil.example', '/\\evil.example', '\\/evil.example', 'https:\\\\evil.example'],
  ...['https:evil.example', 'https:/news.example/a', 'https:news.example:443/a', 'https://'],
  ...['https://evil.example', 'https://shop.example/', 'http://news.example/', 'https://news.example:444/'],
  ...['https://news.example.evil.example/', 'https://n\u0435ws.example/', 'https://evil.example\\.news.example/'],
  ...['https://news.example@evil.example/', 'https://user@news.example/', 'https://evil.example\\@news.example/'],
  ...['JaVaScRiPt:alert(1)', 'javascript://news.example/%0aalert(1)', 'data:text/html,hello'],
  ...[' /', '\t//evil.example', 'https://news.example/ ', '/\t/evil.example', '/a\r\nSet-Cookie: a=b', '/a\u0000b'],
  ...['news.example/', '?a=b', '#a', './a', '../a'],
  `/${'a'.repeat(MAX_RETURN_LENGTH)}`,
]
test.each(hostile)('the hostile value leads nowhere: %j', (value) => {
  expect(validateReturnTo(value, policy)).toBeUndefined()
})

const benign = [
  ...['/', '/a/b/', '/a//b', '/a/../b', '/..', '/a?', '/a?b=c&b=d&d', '/a?b=%20+c', '/a?b[]=<c>"\\c', '/a#b\\c'],
  ...['/a?b=c#d/e?f', '/%41%e6%E6%B8%2F%2f', '/a%zz', "/~;b=c,!*()'$&=@:|^{}`[0]"],
  ...['/?r=https://other.example/', '/a?x=https%3A%2F%2Fother.example'],
]
test.each(benign)('the benign path %s comes out byte for byte', (value) => {
  expect(validateReturnTo(value, policy)).toBe(ORIGIN + value)
  expect(validateReturnTo(ORIGIN + value, policy)).toBe(ORIGIN + value)
  expect(validateReturnTo(`https://shop.example:8443${value}`, policy)).toBe(`https://shop.example:8443${value}`)
})

test.each([
  ['/a b', '/a%20b'],
  ['/ /evil.example', '/%20/evil.example'],
])('spaces inside of %j come out in the one spelling that an address has', (value, expected) => {
  expect(validateReturnTo(value, policy)).toBe(ORIGIN + expected)
  expect(validateReturnTo(ORIGIN + value, policy)).toBe(ORIGIN + expected)
})

const pathOf = (length: number, letter = 'a') => `/${letter.repeat(length - 1)}`

test('an address may be as long as the limit says, and on its way through Identify longer by our parameter', () => {
  expect(validateReturnTo(pathOf(MAX_RETURN_LENGTH), policy)).toBe(ORIGIN + pathOf(MAX_RETURN_LENGTH))
  expect(validateReturnTo(pathOf(MAX_RETURN_LENGTH + 1), policy)).toBeUndefined()
  const page = `${ORIGIN}${pathOf(MAX_RETURN_LENGTH - ORIGIN.length)}`
  const carried = withFlowParameter(page, `${'9'.repeat(12)}.${'x'.repeat(22)}`)
  expect(validateReturnTo(carried, policy)).toBeUndefined()
  expect(validateReturnTo(carried, policy, MAX_CARRIED_LENGTH)).toBe(carried)
  expect(validateReturnTo(pathOf(MAX_CARRIED_LENGTH + 1), policy, MAX_CARRIED_LENGTH)).toBeUndefined()
})

test.each([
  ['HTTPS://NEWS.EXAMPLE/a', '/a'],
  ['https://news.example', '/'],
  ['https://news.example:443/a?b', '/a?b'],
  ['/sm\u00f8r?q=\u00e5', '/sm%C3%B8r?q=%C3%A5'],
])('%j of the site comes out in the usual spelling', (value, expected) => {
  expect(validateReturnTo(value, policy)).toBe(ORIGIN + expected)
})

test('whatever goes in, what comes out is on a trusted origin', () => {
  const signs = ['/', '\\', '//', ':', '@', '?', '#', '.', '%2f', '\t', '\n', ' ', '\u3002', '[', ']']
  const piece = fc.constantFrom(...signs, 'https:', 'http:', 'news.example', 'evil.example', ORIGIN)
  const text = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    fc.webUrl(),
    fc.string(),
  )
  fc.assert(
    fc.property(text, (value) => {
      const judged = validateReturnTo(value, policy)
      expect(judged === undefined || isOurs(judged)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test.each([
  ['/a', '/a?sso2=v'],
  ['/a#f', '/a?sso2=v#f'],
  ['/a?b=%20+c&b=d#f?g#h', '/a?b=%20+c&b=d&sso2=v#f?g#h'],
  ['/a?sso2=visitor', '/a?sso2=v'],
])('%s with our parameter is %s', (address, expected) => {
  expect(withFlowParameter(address, 'v')).toBe(expected)
})

test.each(benign)('our parameter put on %s and taken off leaves no trace', (address) => {
  const carried = withFlowParameter(address, '1.x')
  expect(flowParameterOf(carried)).toBe('1.x')
  expect(withoutFlowParameter(carried)).toBe(address)
})

test.each([
  ['/a', undefined],
  ['/a#sso2=v', undefined],
  ['/a?sso2=1&sso2=2', undefined],
  ['/a?b&sso2=v=w&c', 'v=w'],
])('of %s our parameter is %j', (address, value) => {
  expect(flowParameterOf(address)).toBe(value)
})

describe('a Referer', () => {
  test.each<[given: string, page: string]>([
    [`${ORIGIN}/a/b?c=d&e=%20`, `${ORIGIN}/a/b?c=d&e=%20`],
    [`${ORIGIN}/a?b=1&sso2=1800000000.abc&c=2`, `${ORIGIN}/a?b=1&c=2`],
    [`${ORIGIN}/a?r=https://evil.example/`, `${ORIGIN}/a?r=https://evil.example/`],
  ])('%s is returned to', (given, page) => {
    expect(validateReferer(given, policy)).toBe(page)
  })

  const others = ['/', '/a', ORIGIN, 'HTTPS://NEWS.EXAMPLE/', `${ORIGIN}:443/`, 'https://shop.example:8443/a']
  test.each([...hostile, ...others, 'about:client'].filter((value) => !Array.isArray(value)))('%p is not', (value) => {
    expect(validateReferer(value, policy)).toBeUndefined()
  })
})
