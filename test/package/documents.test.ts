import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createEmulator, demoOptions } from '../../lib/emulator'
import { Log } from '../../lib/log/log'
import { type Heading, LOG_LINES } from '../../lib/log/log-lines'
import { allPages } from '../../tools/docs/pages'
import { anchorsOf, type Block, blocksOf, headingsOf, proseOf } from '../support/markdown'
import { launch } from '../support/process'
import { compilerMessages, makeWorkshop } from '../support/project'
import { readText, root, sources } from '../support/sources'

/*
 * What the documentation says is so: its code compiles, its commands run, its links lead somewhere. A block of code may use the names of
 * `around`, and import what the page shows as a file: the line before such a block has the file's name. One that goes on from the block
 * before it on its page has the line <!-- continues --> above it.
 */

const pages = allPages()

interface Snippet {
  /** A folder for each page, in which a block has the name that the line before gives it, or that of its line. */
  readonly path: string
  readonly code: string
}

/** By the language of a block: the ending that the compiler knows it by. */
const ENDINGS: Readonly<Record<string, string>> = {
  ...{ ts: 'ts', typescript: 'ts', mts: 'mts', cts: 'cts' },
  ...{ js: 'js', javascript: 'js', mjs: 'mjs', cjs: 'cjs' },
}

function endingOf({ language, code }: Block): string | undefined {
  const isCommon = /\brequire\(/.test(code) && !/^import /m.test(code)
  return isCommon ? ENDINGS[language]?.replace(/^[jt]/, 'c$&') : ENDINGS[language]
}

function snippetsOf({ file, text }: (typeof pages)[number]): Snippet[] {
  const found: Snippet[] = []
  for (const block of blocksOf(text)) {
    const ending = endingOf(block)
    if (ending === undefined || block.note === 'in a service worker') continue
    const before = block.note === 'continues' ? found.pop() : undefined
    const name = block.file?.endsWith(ending) ? block.file : `line-${block.line}.${ending}`
    found.push({
      path: before?.path ?? `${file.replace(/\W/g, '-')}/${name}`,
      code: before ? `${before.code}\n${block.code}` : block.code,
    })
  }
  return found
}
const snippets = pages.flatMap(snippetsOf)

/** What a snippet may take for granted because another one has made it. */
const around = `
import type { Express, Request, Response } from 'express'
import type { Sso2 } from 'express-sso2'
declare global {
  const app: Express
  const req: Request
  const res: Response
  const sso: Sso2
  const sso2: typeof import('express-sso2').sso2
  const siteOrigin: string
  const isOurForm: (req: Request) => boolean
}
`

/** What a page shows beside this package and nobody here installs: its names may be used in any way. */
const ELSEWHERE = ['redis', '@playwright/test', 'helmet', 'http-proxy-middleware', 'next', 'next/server.js', 'vitest']

/** Who takes `sso.session` and `sso.middleware`: Express, socket.io's engine, and whoever has a bare request of Node.js. */
const callers = `
import type { IncomingMessage, ServerResponse } from 'node:http'
type EngineMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void
app.use(sso.session)
app.use('/paper', sso.session, sso.router, sso.middleware)
export const engine: EngineMiddleware[] = [sso.session, sso.middleware]
export const onUpgrade = (request: IncomingMessage, done: (error?: unknown) => void) => sso.session(request, {}, done)
export const onRequest = (request: IncomingMessage, response: ServerResponse) => sso.session(request, response, () => {})
// @ts-expect-error a request is needed
sso.session({}, {}, () => {})
`

const entry = (name: string) => [path.join(root, 'dist', name, 'index.d.ts').replace('//', '/')]

const compilerOptions = {
  noEmit: true,
  rootDir: '/',
  target: 'es2022',
  lib: ['es2023', 'dom'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  allowJs: true,
  skipLibCheck: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  types: ['node'],
  typeRoots: [path.join(root, 'node_modules', '@types')],
  paths: {
    'express-sso2': entry('.'),
    'express-sso2/emulator': entry('emulator'),
    'express-sso2/testing': entry('testing'),
  },
}

/** As strict as the package itself; JavaScript as its editor would check it. */
const STRICT = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, isolatedModules: true }
const programs: [language: string, options: object, patterns: readonly string[]][] = [
  ['TypeScript', STRICT, ['**/*.ts', '**/*.mts', '**/*.cts']],
  ['JavaScript', { checkJs: true, strict: false }, ['*.d.ts', 'around.ts', '**/*.js', '**/*.mjs', '**/*.cjs']],
]

/** In JavaScript nobody says which fields his users have. */
const anyUser = `
import 'express-sso2'
declare module 'express-sso2' {
  interface User {
    [field: string]: any
  }
}
// as the types of passport do, and a site for its own data
declare global {
  namespace Express {
    interface Request {
      user?: any
    }
  }
}
declare module 'express-session' {
  interface SessionData {
    basket: string[]
    passport: unknown
  }
}
`

const folder = makeWorkshop()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  const absent = ELSEWHERE.filter((name) => !existsSync(path.join(root, 'node_modules', name)))
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(path.join(folder, 'around.ts'), around)
  writeFileSync(path.join(folder, 'elsewhere.d.ts'), absent.map((name) => `declare module '${name}'\n`).join(''))
  writeFileSync(path.join(folder, 'callers.ts'), callers)
  for (const { path: where, code } of snippets) {
    mkdirSync(path.join(folder, path.dirname(where)), { recursive: true })
    writeFileSync(path.join(folder, where), where.endsWith('.cjs') ? code : `${code}\nexport {}\n`)
  }
})

