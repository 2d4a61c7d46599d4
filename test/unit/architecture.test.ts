import path from 'node:path'
import { nodesOf, sources, treeOf } from '../support/sources'

const files = [...sources.keys()]

interface Import {
  from: string
  to: string
}

/** Every import of a file of ours, `import type`, re-exports and dynamic imports included. */
const imports: Import[] = [...sources].flatMap(([from, source]) =>
  specifiers(source)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => ({ from, to: resolve(from, specifier) })),
)

function specifiers(source: string): string[] {
  const found = source.matchAll(/(?:\bfrom\s+|\bimport\s+|\b(?:import|require)\(\s*)'([^'\n]+)'/g)
  return [...found].map(([, specifier = '']) => specifier)
}

function resolve(from: string, specifier: string): string {
  const target = path.posix.join(path.posix.dirname(from), specifier.replace(/\.js$/, ''))
  return sources.has(`${target}.ts`) ? `${target}.ts` : `${target}/index.ts`
}

/** The first folder of a file, or the file itself. */
const folder = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file)
const ranks: Readonly<Record<string, number>> = {
  'errors.ts': 0,
  protocol: 1,
  decide: 2,
  log: 3,
  config: 4,
  'deadline.ts': 4,
  storage: 5,
  remote: 5,
  web: 6,
  'doctor-target.ts': 6,
  'sso2.ts': 7,
  'index.ts': 8,
}
const rank = (file: string) => ranks[folder(file)]
const pure = files.filter((file) => (rank(file) ?? 9) <= 2)

test('imports point downwards only', () => {
  const isDown = ({ from, to }: Import) => {
    const [upper, lower] = [rank(from), rank(to)]
    if (upper === undefined) return true
    if (folder(from) === folder(to)) return true
    return lower !== undefined && lower < upper
  }
  expect(imports.filter((one) => !isDown(one))).toEqual([])
})

test('the emulator shares the protocol and the errors with the package, and nothing else', () => {
  const allowed = new Set(['emulator', 'protocol', 'errors.ts'])
  expect(imports.filter(({ from, to }) => folder(from) === 'emulator' && !allowed.has(folder(to)))).toEqual([])
})

test('the examiner uses the emulator, the protocol and the errors, and only the command line uses the examiner', () => {
  const allowed = new Set(['examiner', 'emulator', 'protocol', 'errors.ts'])
  const own = imports.filter(({ from }) => folder(from) === 'examiner')
  expect(own.length).toBeGreaterThan(30)
  expect(own.filter(({ to }) => !allowed.has(folder(to)))).toEqual([])
  const users = imports.filter(({ from, to }) => folder(to) === 'examiner' && folder(from) !== 'examiner')
  expect(new Set(users.map(({ from }) => folder(from)))).toEqual(new Set(['cli']))
})

test('no import goes in a circle', () => {
  const circles: string[] = []
  const done = new Set<string>()
  const follow = (file: string, trail: readonly string[]) => {
    if (trail.includes(file)) circles.push([...trail.slice(trail.indexOf(file)), file].join(' > '))
    if (trail.includes(file) || done.has(file)) return
    for (const { from, to } of imports) if (from === file) follow(to, [...trail, file])
    done.add(file)
  }
  for (const file of files) follow(file, [])
  expect(circles).toEqual([])
})

test('errors, protocol and decisions import no framework, no store and no network', () => {
  const allowed = new Set(['node:buffer', 'node:crypto', 'isbot', 'jsonwebtoken', 'zod'])
  const foreign = pure.flatMap((file) =>
    specifiers(sources.get(file) ?? '')
      .filter((specifier) => !specifier.startsWith('.') && !allowed.has(specifier))
      .map((specifier) => `${file}: ${specifier}`),
  )
  expect(foreign).toEqual([])
})

const clocks = ['Date.now', 'new Date(', 'performance.', 'setTimeout', 'setInterval']
test.each([...clocks, 'process.', ' fetch(', 'console.', 'Math.random', 'randomBytes', 'randomUUID'])(
  'errors, protocol and decisions know nothing of %s',
  (word) => {
    expect(pure.filter((file) => sources.get(file)?.includes(word))).toEqual([])
  },
)

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
