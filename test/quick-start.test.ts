import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { launch, type Program, type Running, start as startProgram } from './examples/process'
import { Browser } from './support/agent'
import { send } from './support/http'
import { type Block, blocksBelow, blocksOf } from './support/markdown'
import { freePort } from './support/ports'
import { type Registry, startRegistry } from './support/registry'
import { redisUrl } from './support/setup'
import { readText, root } from './support/sources'
import { hasLandingPage } from './support/wait'

/*
 * The quick start as somebody follows it who has nothing but the package: in an empty folder, with the commands and the code of
 * the README and of docs/quick-start.md. Ports are others, so that nothing else on this machine is in the way.
 */

const [packed, project] = [
  mkdtempSync(path.join(tmpdir(), 'sso2-packed-')),
  mkdtempSync(path.join(tmpdir(), 'sso2-quick-')),
]
/* npm and npx, on a machine that may be busy */
jest.setTimeout(180_000)

const ports = new Map<string, string>()
let registry: Registry

/** The blocks of a page, or of one of its sections, ports replaced. */
function stepsOf(file: string, section?: string): Block[] {
  const text = readText(file)
  const blocks = section === undefined ? blocksOf(text) : blocksBelow(text, `## ${section}`)
  return blocks.map((block) => ({ ...block, code: withPorts(block.code) }))
}

const withPorts = (text: string) =>
  [...ports].reduce(
    (changed, [from, to]) => changed.replace(new RegExp(`([:-]|\\?\\? )${from}\\b`, 'g'), `$1${to}`),
    text,
  )

const running: Running[] = []

/** One line of a shell block, as a terminal of its own would run it. */
function commandOf(line: string, environment: Readonly<Record<string, string>> = {}) {
  const command = line.replace(/(express-sso2 emulator)/, `$1 --port ${ports.get('4000')}`)
  const npm = {
    ...{ npm_config_registry: registry.url, npm_config_cache: path.join(packed, 'cache'), npm_config_audit: 'false' },
    ...{ npm_config_fund: 'false', npm_config_update_notifier: 'false' },
  }
  return { command: '/bin/sh', args: ['-c', command], cwd: project, env: { ...npm, ...environment } }
}

/** Runs a line that ends by itself. */
const run = (line = '') => launch(commandOf(line))

/** Starts what does not end, and waits until it says that it is there. */
async function start(line = '', isThere: Program['isThere'] = isEmulator): Promise<Running> {
  const one = await startProgram({ ...commandOf(line), isThere })
  running.push(one)
  return one
}

const isEmulator = (output: string) => output.includes('Ctrl+C ends it.')

const isSite = (host: string, port: string) => hasLandingPage(`http://${host}:${ports.get(port)}`)

const linesOf = (step: Block | undefined) => (step?.code ?? '').trim().split('\n')

beforeAll(async () => {
  for (const port of ['3000', '3001', '4000']) ports.set(port, String(await freePort()))
  await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], { cwd: root })
  const [tarball = ''] = readdirSync(packed)
  registry = await startRegistry(path.join(packed, tarball))
})
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()))
  registry.close()
  for (const folder of [packed, project]) rmSync(folder, { recursive: true, force: true })
})

/** The account that the README names. */
const [, username = '', password = ''] = /log in as `(\S+)` with `(\S+)`/i.exec(readText('README.md')) ?? []

/** A browser that has logged in at a site, asked for by its account page. */
async function logIn(site: string): Promise<Browser> {
  const browser = new Browser()
  const form = await browser.visit(`${site}/account`)
  expect([form.status, new URL(form.url).pathname]).toEqual([200, '/login'])
  const account = await browser.submit(`${site}/login`, { username, password, return_to: '/account' })
  expect([account.url, JSON.parse(account.body).username]).toEqual([`${site}/account`, username])
  return browser
}

let emulator: Running

test('README: an empty folder becomes a site with login and logout, in ten lines', async () => {
  const [install, program, run1, ...more] = stepsOf('README.md', 'Quick start')
  expect([install?.language, program?.file, run1?.language, more]).toEqual(['sh', 'site.mjs', 'sh', []])
  const [npm = '', platform, ...rest] = linesOf(install)
  expect(rest).toEqual([])
  const installed = run(npm)
  expect([await installed.ended, installed.output()]).toEqual([0, expect.stringContaining('added')])
  expect(readdirSync(path.join(project, 'node_modules'))).toEqual(expect.arrayContaining(['express', 'express-sso2']))
  emulator = await start(platform)
  expect(program?.code.split('\n').filter(Boolean).length).toBeLessThanOrEqual(10)
  writeFileSync(path.join(project, program?.file ?? ''), program?.code ?? '')
  await start(linesOf(run1)[0], isSite('localhost', '3000'))
  const site = withPorts('http://localhost:3000')
  expect((await new Browser().visit(`${site}/`)).body).toContain('Hello.')
  const browser = await logIn(site)
  const front = (await browser.visit(`${site}/`)).body
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const { headers } = await send({ method: 'GET', url: new URL(`${site}/`), headers: { cookie } })
  expect(headers['cache-control']).toBe('private, no-store')
  expect(front).toContain('Welcome back')
  expect(front).toContain('<form method="post" action="/logout">')
  await browser.submit(`${site}/logout`, {})
  expect((await browser.visit(`${site}/`)).body).toContain('Hello.')
  expect((await fetch(withPorts('http://127.0.0.1:4000'))).status).toBe(200)
})

