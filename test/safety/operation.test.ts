import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { PlatformApi, Sso2Client, Sso2ConfigError, sso2 } from '../../lib'
import { createEmulator, demoOptions } from '../../lib/emulator'
import { required } from '../support/configuration'
import { rawGet } from './cookies-raw'

const root = join(__dirname, '../..')
const good = { ...required, redis: new Redis({ lazyConnect: true }) }
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
    expect(`${error.message}${JSON.stringify(error)}`).not.toMatch(/client-secret|session-secret/)
    return error.problems
  }
}

const local = [
  'http://localhost:4000',
  'http://sso.localhost',
  'http://127.1.2.3',
  'http://[::1]:4000',
  'http://2130706433',
]
const plain = [
  'http://sso.example',
  'http://localhost.example',
  'http://10.0.0.1',
  'http://0.0.0.0',
  'http://[fe80::1]',
]
plain.push(
  'http://localhost:pass-word@evil.example',
  'https://user:pass-word@sso.example',
  'javascript:alert(1)',
  '/sso',
)

/** Each spelling of an address is in test/unit/config.test.ts. */
test.each(['ssoUrl', 'apiUrl', 'tokenUrl', 'siteUrl'])('[O1] %s is encrypted, or of this machine', async (option) => {
  const namedBy = async (url: string, nodeEnv: string) => {
    const problems = await problemsOf({ [option]: url }, nodeEnv)
    expect(JSON.stringify(problems)).not.toContain('pass-word')
    return [url, nodeEnv, problems.map((problem) => problem.option)]
  }
  for (const nodeEnv of ['development', 'test', 'production']) {
    const isOpen = nodeEnv !== 'production'
    for (const url of ['https://sso.example:8443/base', 'HTTPS://SSO.EXAMPLE'])
      expect(await namedBy(url, nodeEnv)).toEqual([url, nodeEnv, []])
    for (const url of local) expect(await namedBy(url, nodeEnv)).toEqual([url, nodeEnv, isOpen ? [] : [option]])
    for (const url of plain) expect(await namedBy(url, nodeEnv)).toEqual([url, nodeEnv, [option]])
  }
})

const strong = 'Zq3-vT9w_Kx7RbN2mLc8Ys5HdPf4Jg6U'
test.each<[what: string, clientSecret: string | string[]]>([
  ['that is a word', 'Quicksilver'],
  ['of 31 bytes', strong.slice(1)],
  ['of one letter repeated', 'Q'.repeat(64)],
  ['with a no-break space after', `${strong}\u00a0`],
  ['with a byte order mark before', `\ufeff${strong}`],
  ['with a NUL inside', `${strong.slice(0, 20)}\u0000${strong.slice(20)}`],
  ['that is made long by white space', `Quicksilver${' '.repeat(40)}`],
  ['in a list after a strong one', [strong, 'Quicksilver']],
])('[T13] a client secret %s is refused when the site is made, and never said', async (_what, clientSecret) => {
  const problems = await problemsOf({ clientSecret }, 'development')
  expect(problems.map(({ option }) => option)).toEqual(['clientSecret'])
  for (const one of [clientSecret].flat()) expect(JSON.stringify(problems)).not.toContain(one.trim())
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
])('[O11] a start with %s', async (_what, options, development, production) => {
  expect((await problemsOf(options, 'development')).length === 0).toBe(development)
  expect((await problemsOf(options, 'production')).length === 0).toBe(production)
})

