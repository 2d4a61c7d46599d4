import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/* Every threat of docs/internals/threat-model.md has a test that names it in its title: `[S7]`. A title may name several: `[L3, O13]`. */

const root = path.join(__dirname, '..')
const page = readFileSync(path.join(root, '..', 'docs', 'internals', 'threat-model.md'), 'utf8')
const threats = [...page.matchAll(/^\| ([LTRFSO]\d+) +\|/gm)].map(([, threat = '']) => threat)
const suites = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'))
const sources = suites.map((file) => readFileSync(path.join(root, file), 'utf8')).join()
const tried = new Set(
  [...sources.matchAll(/["'`]\[([A-Z]\d+(?:, [A-Z]\d+)*)\]/g)].flatMap(([, named = '']) => named.split(', ')),
)

test('there are 107 threats', () => {
  expect(threats).toHaveLength(107)
})

test.each(threats)('%s is tried', (threat) => {
  expect([...tried]).toContain(threat)
})
