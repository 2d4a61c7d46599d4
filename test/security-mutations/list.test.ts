import { readdirSync } from 'node:fs'
import path from 'node:path'
import { root } from '../support/sources'

interface Weakening {
  name: string
  file: string
  find: string
  test: string
}
const weakenings: Weakening[] = require('./list.js')
const { weaken }: { weaken(lib: string, weakening: Weakening): Map<string, string> | string } = require('./patch.js')

/* That each is noticed is shown by `npm run weakenings`; here, that none of them has come to mean nothing. */

test.each(weakenings)('$name: the text stands there once, and there is a test', (weakening) => {
  expect(weaken(path.join(root, 'lib'), weakening)).toEqual(expect.any(Map))
  const { dir, base } = path.parse(weakening.test)
  const isIts = (entry: string) => entry.startsWith(base) && entry.endsWith('.test.ts')
  expect(readdirSync(path.join(root, 'test', dir)).filter(isIts)).not.toEqual([])
})
