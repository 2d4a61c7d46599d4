import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { Sso2ConfigError, sso2 } from '../../lib'
import { createEmulator } from '../../lib/emulator'
import { rawGet } from './cookies-raw'
import { addressCases } from './operation-table'

const root = join(__dirname, '../..')
const secret = 'canary-secret-0123456789-abcdefghijkl'
const good = {
  ssoUrl: 'https://sso.example',
  apiUrl: 'https://api.example',
  tokenUrl: 'https://login.example/token',
  siteUrl: 'https://news.example',
  clientId: 'the-site',
  clientSecret: secret,
  organisationId: 'the-publisher',
  sessionSecret: `${secret}-of-the-session`,
  redis: new Redis({ lazyConnect: true }),
}
const environment = process.env['NODE_ENV']
afterEach(() => {
  process.env['NODE_ENV'] = environment
})

/** What is wrong with a configuration; an empty list when it is taken. */
async function problemsOf(options: object, nodeEnv: string): Promise<Sso2ConfigError['problems']> {
  process.env['NODE_ENV'] = nodeEnv
  try {
    await sso2({ ...good, ...options }).close()
    return []
  } catch (error) {
    if (!(error instanceof Sso2ConfigError)) throw error
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain(secret)
    return error.problems
  }
}

describe.each(['ssoUrl', 'apiUrl', 'tokenUrl', 'siteUrl'])('[O1] %s', (option) => {
  test.each(addressCases)('$url', async ({ url, development, production }) => {
    for (const [nodeEnv, isTaken] of [
      ['development', development],
      ['test', development],
      ['production', production],
    ] as const) {
      const problems = await problemsOf({ [option]: url }, nodeEnv)
      expect({ nodeEnv, named: problems.map((problem) => problem.option) }).toEqual({
        nodeEnv,
        named: isTaken ? [] : [option],
      })
      expect(JSON.stringify(problems)).not.toContain('pass-word')
    }
  })
})

/** Switches of development, and whether a start with them is taken. */
test.each([
  ['nothing special', {}, true, true],
  ['no Redis', { redis: undefined }, true, false],
  ['a site over http on this machine', { siteUrl: 'http://localhost:3000' }, true, false],
  ['an SSO system over http on this machine', { ssoUrl: 'http://127.0.0.1:4000/sso' }, true, false],
  ['a short secret', { clientSecret: 'short' }, false, false],
  ['a short secret that is allowed', { clientSecret: 'short-but-allowed', allowWeakSecret: true }, true, true],
  ['a short session secret', { sessionSecret: 'short' }, false, false],
  ['a short session secret, weak ones allowed', { sessionSecret: 'short', allowWeakSecret: true }, false, false],
  ['the secret of the demo', { clientSecret: 'morning-post-demo-secret-not-for-production' }, true, false],
])('[O11] a start with %s', async (_what, options, development, production) => {
  expect((await problemsOf(options, 'development')).length === 0).toBe(development)
  expect((await problemsOf(options, 'production')).length === 0).toBe(production)
})

describe('[O10] the emulator', () => {
  test('does not start with NODE_ENV=production, by code or by command', async () => {
    process.env['NODE_ENV'] = 'production'
    expect(() => createEmulator()).toThrow('production')
    const env = { ...process.env, NODE_ENV: 'production' }
    const run = promisify(execFile)(process.execPath, [join(root, 'dist/cli/main.js'), 'emulator', '--port', '0'], {
      env,
      timeout: 10_000,
    })
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('production') })
  })

  test('listens on loopback unless whoever starts it says otherwise; no configuration can', async () => {
    const [closed, open] = [createEmulator(), createEmulator()]
    const { url, isOpen } = await closed.listen(0)
    expect([new URL(url).hostname, isOpen]).toEqual(['127.0.0.1', false])
    expect(await open.listen(0, '0.0.0.0')).toMatchObject({ isOpen: true })
    await Promise.all([closed.close(), open.close()])
    for (const host of ['0.0.0.0', '::']) expect(() => createEmulator({ host } as object)).toThrow(/host/)
    const folder = join(root, 'lib/emulator')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const calls = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').match(/#server\.listen\(/g) ?? [])
    expect(calls).toHaveLength(1)
  })

  test.each(['evil.example', 'news.example:80', '192.168.0.1', ''])(
    'refuses a request for the host %j',
    async (host) => {
      const emulator = createEmulator()
      const { port } = await emulator.listen(0)
      for (const path of ['/_emulator/sessions', '/_emulator/export', '/']) {
        const answer = await rawGet(`http://127.0.0.1:${port}`, path, [], 'utf8', host)
        expect([400, 403]).toContain(answer.status)
        expect(answer.body).not.toContain('correct-horse')
      }
      await emulator.close()
    },
  )

  test('is reached by no import of the main entry, types included', () => {
    const files = [...reachable(join(root, 'lib/index.ts'))].map((file) => file.slice(root.length + 1))
    expect(files.length).toBeGreaterThan(40)
    expect(files.filter((file) => /lib\/(emulator|testing|cli)\//.test(file))).toEqual([])
  })

  test('is not loaded by the built package', async () => {
    const script = `require(${JSON.stringify(join(root, 'dist'))}); console.log(JSON.stringify(Object.keys(require.cache)))`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script])
    const loaded = JSON.parse(stdout) as string[]
    expect(loaded.some((file) => file.endsWith('dist/index.js'))).toBe(true)
    expect(loaded.filter((file) => /dist\/(emulator|testing|cli)\//.test(file))).toEqual([])
    expect(loaded.filter((file) => file.includes('/node_modules/supertest/'))).toEqual([])
  })
})

