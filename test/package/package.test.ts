import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { compilerMessages, makeProject } from '../support/project'
import { readText as read, root, sources, treeOf } from '../support/sources'

/* What can be said of the package without packing it; `npm run check:package` and `npm run test:matrix` say the rest. */

interface Locked {
  optionalDependencies?: Record<string, string>
  resolved?: string
}

const lock: { packages: Record<string, Locked> } = JSON.parse(read('package-lock.json'))
const manifest = JSON.parse(read('package.json'))

/** Files below a folder, by their paths from the root. */
const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file))

test('the lock file names the packages of every platform, so that npm ci works on each', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    path === '' ? [] : Object.keys(optionalDependencies).filter((name) => !lock.packages[`node_modules/${name}`]),
  )
  expect(missing).toEqual([])
})

test('connect-redis is of major version 8, the last that speaks ioredis', () => {
  expect(JSON.parse(read('node_modules/connect-redis/package.json')).version).toMatch(/^8\./)
})

test('every dependency at run time is one that the library imports', () => {
  const isImported = (name: string) =>
    [...sources.values()].some((text) => text.includes(`from '${name}'`) || text.includes(`require('${name}')`))
  expect(Object.keys(manifest.dependencies).filter((name) => !isImported(name))).toEqual([])
})

const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')

test.each(entries)('%s is there for import, for require, and for the types of each resolution', (entry) => {
  const { types, default: code } = manifest.exports[entry]
  expect([types, code].filter((file) => !existsSync(join(root, file)))).toEqual([])
  // node10 knows no exports
  const old = entry === '.' ? manifest.types : manifest.typesVersions['*'][entry.slice(2)]?.[0]
  expect([old, entry === '.' ? manifest.main : code]).toEqual([types, code])
  const name = join(manifest.name, entry)
  const run = (kind: string, code: string) =>
    JSON.parse(execFileSync(process.execPath, [`--input-type=${kind}`, '-e', code], { cwd: root, encoding: 'utf8' }))
  const required: string[] = run('commonjs', `console.log(JSON.stringify(Object.keys(require('${name}'))))`)
  const imported: string[] = run('module', `console.log(JSON.stringify(Object.keys(await import('${name}'))))`)
  expect(required.length).toBeGreaterThan(0)
  expect(required.filter((key) => !imported.includes(key))).toEqual([])
})

test('every map of dist leads to a source that is packed', () => {
  const maps = filesIn('dist').filter((file) => file.endsWith('.map'))
  const unpacked = maps.flatMap((map) => {
    const { sources }: { sources: string[] } = JSON.parse(read(map))
    const files = sources.map((source) => relative(root, resolve(root, dirname(map), source)))
    return files.filter((file) => !existsSync(join(root, file)) || !file.startsWith('lib/'))
  })
  expect(maps.filter((map) => map.endsWith('.d.ts.map')).length).toBe(
    maps.filter((map) => map.endsWith('.js.map')).length,
  )
  expect(maps.length).toBeGreaterThan(100)
  expect([unpacked, manifest.files]).toEqual([[], expect.arrayContaining(['dist', 'lib'])])
})

/** Statements of a module that do something when it is loaded, by their types. */
function effects(source: string): string[] {
  const { body } = treeOf(source)
  const isQuiet = /^(?:Import|Export|Ts|Function|Class|Variable)/
  const bare = body.filter((one) => one.type === 'ImportDeclaration' && one.specifiers.length === 0 && !one.typeOnly)
  return [...body.filter(({ type }) => !isQuiet.test(type)), ...bare].map(({ type }) => type)
}

test('"sideEffects": false is true: no module does anything when it is loaded, but the command', () => {
  const loud = filesIn('lib').filter((file) => file.endsWith('.ts') && effects(read(file)).length > 0)
  expect([loud, manifest.sideEffects]).toEqual([['lib/cli/main.ts'], false])
  expect(effects("import 'a'\nimport type { B } from 'b'\nprocess.on('exit', () => {})")).toEqual([
    'ExpressionStatement',
    'ImportDeclaration',
  ])
})

test('a site in TypeScript compiles, the declarations of the package looked at too', () => {
  const settings = { module: 'nodenext', strict: true, skipLibCheck: false, noEmit: true, types: ['node'] }
  const files = {
    'package.json': JSON.stringify({ type: 'module' }),
    'tsconfig.json': JSON.stringify({ compilerOptions: settings, files: ['site.ts'] }),
    'site.ts': read('tools/matrix/consumer/site.ts'),
  }
  const project = makeProject(files, ['@types'])
  try {
    expect(compilerMessages(project)).toBe('')
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
})

test('every link of a packed page leads to something that is packed', () => {
  const isPacked = (file: string) => manifest.files.some((name: string) => file === name || file.startsWith(`${name}/`))
  const pages = [...manifest.files.filter((name: string) => name.endsWith('.md'))]
  for (const folder of ['docs', 'lib', 'examples'])
    pages.push(...filesIn(folder).filter((file) => file.endsWith('.md') && !file.startsWith('docs/site/')))
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, target = '']) => join(dirname(page), target)),
  )
  expect(pages.filter((page) => !isPacked(page))).toEqual([])
  expect(links.length).toBeGreaterThan(30)
  expect([...new Set(links)].filter((link) => !isPacked(link) || !existsSync(join(root, link)))).toEqual([])
})

test('what CI calls is there', () => {
  const workflow = read('.github/workflows/ci.yml')
  const scripts = [...workflow.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
  const files = [...workflow.matchAll(/bash (\S+)/g)].map(([, name = '']) => name)
  expect([scripts, files]).toEqual([['check:package', 'test:matrix'], ['.ci/run']])
  expect(scripts.filter((name) => !manifest.scripts[name])).toEqual([])
  expect(files.filter((name) => !existsSync(join(root, name)))).toEqual([])
})
