import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import express from 'express'
import { Redis } from 'ioredis'
import { type Sso2, sso2 } from '../../lib'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { runCommand } from '../emulator/command'
import { redisUrl, sessionSecret } from '../flows/network'
import { freePort } from '../support/ports'
import { startRedis } from '../support/redis'

const dist = path.join(__dirname, '..', '..', 'dist')
const prefix = 'doctor:'
let emulator: Emulator
let sso: Sso2
let server: Server
let redis: Redis
let environment: Record<string, string>

beforeAll(async () => {
  emulator = createEmulator(demoOptions({ tokenTime: 'real' }))
  await emulator.listen(0)
  const app = express()
  server = app.listen(0, 'localhost')
  await once(server, 'listening')
  const platform = emulator.siteOptions()
  const siteUrl = `http://localhost:${(server.address() as AddressInfo).port}`
  sso = sso2({ ...platform, siteUrl, sessionSecret, redis: redisUrl(), session: { prefix } })
  app.use(sso)
  redis = new Redis(redisUrl())
  environment = {
    SSO2_URL: platform.ssoUrl,
    SSO2_API_URL: platform.apiUrl,
    SSO2_TOKEN_URL: platform.tokenUrl,
    SSO2_CLIENT_ID: platform.clientId,
    SSO2_CLIENT_SECRET: platform.clientSecret,
    SSO2_ORGANISATION_ID: platform.organisationId,
    SSO2_SITE_URL: siteUrl,
    SSO2_SESSION_SECRET: sessionSecret,
    REDIS_URL: redisUrl(),
  }
})
afterAll(async () => {
  server.close()
  redis.disconnect()
  await sso.close()
  await emulator.close()
})
afterEach(() => emulator.faults.clear())

interface Report {
  code: number
  /** What is said of each subject. */
  lines: Map<string, string[]>
  output: string
}

async function doctor(changes: Record<string, string> = {}): Promise<Report> {
  const { code, stdout, stderr } = await runCommand(dist, ['doctor'], { ...environment, ...changes })
  expect(stderr).toBe('')
  const lines = new Map<string, string[]>()
  for (const line of stdout.trim().split('\n')) {
    const [, sign = '', what = '', says = ''] = /^(\S+) {2,}(\S.*?) {2,}(.*)$/.exec(line) ?? []
    lines.set(what, [...(lines.get(what) ?? []), `${sign}: ${says}`])
  }
  return { code, lines, output: stdout }
}

const said = ({ lines }: Report, what: string) => (lines.get(what) ?? []).join('\n')

test('a set-up that is right has no wrong line, and exit 0', async () => {
  const report = await doctor()
  expect(report.output).not.toContain('WRONG')
  expect(report.code).toBe(0)
  expect([...report.lines.keys()]).toEqual([
    'configuration',
    'ssoUrl',
    'tokenUrl',
    'apiUrl',
    'siteUrl',
    'client',
    'clock',
    'landing page',
    'first visit',
    'return address',
    'cookies',
    'proxy',
    'Redis',
  ])
  expect(said(report, 'ssoUrl')).toMatch(/^note: .*unencrypted/)
  expect(said(report, 'client')).toMatch(/^ok: /)
  expect(said(report, 'clock')).toMatch(/within a second/)
  expect(said(report, 'cookies')).toMatch(/^ok: sso2\.b: HttpOnly, SameSite=Lax/)
  expect(said(report, 'Redis')).toMatch(/^ok: version \d/)
})

test('it changes nothing: no session, no key, no failed login', async () => {
  await doctor()
  expect(await redis.keys(`${prefix}*`)).toEqual([])
  expect(emulator.calls({ operation: 'authenticate' })).toEqual([])
})

