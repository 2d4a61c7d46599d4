import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Browser } from '../support/agent'
import { send } from '../support/http'
import { type Block, blocksBelow, blocksOf } from '../support/markdown'
import { freePort } from '../support/ports'
import { launch, type Program, type Running, start as startProgram } from '../support/process'
import { redisUrl } from '../support/setup'
import { readText, root } from '../support/sources'
import { hasLandingPage } from '../support/wait'

const { pack } = require('../support/pack.js') as { pack(folder: string): { file: string } }

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
  return { command: '/bin/sh', args: ['-c', command], cwd: project, env: environment }
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
  install()
})

/** What `npm install` leaves: the packed file, and all that the repository has beside it. */
function install(): void {
  const modules = path.join(project, 'node_modules')
  const own = path.join(modules, 'express-sso2')
  mkdirSync(path.join(modules, '.bin'), { recursive: true })
  mkdirSync(own)
  execFileSync('tar', ['-xzf', pack(packed).file, '--strip-components=1', '-C', own])
  for (const name of readdirSync(path.join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
    symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name))
  const command = path.join(own, 'dist', 'cli', 'main.js')
  chmodSync(command, 0o755)
  symlinkSync(command, path.join(modules, '.bin', 'express-sso2'))
}

afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()))
  for (const folder of [packed, project]) rmSync(folder, { recursive: true, force: true })
})

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
  expect([npm, rest]).toEqual(['npm install express-sso2 express', []])
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

test('docs/quick-start.md: curl passes through Identify and logs in', async () => {
  const [step, ...others] = stepsOf('docs/quick-start.md', 'Try it with curl')
  const [visit = '', login = '', ...more] = linesOf(step)
  expect([others, more]).toEqual([[], []])
  const said = async (line: string) => {
    const { output, ended } = run(line)
    expect([line, await ended]).toEqual([line, 0])
    return output()
  }
  expect(await said(visit)).toContain('Hello.')
  expect(JSON.parse(await said(login))).toMatchObject({ username, accountId: `account-${username}` })
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
