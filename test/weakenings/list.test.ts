import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface Weakening {
  name: string
  file: string
  find: string
  replace: string
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
  ({ file, find, replace, test: name, title }) => {
    const source = readFileSync(path.join(root, 'lib', file), 'utf8')
    expect(source.split(find)).toHaveLength(2)
    expect(replace).not.toBe(find)
    const beside = readdirSync(path.join(root, 'test', path.dirname(name)))
    expect(beside.some((entry) => entry.startsWith(path.basename(name)) && entry.endsWith('.test.ts'))).toBe(true)
    expect(() => new RegExp(title)).not.toThrow()
  },
)
