import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { faulty, morePairs, pairs } from './interleavings/scenarios'
import { isNode, type Node, nodesOf, sources, textAt, treeOf, withoutComments } from './support/sources'

const { longest } = require('./support/sequencer.js') as { longest: readonly string[] }

/* What the rooms of the house must not do, each of which closes a class of defects. */

/** Places below a folder where the code, comments aside, matches a pattern: file and text of each. */
function places(below: string, pattern: RegExp): string[] {
  return [...sources]
    .filter(([file]) => file.startsWith(below))
    .flatMap(([file, source]) =>
      [...withoutComments(source).matchAll(new RegExp(pattern, 'g'))].map(([text]) => `${file}: ${text.trim()}`),
    )
}
const filesWith = (below: string, pattern: RegExp) => [
  ...new Set(places(below, pattern).map((place) => place.slice(0, place.indexOf(':')))),
]

test('nothing but the stored record writes a record', () => {
  expect(filesWith('', /\brecords\.replace\(/)).toEqual(['web/stored-record.ts'])
  // a session that is data alone has no record: it is given up where express-session regenerates it
  expect(filesWith('', /\brecords\.writeMarker\(/).sort()).toEqual(['web/stored-record.ts'])
})

test('only a logout, and the site itself by its session, end a session whatever its record says', () => {
  const enders = ['web/actions/finish-logout.ts', 'web/session/store.ts']
  expect(filesWith('', /\brecords\.end\(/).sort()).toEqual(enders)
})

test('nothing but the room for sessions knows express-session and connect-redis', () => {
  const users = filesWith('', /'(?:express-session|connect-redis)'/)
  expect(users.length).toBeGreaterThan(0)
  expect(users.filter((file) => !file.startsWith('web/session/'))).toEqual([])
})

/** One channel and one log a name; which hold no visit. */
const NAMED_ONCE = ['web/hooks.ts: const channels = new Map', 'web/hooks.ts: const logs = new Map']

test('no module of the folder web keeps a map or a set, but lists of words that do not change', () => {
  const kept = places('web/', /(?<=\n)(?:export )?(?:const|let|var) [^\n]*new (?:Weak)?(?:Map|Set)\b/)
  const changeable = kept.filter((place) => !/: Readonly(?:Set|Map)</.test(place))
  expect(changeable.sort()).toEqual(NAMED_ONCE)
})

test('no module of the folder web has a variable of its own', () => {
  expect(places('web/', /(?<=\n)(?:export )?(?:let|var) [^\n]*/)).toEqual([])
})

const judgements: [what: string, pattern: RegExp][] = [
  ['the age of anything', /(?<!performance\.)\bnow\(\) *-|(?<![.\w])now -/],
  [
    'a moment of a record',
    /\b(?:checkedAt|checkBeganAt|unansweredAt|accessFailedAt|since|accessUntil|until)\b *[<>]=?(?![\w<]*>)/,
  ],
  [
    'a moment of a record, the other way',
    /[<>]=? *[\w.?]*\b(?:checkedAt|checkBeganAt|unansweredAt|accessFailedAt|accessUntil)\b/,
  ],
  ['a status', /(?<!typeof [\w.]*)\b(?:status|state|sts)\b *[!=]== *'/],
]

test.each(judgements)('the folder web does not judge %s', (_what, pattern) => {
  expect(places('web/', pattern)).toEqual([])
})

test.each<[code: string, judgement: number]>([
  ['if (site.now() - record.checkedAt > 3)', 0],
  ['const age = now - since', 0],
  ['if (record.checkBeganAt < end)', 1],
  ['until <= now()', 1],
  ['now() >= record.accessUntil', 2],
  ["record.status === 'anon'", 3],
  ["({ state }) => state !== 'ended'", 3],
])('the judgement %j would be seen', (code, judgement) => {
  expect(judgements.map(([, pattern]) => pattern.test(code)).indexOf(true)).toBe(judgement)
})

/** What is tried in this node: a block with a `catch`, or what stands before `.catch(`. */
function triedIn({ type, block, handler, callee }: Node): Node | undefined {
  if (type === 'TryStatement' && handler) return block as Node
  const { object, property } = isNode(callee) ? callee : {}
  const isCatch = type === 'CallExpression' && isNode(property) && property['value'] === 'catch'
  return isCatch ? (object as Node) : undefined
}

/** Texts that are tried. */
const tried = (source: string) =>
  [...nodesOf(treeOf(source))].flatMap((node) => {
    const found = triedIn(node)
    return found ? [textAt(source, found['span'])] : []
  })
const STORE = /\b(?:records|lists|logins|pendingLogouts|stored)\.\w+\(/

test('an outage of the store is a value: no code catches one', () => {
  const outside = [...sources].filter(([file]) => file.startsWith('web/') && !file.startsWith('web/session/'))
  const texts = outside.flatMap(([file, source]) => tried(source).map((text) => `${file}: ${text}`))
  expect(texts.length).toBeGreaterThan(5)
  expect(texts.filter((text) => STORE.test(text))).toEqual([])
  expect(filesWith('', /operation === 'store'/)).toEqual(['storage/site-store.ts'])
})

test('what is tried is seen', () => {
  const code = `/** A file. */
async function f() {
  try {
    await site.records.end(key)
  } catch {}
  await lists.leave(entry).catch(() => {})
}`
  expect(tried(code)).toEqual([expect.stringContaining('records.end(key)'), 'lists.leave(entry)'])
  expect(tried(code).map((text) => STORE.test(text))).toEqual([true, true])
  expect(tried('try { a() } finally { b() }')).toEqual([])
})

test.each(['bear', 'borne', 'tolerate', 'tolerated', 'Box', 'Named', 'whileStoreLives', 'inOneFlight'])(
  'the word %s does not come back',
  (word) => {
    expect([...sources].filter(([, source]) => new RegExp(`\\b${word}\\b`).test(source)).map(([file]) => file)).toEqual(
      [],
    )
  },
)

test('no comment cites what is not in the package', () => {
  const cites = /\b(?:contract|design)(?:\.md)?,? (?:section|decision)s? \d/i
  expect(cites.test('Design, decision 10')).toBe(true)
  expect([...sources].filter(([, source]) => cites.test(source)).map(([file]) => file)).toEqual([])
})

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

test.each(['const a = text.replace(/[ \\t]+$/, 1)', 'const f = (a) => /\\/+$/.test(a)', 'x = [/([?&])([^=]*)=/g]'])(
  'the pattern in %j would be seen',
  (code) => {
    expect(patternsIn(code).map(isSlow)).toEqual([true])
  },
)

const tests = __dirname
const isCode = (file: string) => /\.(?:[cm]?[jt]s)$/.test(file)
/** Folders of code. Screenshots of failed browser tests have a folder too. */
const folders = readdirSync(tests, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && readdirSync(path.join(tests, entry.name)).some(isCode))
  .map(({ name }) => name)

/** Files and folders in backticks that do not exist below `test`, below this folder, or below the project. */
function missingPaths(text: string, folder: string): string[] {
  const named = [...text.matchAll(/`([\w./-]+\.(?:[cm]?[jt]s|md)|test\/[\w-]+)`/g)].map(([, name = '']) => name)
  const places = [path.join(tests, folder), path.join(tests, '..')]
  return named.filter((name) => !places.some((place) => existsSync(path.join(place, name))))
}

test.each(folders)('the folder test/%s says in five lines what it is for', (folder) => {
  const [title = '', ...lines] = readFileSync(path.join(tests, folder, 'README.md'), 'utf8').split('\n', 5)
  expect(title).toMatch(/^# [A-Z]/)
  expect(lines.join(' ').split(/\s+/).length).toBeGreaterThan(20)
  expect(missingPaths(lines.join('\n'), folder)).toEqual([])
})

test('a README that names a file that is gone would be seen', () => {
  const text = 'Begin at `gone.ts`, `README.md`, `test/gone` or `lib/index.ts`.'
  expect(missingPaths(text, 'support')).toEqual(['gone.ts', 'test/gone'])
})

describe('docs/internals/decision-tables.md', () => {
  const page = readFileSync(path.join(tests, '..', 'docs', 'internals', 'decision-tables.md'), 'utf8')
  const all = [...sources.values()].join('\n')
  const named = (pattern: RegExp) => [...new Set([...page.matchAll(pattern)].map(([, name = '']) => name))]

  test('names no file that is gone', () => {
    const files = named(/`([\w/-]+\.ts)`/g)
    const places = ['', 'lib', 'lib/web/actions', 'lib/storage'].map((folder) => path.join(tests, '..', folder))
    expect(files.length).toBeGreaterThan(50)
    expect(files.filter((file) => !places.some((place) => existsSync(path.join(place, file))))).toEqual([])
  })

  test('names no function, option or constant that is gone', () => {
    const names = named(/`([a-z]+[A-Z]\w*|MAX_\w+)`/g)
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([])
  })

  test('names no order of events that is not tried', () => {
    const tried = new Set<string>([...pairs, ...morePairs, ...faulty])
    const names = named(/`((?:\w+\/)?\w+:[\w+]+(?:\\\|[\w+.]+)*)`/g).map((name) => name.replaceAll('\\|', '|'))
    expect(names.length).toBeGreaterThan(25)
    expect(names.filter((name) => !tried.has(name))).toEqual([])
  })
})

test('the suites that begin first exist', () => {
  expect(longest.length).toBeGreaterThan(5)
  expect(longest.filter((file) => !existsSync(file))).toEqual([])
})

test('each folder of the mutation run names suites that exist', () => {
  const folders = require('./mutation/folders.js') as Record<string, { suites: readonly string[] }>
  const suites = Object.values(folders).flatMap((folder) => folder.suites)
  const isThere = (suite: string) => ['', '.test.ts', '.ts'].some((end) => existsSync(path.join(tests, suite + end)))
  const missing = suites.filter((suite) => !isThere(suite))
  expect(missing).toEqual([])
})

/** Its functions are those of a page, in a text. */
const PAGE_SCRIPT = 'emulator/portal/script.ts'

test('no two functions of the package share a name', () => {
  const named = /^(?:export )?(?:(?:async )?function\*? (\w+)|const (\w+) = (?:async )?(?:<[^=]*>)?(?:\(|\w+ =>))/gm
  const places = new Map<string, Set<string>>()
  for (const [file, source] of sources) {
    if (file === PAGE_SCRIPT) continue
    for (const [, one, other = ''] of source.matchAll(named)) {
      const name = one ?? other
      places.set(name, (places.get(name) ?? new Set()).add(file))
    }
  }
  expect(places.size).toBeGreaterThan(500)
  expect([...places].filter(([, files]) => files.size > 1).map(([name]) => name)).toEqual([])
})