test('a configuration with holes is told line by line, and exit 1', async () => {
  const { code, output } = await doctor({
    SSO2_URL: '',
    SSO2_SESSION_SECRET: 'canary-short',
    SSO2_SITE_URL: 'http://news.example',
  })
  expect(code).toBe(1)
  for (const variable of ['SSO2_URL', 'SSO2_SESSION_SECRET', 'SSO2_SITE_URL']) expect(output).toContain(`(${variable})`)
  expect(output).not.toContain('canary')
})

test.each<[string, Record<string, string>, string, RegExp]>([
  [
    'another secret',
    { SSO2_CLIENT_SECRET: 'canary-secret-that-is-not-the-right-one-0123' },
    'client',
    /WRONG: .*secret/,
  ],
  ['another client ID', { SSO2_CLIENT_ID: 'somebody-else' }, 'client', /WRONG/],
  ['another organisation', { SSO2_ORGANISATION_ID: 'another-press' }, 'client', /WRONG: .*organisation/],
  ['another identifier of the SSO system', { SSO2_IDENTIFIER: 'another-sso' }, 'client', /WRONG/],
  [
    'a Redis that is not there',
    { REDIS_URL: 'redis://:canary-password@127.0.0.1:1' },
    'Redis',
    /WRONG: .*ECONNREFUSED/,
  ],
  ['no Redis', { REDIS_URL: '' }, 'Redis', /note: not configured/],
  [
    'a name that does not exist',
    { SSO2_API_URL: 'https://nowhere.invalid' },
    'apiUrl',
    /WRONG: .*(ENOTFOUND|EAI_AGAIN)/,
  ],
])('%s is found', async (_name, changes, what, expected) => {
  const report = await doctor(changes)
  expect(said(report, what)).toMatch(expected)
  expect(report.code).toBe(report.output.includes('WRONG') ? 1 : 0)
  expect(report.output).not.toContain('canary')
  for (const secret of [environment['SSO2_CLIENT_SECRET'], sessionSecret]) expect(report.output).not.toContain(secret)
})

test('a clock that is off is told with its seconds', async () => {
  emulator.faults.add({ operation: 'sessionstatus', kind: 'skew', seconds: -40 })
  const behind = await doctor()
  expect([behind.code, said(behind, 'clock')]).toEqual([1, expect.stringMatching(/WRONG: (39|4\d) s ahead of/)])
})

test('an SSO system that is down is told, and the rest is examined all the same', async () => {
  const port = await freePort()
  const report = await doctor({ SSO2_URL: `http://localhost:${port}/sso` })
  expect(said(report, 'ssoUrl')).toMatch(/WRONG: .*ECONNREFUSED/)
  expect(said(report, 'client')).toMatch(/WRONG: no answer/)
  expect(said(report, 'landing page')).toMatch(/^ok/)
})

test('a site that is not there, and one that is not ours, are told', async () => {
  const gone = await doctor({ SSO2_SITE_URL: `http://localhost:${await freePort()}` })
  expect(said(gone, 'landing page')).toMatch(/WRONG: .*cannot be reached/)
  expect(said(gone, 'first visit')).toMatch(/WRONG: no answer/)
  const foreign = await doctor({ SSO2_SITE_URL: environment['SSO2_API_URL'] ?? '' })
  expect(said(foreign, 'landing page')).toMatch(/WRONG: .*HTTP 404/)
  expect(said(foreign, 'first visit')).toMatch(/WRONG/)
})

test('an eviction policy that drops sessions is worth a note', async () => {
  const small = await startRedis({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'] })
  const report = await doctor({ REDIS_URL: small.url })
  await small.stop()
  expect(said(report, 'Redis')).toMatch(/note: eviction policy allkeys-lru: .*noeviction/)
  expect(report.code).toBe(0)
})

test('wrong arguments get the help and exit 2', async () => {
  expect((await runCommand(dist, ['doctor', '--fix'])).code).toBe(2)
  const help = await runCommand(dist, ['doctor', '--help'])
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('Usage: express-sso2 doctor')])
})