/** Every source file that a file reaches by import, by require or by import(). */
function reachable(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\(|require\(|import) ?'(\.[^']+)'/g)) {
    const base = resolve(dirname(file), path)
    const target = [`${base}.ts`, join(base, 'index.ts')].find((candidate) => existsSync(candidate))
    if (target === undefined) throw new Error(`${path} of ${file} is not found`)
    reachable(target, seen)
  }
  return seen
}

interface Manifest {
  dependencies?: Record<string, string>
  scripts?: Record<string, string>
}

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** Folders of a package and of all that it needs at run time, as Node finds them. */
function installed(folder: string, seen = new Set<string>()): Set<string> {
  if (seen.has(folder)) return seen
  seen.add(folder)
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    let place = folder
    while (!existsSync(join(place, 'node_modules', name))) {
      if (place === dirname(place)) throw new Error(`${name} is not installed`)
      place = dirname(place)
    }
    installed(join(place, 'node_modules', name), seen)
  }
  return seen
}

interface Locked {
  dev?: boolean
  optional?: boolean
  peer?: boolean
  devOptional?: boolean
  hasInstallScript?: boolean
  integrity?: string
  resolved?: string
}

describe('[O14] the supply chain', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const production = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional, peer }]) => path.startsWith('node_modules/') && !dev && !devOptional && !peer,
  )

  test('has at most 60 packages at run time', () => {
    expect(production.length).toBeGreaterThan(8)
    expect(production.length).toBeLessThanOrEqual(60)
  })

  test('has no install script in any of them, by the lock file and by their own word', () => {
    expect(production.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([])
    const folders = [...installed(root)].filter((folder) => folder !== root)
    expect(folders.length).toBeGreaterThan(8)
    const scripts = folders.flatMap((folder) => {
      const names = Object.keys(manifestOf(folder).scripts ?? {}).filter((name) => /^(pre|post)?install$/.test(name))
      return names.length > 0 || existsSync(join(folder, 'binding.gyp')) ? [folder] : []
    })
    expect(scripts).toEqual([])
  })

  test('has a checksum for each of them, and no other source than the registry', () => {
    const loose = production.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    expect(loose.map(([path]) => path)).toEqual([])
    const sources = Object.values(lock.packages).flatMap(({ resolved }) => resolved ?? [])
    expect(sources.filter((source) => !source.startsWith('https://registry.npmjs.org/'))).toEqual([])
  })

  test('runs nothing when the package itself is installed', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([])
  })

  test('puts into the package what a site needs, and nothing else', async () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
    const { stdout } = await promisify(execFile)('npm', args, { cwd: root })
    const [pack] = JSON.parse(stdout) as { files: { path: string }[] }[]
    const files = (pack?.files ?? []).map(({ path }) => path)
    const others = files.filter((path) => !/^(?:dist|docs|lib|examples)\//.test(path)).sort()
    const usual = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md']
    expect(others).toEqual([...usual, 'package.json'].sort())
    const papers = files.filter((path) => path.startsWith('docs/'))
    expect(
      papers.filter(
        (path) =>
          !/^docs\/(?:[a-z-]+|README|internals\/[a-z-]+|api\/[\w.-]+|images\/[a-z-]+)\.(?:md|png|svg)$|^docs\/llms\.txt$/.test(
            path,
          ),
      ),
    ).toEqual([])
    expect(papers).toEqual(
      expect.arrayContaining(['docs/README.md', 'docs/troubleshooting.md', 'docs/images/papers.png']),
    )
    // each page has its place in the table of contents
    const contents = readFileSync(join(root, 'docs', 'README.md'), 'utf8')
    const pages = papers.filter((path) => /^docs\/[a-z-]+\.md$/.test(path))
    expect(pages.filter((path) => !contents.includes(`](${path.slice('docs/'.length)})`))).toEqual([])
    // the sources that the maps lead to, and the emulator's table
    const sources = files.filter((path) => path.startsWith('lib/') && !path.endsWith('.ts'))
    expect(sources).toEqual(['lib/emulator/README.md'])
    expect(files).toContain('dist/index.js')
    expect(
      files.filter((path) =>
        /test|\.env|\.pem|\.key|secret|node_modules/.test(path.replace(/^(?:dist|docs(?:\/api)?|lib)\/testing/, '')),
      ),
    ).toEqual([])
    for (const name of readdirSync(root).filter((entry) => entry.startsWith('.env'))) expect(files).not.toContain(name)
  })
})
