import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root } from '../support/sources'

/* What is generated of the documentation is what the sources and the built declarations would give now. */

/* two programs of the compiler, on a machine that may be busy */
jest.setTimeout(120_000)

const folder = mkdtempSync(path.join(tmpdir(), 'sso2-docs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const filesOf = (place: string) =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(place, path.join(entry.parentPath, entry.name)))
    .sort()

const read = (place: string) => (existsSync(place) ? readFileSync(place, 'utf8') : '')

/** The first line in which two texts differ. */
function differenceOf(file: string): string[] {
  const [ours, made] = [read(path.join(root, file)), read(path.join(folder, file))]
  if (ours === made) return []
  const [before, after] = [ours.split('\n'), made.split('\n')]
  const at = after.findIndex((line, index) => line !== before[index])
  const line = at < 0 ? after.length : at
  return [`${file}:${line + 1} has ${JSON.stringify(before[line])}, would have ${JSON.stringify(after[line])}`]
}

beforeAll(() => {
  execFileSync(process.execPath, [path.join(root, 'tools/docs'), folder], { encoding: 'utf8' })
})

test('the tables of options, API reference and the comments of options are as `npm run docs` writes them', () => {
  const made = filesOf(folder)
  expect(made).toEqual(expect.arrayContaining(['docs/llms.txt', 'docs/api/index.md', 'docs/options.md']))
  expect(made.filter((file) => file.startsWith('lib/')).length).toBeGreaterThan(3)
  const stale = made.flatMap(differenceOf)
  expect(stale.length > 0 ? ['npm run docs, and look at the differences:', ...stale] : []).toEqual([])
})

test('docs/api has no page of what is there no more', () => {
  expect(filesOf(path.join(root, 'docs', 'api'))).toEqual(filesOf(path.join(folder, 'docs', 'api')))
})