test('README: the same program starts in production, with a real address and PORT', async () => {
  const secret = () => randomBytes(32).toString('hex')
  const environment = {
    ...{ NODE_ENV: 'production', PORT: String(await freePort()), REDIS_URL: redisUrl() },
    ...{ SSO2_SITE_URL: 'https://news.example', SSO2_URL: 'https://sso.example', SSO2_API_URL: 'https://api.example' },
    ...{ SSO2_TOKEN_URL: 'https://id.example/token', SSO2_ORGANISATION_ID: 'press', SSO2_CLIENT_ID: 'news' },
    ...{ SSO2_CLIENT_SECRET: secret(), SSO2_SESSION_SECRET: secret() },
  }
  const isThere = (output: string) => output.includes('Open https://news.example')
  const site = await startProgram({ ...commandOf('node site.mjs', environment), isThere })
  try {
    const response = await fetch(`http://127.0.0.1:${environment.PORT}/`)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hello.')])
  } finally {
    await site.stop()
  }
})

test('README: a port that another program has ends the program with an error', async () => {
  const line = linesOf(stepsOf('README.md', 'Quick start')[2])[0] ?? ''
  const { output, ended } = run(line)
  expect([await ended, output()]).toEqual([1, expect.stringContaining('EADDRINUSE')])
  expect(output()).not.toContain('Open http')
})

describe('docs/quick-start.md: curl', () => {
  const lines = () => {
    const sections = stepsOf('docs/quick-start.md', 'Try it with curl')
    expect(sections).toHaveLength(1)
    return linesOf(sections[0])
  }
  const said = async (line = '') => {
    const { output, ended } = run(line)
    expect([line, await ended]).toEqual([line, 0])
    return output()
  }
  beforeEach(() => rmSync(path.join(project, 'jar'), { force: true }))

  test('passes through Identify and logs in', async () => {
    const [visit, login, ...more] = lines()
    expect(more).toEqual([])
    expect(await said(visit)).toContain('Hello.')
    expect(JSON.parse(await said(login))).toMatchObject({ username, accountId: `account-${username}` })
  })

  test.each([/ -b jar -c jar/, / -A '[^']*'/, / -H 'Accept: [^']*'/])('needs %s at the first visit', async (flag) => {
    const [visit = '', login] = lines()
    expect(await said(visit.replace(flag, ''))).toContain('Hello.')
    expect(await said(login)).toContain('Please send the form again')
  })

  test('needs Origin at the login, and -L to follow the redirects', async () => {
    const [visit = '', login = ''] = lines()
    expect(await said(visit.replace('-sSL', "-sS -w '%{http_code}'"))).toBe('302')
    await said(visit)
    const status = login.replace(/ -H 'Origin: [^']*'/, '').replace('-sSL', "-sSL -o answer -w '%{http_code}'")
    expect(await said(status)).toBe('403')
  })
})

test('docs/quick-start.md: the doctor finds nothing wrong, and a second site needs no second login', async () => {
  const [doctor, _curl, both, second, ...more] = stepsOf('docs/quick-start.md').filter(
    ({ language }) => language === 'sh',
  )
  expect(more).toEqual([])
  const examined = run(linesOf(doctor)[0] ?? '')
  expect([await examined.ended, examined.output()]).toEqual([0, expect.not.stringContaining('WRONG')])
  await emulator.stop()
  await start(linesOf(both)[0])
  const address = withPorts('http://127.0.0.1:3001')
  await start(linesOf(second)[0], isSite('127.0.0.1', '3001'))
  const browser = await logIn(withPorts('http://localhost:3000'))
  const { url, body, trail } = await browser.visit(`${address}/account`)
  expect([url, JSON.parse(body).username]).toEqual([`${address}/account`, username])
  expect(trail.map((hop) => new URL(hop.url).pathname)).not.toContain('/login')
})
