import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { nodesOf, root, treeOf } from '../support/sources'

interface Weakening {
  name: string
  file: string
  find: string
  replace?: string
  also?: { file?: string; find: string; replace?: string }[]
  test: string
  title: string
}
const weakenings: Weakening[] = require('./list.js')
const { weaken }: { weaken(lib: string, weakening: Weakening): Map<string, string> | string } = require('./patch.js')

/** Every text that stands in a program, a template with a dot for each of its gaps. */
const textsIn = (source: string) =>
  [...nodesOf(treeOf(source))].flatMap(({ type, value, quasis }) => {
    if (type === 'StringLiteral') return [String(value)]
    return type === 'TemplateLiteral' ? [(quasis as { cooked: string }[]).map(({ cooked }) => cooked).join('.')] : []
  })

const known = new Map<string, string[]>()

/** The texts of a file and of those below test/ that it imports: titles of tests, and the tables that fill them in. */
function textsOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file) || !existsSync(file) || !file.startsWith(path.join(root, 'test'))) return []
  seen.add(file)
  const source = readFileSync(file, 'utf8')
  const texts = known.get(file) ?? textsIn(source)
  known.set(file, texts)
  const imported = [...source.matchAll(/ from '(\.[^']+)'/g)].map(([, name]) =>
    path.resolve(path.dirname(file), `${name}.ts`),
  )
  return [...texts, ...imported.flatMap((one) => textsOf(one, seen))]
}

/** A title that a table fills in stands nowhere as a whole: then each of its words does, without what may be one or another. */
function isTitleAmong(texts: readonly string[], title: string): boolean {
  if (texts.some((text) => new RegExp(title).test(text))) return true
  const words = title.replace(/\\.|\[[^\]]*\]|\([^)]*\|[^)]*\)/g, ' ').match(/[a-z]{3,}/gi) ?? []
  const isThere = (word: string) => texts.some((text) => new RegExp(`\\b${word}\\b`).test(text))
  return words.length > 0 && words.every(isThere)
}

/* That each is noticed is shown by `npm run weakenings`; here, that none of them has come to mean nothing. */

test('there are at least 40 weakenings, each with a name of its own', () => {
  expect(new Set(weakenings.map(({ name }) => name)).size).toBe(weakenings.length)
  expect(weakenings.length).toBeGreaterThanOrEqual(40)
})

test.each(weakenings)('$name: the text stands there once, and there is a test', (weakening) => {
  expect(weaken(path.join(root, 'lib'), weakening)).toEqual(expect.any(Map))
  for (const { find, replace } of [weakening, ...(weakening.also ?? [])]) expect(replace).not.toBe(find)
  const { test: name, title } = weakening
  const folder = path.join(root, 'test', path.dirname(name))
  const isIts = (entry: string) => entry.startsWith(path.basename(name)) && entry.endsWith('.test.ts')
  const files = readdirSync(folder).filter(isIts)
  expect(files).not.toEqual([])
  const texts = files.flatMap((entry) => textsOf(path.join(folder, entry)))
  expect([title, isTitleAmong(texts, title)]).toEqual([title, true])
})
