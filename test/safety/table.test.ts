import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const sizes = { L: 13, T: 17, R: 13, F: 19, S: 22, O: 23 }
const numbers = Object.entries(sizes).flatMap(([letter, size]) =>
  Array.from({ length: size }, (_, index) => `${letter}${index + 1}`),
)
const security = readFileSync(path.join(__dirname, '..', '..', 'docs', 'internals', 'threat-model.md'), 'utf8')
const rows = [...security.matchAll(/^\| ([A-Z]\d+) +\| .+ +\| (`.+`) *\|$/gm)].map(([, row = '', files = '']) => ({
  row,
  files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
}))
/** By the names that docs/internals/threat-model.md gives them: files of this folder without it. */
const sources = new Map(
  ['safety', 'regressions', 'differential', 'web', 'decide', 'flows', 'remote', 'storage'].flatMap(testsIn),
)

function testsIn(folder: string): [name: string, source: string][] {
  const place = path.join(__dirname, '..', folder)
  const files = readdirSync(place).filter((file) => file.endsWith('.test.ts'))
  return files.map((file) => {
    const name = file.replace('.test.ts', '')
    return [folder === 'safety' ? name : `${folder}/${name}`, readFileSync(path.join(place, file), 'utf8')]
  })
}

/** Titles may name several rows: `[L3, O13]`. */
const has = (source: string | undefined, row: string) =>
  new RegExp(`\\[[^\\]\\n]*\\b${row}\\b[^\\]\\n]*\\]`).test(source ?? '')

test('docs/internals/threat-model.md names each of the 107 threats once', () => {
  expect(rows.map(({ row }) => row)).toEqual(numbers)
})

test.each(rows)('$row: the files that the threat model names have tests that carry the number', ({ row, files }) => {
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((file) => !has(sources.get(file), row))).toEqual([])
})
