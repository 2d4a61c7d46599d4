import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface Weakening {
  name: string
  file: string
  find: string
  replace: string
  also?: { file?: string; find: string; replace: string }[]
  test: string
  title: string
}
const weakenings: Weakening[] = require('./list.js')
const root = path.join(__dirname, '..', '..')

/* That each is noticed is shown by `npm run weakenings`; here, that none of them has come to mean nothing. */

test('there are at least 40 weakenings, each with a name of its own', () => {
  expect(new Set(weakenings.map(({ name }) => name)).size).toBe(weakenings.length)
  expect(weakenings.length).toBeGreaterThanOrEqual(40)
})

test.each(weakenings)(
  '$name: the text stands there once, and there is a test',
  ({ file, find, replace, also = [], test: name, title }) => {
    const sources = new Map<string, string>()
    for (const { file: changed, ...change } of [{ file, find, replace }, ...also.map((more) => ({ file, ...more }))]) {
      const parts = (sources.get(changed) ?? readFileSync(path.join(root, 'lib', changed), 'utf8')).split(change.find)
      expect(parts).toHaveLength(2)
      expect(change.replace).not.toBe(change.find)
      sources.set(changed, parts.join(change.replace))
    }
    const beside = readdirSync(path.join(root, 'test', path.dirname(name)))
    expect(beside.some((entry) => entry.startsWith(path.basename(name)) && entry.endsWith('.test.ts'))).toBe(true)
    expect(() => new RegExp(title)).not.toThrow()
  },
)
