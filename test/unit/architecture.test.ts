import path from 'node:path'
import { sources } from '../support/sources'

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
