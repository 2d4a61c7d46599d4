import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/* docs/troubleshooting.md and docs/testing.md quote what the package prints: a text that it no longer prints helps nobody. */

const root = path.join(__dirname, '..')
const sources = readdirSync(path.join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join(root, 'lib', file), 'utf8'))
  .join('\n')
  // in the sources a text stands in quotes, its parts in braces
  .replaceAll("\\'", "'")

/** What others print: Node.js, the compiler. */
const FOREIGN = /^(?:Property '|[A-Z_]+$)/

/** Sentences and codes of the first column; `…` stands for what differs. */
const quoted = ['troubleshooting.md', 'testing.md'].flatMap((page) => {
  const text = readFileSync(path.join(root, 'docs', page), 'utf8')
  const cells = [...text.matchAll(/^\| ([^|]*\S) +\|/gm)].map(([, cell = '']) => cell)
  const texts = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
  return texts
    .filter((code) => (/ /.test(code) || /^[a-z]+_[a-z_]+$/.test(code)) && !FOREIGN.test(code))
    .map((code) => [page, code] as const)
})

test('there are such texts', () => {
  expect(quoted.length).toBeGreaterThan(30)
})

test.each(quoted)('%s: "%s" is printed by the package', (_page, code) => {
  const parts = code
    .replace(/^(?:exchangeTicket|loadUser|identify|sessionstatus) (?=failed: )/, '')
    .replace(/(?<=^signIn: GET )\/login (?=ended with )/, '…')
    .replace(/(?<= with )\d{3}(?:: )?|(?<=more than )20/, '…')
    .replace(/^express-sso2: /, '') // put there by Sso2SetupError
    .split('…')
    .map((part) => part.trim())
  expect(parts.filter((part) => part !== '' && !sources.includes(part))).toEqual([])
})
