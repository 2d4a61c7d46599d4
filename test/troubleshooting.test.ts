import { LOG_LINES, RECOVERIES } from '../lib/log/log-lines'
import { isNode, type Node, nodesOf, readText, sources, treeOf } from './support/sources'

/* Pages quote the texts of the package, and texts name headings of pages: both must exist. */

const files = [...sources]

/** Text of a literal or a template, `…` for each part that differs. */
function textOf(node: Node): string | undefined {
  if (node['type'] === 'StringLiteral') return String(node['value'])
  if (node['type'] !== 'TemplateLiteral') return undefined
  return (node['quasis'] as Node[]).map((part) => String(part['cooked'])).join('…')
}

const trees = files.map(([file, source]) => [file, treeOf(source)] as const)
const texts = trees.flatMap(([file, tree]) =>
  [...nodesOf(tree)].flatMap((node) => {
    const text = textOf(node)
    return text === undefined ? [] : [{ file, text }]
  }),
)
const allTexts = texts.map(({ text }) => text).join('\n')

const pageOf = (page: string) => readText('docs', page)
const headingsOf = (page: string) => [...pageOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)

/** What others print: Node.js, the compiler. */
const FOREIGN = /^(?:Property '|[A-Z_]+$)/

/** Sentences and codes of the first column and of quoted log lines. `…` stands for a part that differs. */
const quoted = ['troubleshooting.md', 'testing.md'].flatMap((page) => {
  const [text = ''] = pageOf(page).split('\n## The emulator\n', 1)
  const cells = [...text.matchAll(/^(?:\| ([^|]*\S) +\||> (.+)$)/gm)].map(([, cell, line]) => cell ?? line ?? '')
  const codes = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
  return codes
    .filter((code) => (/ /.test(code) || /^[a-z]+_[a-z_]+$/.test(code)) && !FOREIGN.test(code))
    .map((code) => [page, code] as const)
})

test('there are such texts', () => {
  expect(quoted.length).toBeGreaterThan(40)
})

test.each(quoted)('%s: "%s" is printed by the package', (_page, code) => {
  const parts = code
    .replace(/(?<=^Step )\w+(?= failed: )/, '…')
    .replace(/^(?:onLogin|onLogout)(?= failed: )/, '…')
    .replace(/(?<=^signIn: GET )\/login (?=ended with )/, '…')
    .replace(/(?<= with )\d{3}(?:: )?|(?<=more than )20/, '…')
    .split(/…| \((?=…|maxmemory)|:? …|(?<=…)\)/)
    .map((part) => part.replace(/:$/, '').trim())
  expect(parts.filter((part) => part !== '' && !allTexts.includes(part))).toEqual([])
})

describe('log lines', () => {
  const page = pageOf('troubleshooting.md')
  const section = page.slice(page.indexOf('\n## Log lines\n')).split(/^## (?!Log lines)/m, 1)[0] ?? ''
  const sections = new Map(
    section.split(/^### /m).map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n'))] as const),
  )

  test('docs/troubleshooting.md has a heading for each line, and each heading has a line', () => {
    const named = [...new Set(Object.values(LOG_LINES).map(({ heading }) => heading))].sort()
    expect(named.length).toBeGreaterThan(20)
    expect([...sections.keys()].filter((heading) => heading !== '' && heading !== '## Log lines').sort()).toEqual(named)
  })

  /** First words of a text, without marks and parts that differ. */
  const beginOf = (text: string) => text.replace(/[…:,]/g, '').split(/\s+/).slice(0, 3).join(' ').trim()

  const CALLED =
    /^(?:your team|the platform team|the Redis team|the people who run (?:your proxy or CDN|that store))[.,:]/
  const pointsOf = (text: string) =>
    [...text.matchAll(/^- \*\*([\w ]+):\*\* (.+)$/gm)].map(([, name = '', point = '']) => [name, point] as const)

  test.each(Object.entries(LOG_LINES))(
    '%s: the heading quotes the line, and says what is broken, what users see, what to do, whom to call and when it is over',
    (_name, { heading, happened }) => {
      const text = sections.get(heading) ?? ''
      const [, quotes = ''] = /^> (.+)$/m.exec(text) ?? []
      const begins = [...quotes.matchAll(/`([^`]+)`/g)].map(([, quote = '']) => beginOf(quote))
      expect(begins).toContain(beginOf(happened))
      const points = pointsOf(text)
      expect(points.map(([name]) => name)).toEqual(['Broken', 'Users see', 'Do', 'Call', 'Over'])
      expect(new Map(points).get('Call')).toMatch(CALLED)
    },
  )

  test('begin with a capital letter or a name of the API, and have sentences without questions', () => {
    for (const { happened, users, check } of Object.values(LOG_LINES)) {
      expect(happened).toMatch(/^(?:[A-Z]|req\.session\.destroy\(\)|onLogin |views\.problem )/)
      expect(users).toMatch(/^[A-Z]/)
      expect(`${happened}${users}${check}`).not.toMatch(/\?|\.$/m)
    }
    const ends = [...sections.values()].map((text) => new Map(pointsOf(text)).get('Over') ?? '').join('\n')
    for (const text of Object.values(RECOVERIES)) {
      expect(text).toMatch(/^[A-Z].*\.$/)
      expect(ends).toContain(`\`${text}\``)
    }
  })
})

test('each heading that a text of the package names exists', () => {
  const named = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/"([^"…]+)" in docs\/([\w/-]+\.md)/g)].map(([, heading = '', page = '']) => ({
      file,
      heading,
      page,
    })),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(({ heading, page }) => !headingsOf(page).includes(heading))).toEqual([])
})