describe('[O10] the emulator', () => {
  test('does not start with NODE_ENV=production', () => {
    process.env['NODE_ENV'] = 'production'
    expect(() => createEmulator()).toThrow('production')
  })

  test.each(['evil.example', '192.168.0.1', ''])('refuses a request for the host %j', async (host) => {
    const emulator = createEmulator()
    const { port } = await emulator.listen(0)
    for (const path of ['/_emulator/sessions', '/_emulator/export', '/']) {
      const answer = await rawGet(`http://127.0.0.1:${port}`, path, [], 'utf8', host)
      expect([400, 403]).toContain(answer.status)
      expect(answer.body).not.toContain('correct-horse')
    }
    await emulator.close()
  })

  test('is not loaded by the built package', async () => {
    const script = `require(${JSON.stringify(join(root, 'dist'))}); console.log(JSON.stringify(Object.keys(require.cache)))`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script])
    const loaded = JSON.parse(stdout) as string[]
    expect(loaded.some((file) => file.endsWith('dist/index.js'))).toBe(true)
    expect(loaded.filter((file) => /dist\/(emulator|examiner|testing|cli)\//.test(file))).toEqual([])
    expect(loaded.filter((file) => file.includes('/node_modules/supertest/'))).toEqual([])
  })

  test('gives no answer that counts in production, on the back channel or from the REST API', async () => {
    const emulator = createEmulator()
    await emulator.listen(0)
    const platform = emulator.siteOptions()
    const client = new Sso2Client({ ...platform, clock: emulator.clock })
    const api = new PlatformApi({ apiUrl: platform.apiUrl, accessToken: 'any' })
    const about = { sid: 'a-session', lks: 'anon', ipa: '127.0.0.1', uas: 'test' } as const
    expect(await client.sessionStatus(about)).toMatchObject({ err: 'session_not_found' })
    process.env['NODE_ENV'] = 'production'
    const refusal = expect.objectContaining({
      code: 'ERR_SSO2_RESPONSE',
      message: expect.stringContaining('this is the emulator, and NODE_ENV is production'),
    })
    await expect(client.sessionStatus(about)).rejects.toEqual(refusal)
    await expect(api.marketplaceGroups()).rejects.toEqual(refusal)
    client.close()
    await emulator.close()
  })

  test('publishes secrets that are refused in production, and not quoted', async () => {
    const clientSecret = String(demoOptions().clients?.[0]?.clientSecret)
    const problems = await problemsOf({ clientSecret }, 'production')
    expect(problems).toEqual([
      { option: 'clientSecret', variable: 'SSO2_CLIENT_SECRET', message: expect.stringContaining('published secret') },
    ])
    expect(JSON.stringify(problems)).not.toContain(clientSecret)
  })
})

interface Locked {
  dev?: boolean
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

  test('has no install script in any of them', () => {
    expect(production.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([])
    const built = production.filter(([path]) => existsSync(join(root, path, 'binding.gyp')))
    expect(built.map(([path]) => path)).toEqual([])
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
    const pages = files.filter((path) => path.startsWith('docs/'))
    const isPage =
      /^docs\/(?:[a-z-]+|internals\/[a-z-]+|api\/[\w.-]+|images\/[a-z-]+)\.(?:md|png|svg)$|^docs\/llms\.txt$/
    expect(pages.filter((path) => !isPage.test(path))).toEqual([])
    const contents = readFileSync(join(root, 'README.md'), 'utf8')
    const listed = pages.filter((path) => /^docs\/[a-z-]+\.md$/.test(path))
    expect(listed.length).toBeGreaterThan(10)
    expect(listed.filter((path) => !contents.includes(`](${path})`))).toEqual([])
    // the sources that the maps lead to, and the emulator's table
    const sources = files.filter((path) => path.startsWith('lib/') && !path.endsWith('.ts'))
    expect(sources).toEqual(['lib/emulator/README.md'])
    expect(files).toContain('dist/index.js')
    expect(
      files.filter((path) =>
        /test|\.env|\.pem|\.key|secret|node_modules/.test(
          path.replace(/^(?:dist|docs(?:\/api)?|lib)\/(?:testing|examiner\/secrets\.)/, ''),
        ),
      ),
    ).toEqual([])
    for (const name of readdirSync(root).filter((entry) => entry.startsWith('.env'))) expect(files).not.toContain(name)
  })
})
