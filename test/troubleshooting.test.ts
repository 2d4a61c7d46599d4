import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/* Pages quote what the package prints: a text that it no longer prints helps nobody. */

const root = path.join(__dirname, '..')
const sources = readdirSync(path.join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join(root, 'lib', file), 'utf8'))
  .join('\n')
  // in the sources a text stands in quotes, its parts in braces
  .replaceAll("\\'", "'")

/** What others print: Node.js, the compiler. */
const FOREIGN = /^(?:Property '|[A-Z_]+$)/

/** Sentences and codes of the first column and of quoted log lines. `…` stands for a part that differs. */
const quoted = ['troubleshooting.md', 'testing.md', 'errors.md'].flatMap((page) => {
  const text = readFileSync(path.join(root, 'docs', page), 'utf8')
  const cells = [...text.matchAll(/^(?:\| ([^|]*\S) +\||> (.+)$)/gm)].map(([, cell, line]) => cell ?? line ?? '')
  const texts = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
  return texts
    .filter((code) => (/ /.test(code) || /^[a-z]+_[a-z_]+$/.test(code)) && !FOREIGN.test(code))
    .map((code) => [page, code] as const)
})

test('there are such texts', () => {
  expect(quoted.length).toBeGreaterThan(40)
})

test.each(quoted)('%s: "%s" is printed by the package', (_page, code) => {
  const parts = code
    .replace(/^(?:exchangeTicket|loadUser|identify|sessionstatus|authenticate|logout) (?=failed: )/, '')
    .replace(/(?<=^signIn: GET )\/login (?=ended with )/, '…')
    .replace(/(?<= with )\d{3}(?:: )?|(?<=more than )20/, '…')
    .replace(/^express-sso2: /, '') // put there by Sso2SetupError
    .split('…')
    .map((part) => part.trim())
  expect(parts.filter((part) => part !== '' && !sources.includes(part))).toEqual([])
})

/** Members of a union type, by its name. */
function membersOf(file: string, type: string): string[] {
  const text = readFileSync(path.join(root, 'lib', file), 'utf8')
  const [, union = ''] = new RegExp(`export type ${type} =([^;{]*?)\n\n`).exec(text) ?? []
  return [...union.matchAll(/'(\w+)'/g)].map(([, member = '']) => member)
}

describe('docs/errors.md', () => {
  const page = readFileSync(path.join(root, 'docs', 'errors.md'), 'utf8')
  const errors = readFileSync(path.join(root, 'lib', 'errors.ts'), 'utf8')

  test('has a heading for each error class, with its code', () => {
    const classes = errors.split(/^export class /m).slice(1)
    const headings = classes.map((text) => {
      const [, code] = / code(?:: [^=]+)? = '(ERR_\w+)'/.exec(text) ?? []
      return `### ${/^\w+/.exec(text)?.[0]}\n\nCode \`${code}\``
    })
    expect(headings.length).toBeGreaterThan(6)
    expect(headings.filter((heading) => !page.includes(heading))).toEqual([])
  })

  test('has a heading for each reason in req.sso2.degraded', () => {
    const reasons = membersOf('decide/request-decision.ts', 'DegradedReason')
    expect(reasons.length).toBeGreaterThan(6)
    expect(reasons.filter((reason) => !page.includes(`### ${reason}\n`))).toEqual([])
  })

  test('has a row for each reason of a TokenError and each login error', () => {
    const codes = [...membersOf('errors.ts', 'TokenFault'), ...membersOf('decide/login.ts', 'LoginError')]
    expect(codes.length).toBeGreaterThan(20)
    const cells = [...page.matchAll(/^\| ([^|]*\S) +\|/gm)].map(([, cell = '']) => cell).join(' ')
    expect(codes.filter((code) => !cells.includes(`\`${code}\``))).toEqual([])
  })
})
