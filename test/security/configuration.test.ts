import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect, promisify } from 'node:util'
import { Redis } from 'ioredis'
import { PlatformApi, Sso2Client, type Sso2ClientOptions, Sso2ConfigError, type Sso2Options, sso2 } from '../../lib'
import { createEmulator, demoOptions } from '../../lib/emulator'
import { required } from '../support/configuration'

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
test('[O6] errors of bad arguments and of wrong options do not show what was given', async () => {
  const canary = 'canary of an argument\u0000 0123456789'
  const apiUrl = 'https://api.example'
  const runs: (() => unknown)[] = [
    () => new Sso2Client({ ...required, ssoUrl: canary } as Sso2ClientOptions),
    () => new PlatformApi({ apiUrl, accessToken: canary }),
    () => new PlatformApi({ apiUrl, accessToken: async () => canary }).marketplaceGroups(),
    () => new PlatformApi({ apiUrl, accessToken: 'x' }).get(canary),
  ]
  for (const option of ['ssoUrl', 'clientSecret', 'sessionSecret', 'redis', 'session', 'routes', 'loadUser'])
    for (const value of [canary, [canary], { cookieName: canary, login: canary }])
      runs.push(() => sso2({ ...good, [option]: value } as Sso2Options))
  for (const run of runs) {
    const error = await Promise.resolve()
      .then(run)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      )
    expect(error).toBeInstanceOf(Error)
    expect(inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error)).not.toContain('canary')
  }
})

describe('[O10] the emulator', () => {
  test('does not start with NODE_ENV=production', () => {
    process.env['NODE_ENV'] = 'production'
    expect(() => createEmulator()).toThrow('production')
  })

  test('is not loaded by the built package', async () => {
    const script = `require(${JSON.stringify(join(root, 'dist'))}); console.log(JSON.stringify(Object.keys(require.cache)))`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script])
    const loaded = JSON.parse(stdout) as string[]
    expect(loaded.some((file) => file.endsWith('dist/index.js'))).toBe(true)
    expect(loaded.filter((file) => /dist\/(emulator|examiner|testing|cli)\//.test(file))).toEqual([])
    expect(loaded.filter((file) => file.includes('/node_modules/supertest/'))).toEqual([])
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

  test('has no install script in any of them', () => {
    expect(production.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([])
    const built = production.filter(([path]) => existsSync(join(root, path, 'binding.gyp')))
    expect(built.map(([path]) => path)).toEqual([])
  })

  test('runs nothing when the package itself is installed', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([])
  })
})
