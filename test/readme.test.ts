import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.join(__dirname, '..')
/** What a user reads: the README, and the pages that it leads to. */
const pages = ['README.md', ...readdirSync(path.join(root, 'docs')).map((file) => `docs/${file}`)]
  .filter((file) => file.endsWith('.md'))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
const snippets = pages.flatMap(({ file, text }) =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ''], index) => ({
    name: `${file.replace(/\W/g, '-')}-${index + 1}`,
    code,
  })),
)

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
  const sessionSecret: string
  const siteOrigin: string
}
`

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

test('there are snippets for each part of the package', () => {
  for (const part of [
    'marketplaceGroups',
    'validateGiftReceiver',
    'administrators(',
    'administratorsByAccount',
    'createEmulator',
    'signIn',
  ])
    expect(snippets.some(({ name, code }) => name.startsWith('README') && code.includes(part))).toBe(true)
  expect(snippets.some(({ code }) => code.includes('sso.session(request, {}'))).toBe(true)
  expect(snippets.filter(({ name }) => name.startsWith('docs-login-page')).length).toBeGreaterThan(3)
})

test('every TypeScript snippet of the README and of docs compiles against the package', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-readme-'))
  try {
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir')
    const compilerOptions = {
      noEmit: true,
      rootDir: '/',
      noUnusedLocals: false,
      noUnusedParameters: false,
      module: 'nodenext',
      moduleResolution: 'nodenext',
      types: ['node'],
      typeRoots: [path.join(root, 'node_modules', '@types')],
      paths: {
        'express-sso2': entry('.'),
        'express-sso2/emulator': entry('emulator'),
        'express-sso2/testing': entry('testing'),
      },
    }
    const config = { extends: path.join(root, 'tsconfig.json'), compilerOptions, include: ['*.mts'] }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    writeFileSync(path.join(folder, 'around.mts'), around)
    for (const { name, code } of snippets) writeFileSync(path.join(folder, `${name}.mts`), `${code}\nexport {}\n`)
    writeFileSync(path.join(folder, 'callers.mts'), callers)
    expect(compile(folder)).toBe('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

/** What the compiler has to say. */
function compile(folder: string): string {
  try {
    execFileSync(path.join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder], { encoding: 'utf8' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

const links = pages.flatMap(({ file, text }) =>
  [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => [file, target] as const),
)

test.each(links)('%s: the link to %s leads somewhere', (file, target) => {
  expect(existsSync(path.join(root, path.dirname(file), target))).toBe(true)
})
