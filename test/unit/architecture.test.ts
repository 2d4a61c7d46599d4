import path from 'node:path'
import { nodesOf, sources, textAt, treeOf } from '../support/sources'

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
  config: 3,
  'deadline.ts': 3,
  storage: 4,
  remote: 4,
  web: 5,
  'doctor-target.ts': 5,
  'sso2.ts': 6,
  'index.ts': 7,
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
  const allowed = new Set(['node:buffer', 'node:crypto', 'jsonwebtoken', 'zod'])
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

test('no file is longer than 330 lines', () => {
  const lines = (file: string) => (sources.get(file) ?? '').trimEnd().split('\n').length
  const long = files.filter((file) => lines(file) > 330)
  expect(long).toEqual([])
})

/** Lengths in lines of all functions of a file, by where they begin. */
function lengths(source: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const { type, span, body, function: inner } of nodesOf(treeOf(source))) {
    if (!/Function|Method|Constructor/.test(String(type)) || !span || !(body || inner)) continue
    const text = textAt(source, span)
    found.set(text.slice(0, 60), text.split('\n').length)
  }
  return found
}

test('no function is longer than 45 lines, and nine of ten have at most 25', () => {
  const all = [...sources].flatMap(([file, source]) =>
    [...lengths(source)].map(([begin, lines]) => ({ lines, where: `${file}: ${begin}` })),
  )
  expect(all.length).toBeGreaterThan(500)
  expect(all.filter(({ lines }) => lines > 45)).toEqual([])
  expect(all.filter(({ lines }) => lines > 25).length).toBeLessThan(all.length / 10)
})

test('nothing below the command line and the entry points imports the emulator', () => {
  const reached = new Set<string>()
  const reach = (file: string) => {
    if (reached.has(file)) return
    reached.add(file)
    for (const { from, to } of imports) if (from === file) reach(to)
  }
  reach('index.ts')
  expect([...reached].filter((file) => rank(file) === undefined)).toEqual([])
})

/** The rooms of a folder, the lowest first: each imports from itself and from those before it. */
const rooms: [house: string, rooms: readonly string[]][] = [
  [
    'emulator',
    [
      ...['faults', 'config', 'platform', 'flow', 'runtime.ts', 'control', 'portal', 'http'],
      ...['server.ts', 'listener.ts', 'index.ts'],
    ],
  ],
  [
    'web',
    [
      ...['http', 'hooks.ts', 'session', 'limits.ts', 'site.ts', 'health.ts', 'sso2-options.ts'],
      ...['pages', 'context.ts', 'flows', 'routes', 'sso2-request.ts', 'guards.ts', 'router.ts'],
    ],
  ],
]

test.each(rooms)('every file of %s is in one of its rooms, and the rooms import one way', (house, inOrder) => {
  const floorOf = (file: string) => inOrder.indexOf(folder(file.slice(house.length + 1)))
  const own = files.filter((file) => file.startsWith(`${house}/`))
  const inside = imports.filter(({ from, to }) => own.includes(from) && own.includes(to))
  expect(own.filter((file) => floorOf(file) < 0)).toEqual([])
  expect(new Set(own.map(floorOf)).size).toBe(inOrder.length)
  expect(inside.length).toBeGreaterThan(inOrder.length)
  expect(inside.filter(({ from, to }) => floorOf(to) > floorOf(from))).toEqual([])
})
