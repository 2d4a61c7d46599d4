import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const sizes = { L: 12, T: 17, R: 13, F: 12, S: 15, O: 16 }
const numbers = Object.entries(sizes).flatMap(([letter, size]) =>
  Array.from({ length: size }, (_, index) => `${letter}${index + 1}`),
)
const security = readFileSync(path.join(__dirname, '..', '..', 'SECURITY.md'), 'utf8')
const rows = [...security.matchAll(/^\| ([A-Z]\d+) +\| .+ +\| (`.+`) *\|$/gm)].map(([, row = '', files = '']) => ({
  row,
  files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
}))
const sources = new Map(
  readdirSync(__dirname)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => [file.replace('.test.ts', ''), readFileSync(path.join(__dirname, file), 'utf8')]),
)
/** Titles may name several rows: `[L3, O13]`. */
const has = (source: string | undefined, row: string) =>
  new RegExp(`\\[[^\\]\\n]*\\b${row}\\b[^\\]\\n]*\\]`).test(source ?? '')

test('SECURITY.md names each of the 85 threats once', () => {
  expect(rows.map(({ row }) => row)).toEqual(numbers)
})

test.each(rows)('$row: the files that SECURITY.md names have tests that carry the number', ({ row, files }) => {
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((file) => !has(sources.get(file), row))).toEqual([])
})