test.each(programs)('every block of %s compiles against the package', (language, options, include) => {
  const config = { compilerOptions: { ...compilerOptions, ...options }, include }
  const file = path.join(folder, `${language}.json`)
  writeFileSync(file, JSON.stringify(config))
  writeFileSync(path.join(folder, 'user.d.ts'), language === 'JavaScript' ? anyUser : '')
  expect(compilerMessages(file)).toBe('')
})

test('what the documentation asks the emulator over HTTP is answered', async () => {
  const lines = pages.flatMap(({ text }) =>
    blocksOf(text).flatMap(({ code }) => code.replaceAll('\\\n', '').split('\n')),
  )
  const calls = lines.filter((line) => /^curl .*:4000\/_emulator/.test(line))
  expect(calls.length).toBeGreaterThan(2)
  const emulator = createEmulator()
  const { url } = await emulator.listen()
  for (const line of calls) {
    const command = line.replace(/^curl /, 'curl -sSf ').replace(/(?:http:\/\/)?(?:localhost|127\.0\.0\.1):4000/, url)
    const { ended, output } = launch({ command: '/bin/sh', args: ['-c', command], cwd: root, env: {} })
    expect([line, await ended, output()]).toEqual([line, 0, expect.any(String)])
  }
  await emulator.close()
})

test('the accounts of the quick start are those of the emulator', () => {
  const [, rows = ''] = /^\| username .*\n.*\n((?:\|.*\n)+)/m.exec(readText('docs/quick-start.md')) ?? []
  const shown = rows
    .trim()
    .split('\n')
    .map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, cell]) => cell))
  const accounts = demoOptions().accounts ?? []
  expect(shown).toEqual(
    accounts.map(({ username, password, accountId, email }) => [username, password, accountId, email]),
  )
})

test('every relative link leads to a file, and to a heading that is in it', () => {
  const links = pages.flatMap(({ file, text }) =>
    [...proseOf(text).matchAll(/\]\((?!\w+:)([^)\s]*)\)/g)].map(([, target = '']) => {
      const [place = '', anchor] = target.split('#')
      return { file, target, path: place === '' ? file : path.posix.join(path.posix.dirname(file), place), anchor }
    }),
  )
  expect(links.length).toBeGreaterThan(40)
  const isThere = ({ path: to, anchor }: (typeof links)[number]) => {
    if (!existsSync(path.join(root, to))) return false
    return anchor === undefined || anchorsOf(readText(to)).has(anchor)
  }
  expect(links.filter((link) => !isThere(link)).map(({ file, target }) => `${file}: ${target}`)).toEqual([])
})

test('the address at the end of each log line leads to its heading', () => {
  const lines: string[] = []
  const log = new Log({ warn: (line) => void lines.push(line), info: () => {} })
  for (const heading of Object.keys(LOG_LINES) as Heading[]) log.warn(heading, heading)
  const anchors = anchorsOf(readText('docs', 'troubleshooting.md'))
  expect(lines.length).toBe(Object.keys(LOG_LINES).length)
  expect(lines.filter((line) => !anchors.has(line.slice(line.indexOf('#') + 1)))).toEqual([])
})

test('each heading that a log line or an error names is there', () => {
  const named = [...sources.values()].flatMap((text) =>
    [...text.matchAll(/"([^"$\n]+)" in (?:node_modules\/express-sso2\/)?(docs\/[\w/-]+\.md)/g)].map(
      ([, title = '', page = '']) => ({ title, page }),
    ),
  )
  const ofLogLines = Object.keys(LOG_LINES).map((title) => ({ title, page: 'docs/troubleshooting.md' }))
  const isThere = ({ title, page }: { title: string; page: string }) =>
    headingsOf(readText(page)).some((heading) => heading.title === title)
  expect([named.length > 2, ofLogLines.length > 10]).toEqual([true, true])
  expect([...named, ...ofLogLines].filter((one) => !isThere(one))).toEqual([])
})
