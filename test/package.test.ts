import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Locked {
  optionalDependencies?: Record<string, string>
  resolved?: string
}

const root = join(__dirname, '..')
const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

test('the lock file names the packages of every platform, so that npm ci works on each', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    path === '' ? [] : Object.keys(optionalDependencies).filter((name) => !lock.packages[`node_modules/${name}`]),
  )
  expect(missing).toEqual([])
})

test('connect-redis is of major version 8, the last that speaks ioredis', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/connect-redis/package.json'), 'utf8'))
  expect(version).toMatch(/^8\./)
})

test('every dependency at run time is one that the library imports', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(Object.keys(dependencies).filter((name) => !isImported(name))).toEqual([])
})

function isImported(name: string): boolean {
  return sources().some((text) => text.includes(`from '${name}'`))
}

function sources(folder = join(root, 'lib')): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
}