test('docs/troubleshooting.md has a row for each error of a wrong mount or function', () => {
  const pages = pageOf('troubleshooting.md')
  const thrown = trees.flatMap(([file, tree]) =>
    [...nodesOf(tree)]
      .filter(
        ({ type, callee }) =>
          type === 'NewExpression' &&
          isNode(callee) &&
          /^(?:Sso2SetupError|TypeError|Error)$/.test(String(callee['value'])),
      )
      .flatMap((node) => {
        const [first] = node['arguments'] as { expression: Node }[]
        const isSetup = (node['callee'] as Node)['value'] === 'Sso2SetupError'
        const named =
          first?.expression['type'] === 'Identifier' ? constantOf(file, String(first.expression['value'])) : undefined
        const text = named ?? (first && textOf(first.expression))
        return text !== undefined && (isSetup || text.startsWith('express-sso2: ')) ? [text] : []
      }),
  )
  expect(thrown.length).toBeGreaterThan(10)
  const begin = (text: string) => text.replace('express-sso2: ', '').split(/…|\. /)[0] ?? ''
  expect(thrown.filter((text) => !pages.includes(`\`${begin(text)}`))).toEqual([])
})

test('docs/commands.md has a heading for each line of the doctor', () => {
  const sources = files.filter(([file]) => /^cli.doctor/.test(file)).map(([, source]) => source)
  const subjects = sources.flatMap((source) => [...source.matchAll(/about\('([^']+)'\)/g)].map(([, name = '']) => name))
  expect(new Set(subjects).size).toBeGreaterThan(12)
  const headings = headingsOf('commands.md').flatMap((heading) => heading.split(', '))
  expect(
    [...subjects, 'Redis', 'ssoUrl', 'tokenUrl', 'apiUrl', 'siteUrl'].filter((name) => !headings.includes(name)),
  ).toEqual([])
})

function constantOf(file: string, name: string): string | undefined {
  const tree = trees.find(([one]) => one === file)?.[1]
  for (const node of nodesOf(tree)) {
    const { type, id, init } = node
    if (type === 'VariableDeclarator' && isNode(id) && id['value'] === name && isNode(init)) return textOf(init)
  }
  return undefined
}

/** Members of a union type, by its name. */
function membersOf(file: string, type: string): string[] {
  const [, text = ''] = files.find(([name]) => name === file) ?? []
  const [, union = ''] = new RegExp(`export type ${type} =([^;{]*?)\n\n`).exec(text) ?? []
  return [...union.matchAll(/'(\w+)'/g)].map(([, member = '']) => member)
}

describe('errors and codes in docs/troubleshooting.md', () => {
  const page = pageOf('troubleshooting.md')
  const errors = readText('lib', 'errors.ts')

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
    const reasons = membersOf('decide/identity.ts', 'DegradedReason')
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
