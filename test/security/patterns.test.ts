import { nodesOf, sources, treeOf } from '../support/sources'

/** Every pattern that stands in a source. */
const patternsIn = (source: string) =>
  [...nodesOf(treeOf(source))].flatMap(({ type, pattern, flags }) =>
    type === 'RegExpLiteral' ? [new RegExp(String(pattern), `${String(flags).replace('g', '')}g`)] : [],
  )

const LONG = 12_000
const SIGNS = ' \taA1?&=.;,\'"<:/-_@%+~#[(\\0\u00e9\n'
const REPEATED = [...SIGNS, 'a-', 'a.', 'a=', '&a=', '?a', ': ', '"a', '://', 'at ']
const AHEAD = ['', 'a', '://']
const BEHIND = ['', 'b', '\u0000']

/**
 * Does a long text keep it busy, three times in a row? A pattern that looks at each sign a few times needs a fiftieth of that. What counts
 * is the time of this process on a processor: a busy machine lets it wait.
 */
function isSlow(pattern: RegExp): boolean {
  const texts = AHEAD.flatMap((head) =>
    REPEATED.flatMap((text) => BEHIND.map((tail) => head + text.repeat(LONG / text.length) + tail)),
  )
  return texts.some((text) => {
    for (let tries = 0; tries < 3; tries += 1) {
      const start = process.cpuUsage()
      text.replace(pattern, '')
      const { user, system } = process.cpuUsage(start)
      if (user + system < 20_000) return false
    }
    return true
  })
}

test('no pattern can be kept busy by a long text', () => {
  const patterns = [...sources].flatMap(([file, source]) => patternsIn(source).map((pattern) => ({ file, pattern })))
  expect(patterns.length).toBeGreaterThan(80)
  const slow = patterns.filter(({ pattern }) => isSlow(pattern))
  expect(slow.map(({ file, pattern }) => `${file}: ${pattern}`)).toEqual([])
})
