import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { compilerMessages, makeProject } from '../support/project'
import { readText as read, root } from '../support/sources'

/* What can be said of the package without packing it; `npm run check:package` and `node tools/matrix` say the rest. */

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
