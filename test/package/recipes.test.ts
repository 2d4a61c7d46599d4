import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { transformSync } from '@swc/core'
import { createEmulator, type Emulator } from '../../lib/emulator'
import { Browser } from '../support/agent'
import { variablesOf } from '../support/configuration'
import { blocksBelow, blocksOf } from '../support/markdown'
import { freePort } from '../support/ports'
import { launch, type Program, type Running } from '../support/process'
import { makeProject } from '../support/project'
import { startRedis, type TestRedis } from '../support/redis'
import { ada, grace, sessionSecret } from '../support/setup'
import { readText, root } from '../support/sources'
import { eventually, hasLandingPage } from '../support/wait'

/* Recipes of docs as somebody copies them: each in a folder of its own, in a process of its own, with the package as it is built. */

/* Several programs one after the other, on a machine that may be busy. */
jest.setTimeout(180_000)

const folders: string[] = []
const running: Running[] = []
let emulator: Emulator | undefined

afterEach(async () => {
  for (const one of running.splice(0)) void one.stop() // the next test need not wait for its end
  await emulator?.close()
  emulator = undefined
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const blocks = (page: string, heading: string, language: string) =>
  ['##', '###']
    .flatMap((marks) => blocksBelow(readText('docs', page), `${marks} ${heading}`))
    .filter((block) => block.language === language)
    .map(({ code }) => code)

/** Programs of a page, by the file that the line before names. */
const files = (page: string) =>
  new Map(blocksOf(readText('docs', page)).flatMap(({ file, code }) => (file?.endsWith('.mjs') ? [[file, code]] : [])))

/** A project that has the package and what the repository has beside it. */
function project(sources: Readonly<Record<string, string>>): string {
  const web = ['@fastify', '@nestjs', 'express', 'express-session', 'fastify', 'serverless-http']
  const files = { 'package.json': '{ "type": "module" }', ...sources }
  const folder = makeProject(files, [...web, 'reflect-metadata', 'supertest'])
  folders.push(folder)
  return folder
}

const compiled = (code: string) =>
  transformSync(code, {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      target: 'es2022',
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'es6' },
    swcrc: false,
  }).code

/** Runs a program of a folder, which is stopped after the test. */
function start(folder: string, args: readonly string[], env: Program['env'] = {}, command = process.execPath): Running {
  const one = launch({ command, args, cwd: folder, env })
  running.push(one)
  return one
}

async function startSite(sources: Readonly<Record<string, string>>, environment: Program['env'] = {}) {
  const siteUrl = `http://localhost:${await freePort()}`
  const clientSecret = 'client-secret-of-the-recipe-0123456789'
  const landingPage = `${siteUrl}/sso2/landing`
  emulator = createEmulator({ clients: [{ clientId: 'recipe', clientSecret, name: 'Recipe', landingPage }] })
  await emulator.listen()
  const site = start(project(sources), ['main.js'], {
    PORT: new URL(siteUrl).port,
    ...environment,
    ...variablesOf({ ...emulator.siteOptions(), siteUrl, sessionSecret }),
  })
  await eventually(hasLandingPage(siteUrl), 45).catch(() => Promise.reject(new Error(`no site:\n${site.output()}`)))
  return { ...site, siteUrl }
}

/** A guard, a login, a script and a logout, as every recipe promises. */
async function walk(siteUrl: string): Promise<void> {
  const browser = new Browser()
  const form = await browser.visit(`${siteUrl}/account`)
  expect([form.status, new URL(form.url).pathname]).toEqual([200, '/login'])
  expect(await browser.fetchJson(`${siteUrl}/account`)).toMatchObject({
    status: 401,
    json: { error: 'login_required' },
  })
  const account = await browser.submit(`${siteUrl}/login`, { ...ada, return_to: '/account' })
  expect([account.url, JSON.parse(account.body)]).toEqual([
    `${siteUrl}/account`,
    expect.objectContaining({ username: 'ada' }),
  ])
  await browser.submit(`${siteUrl}/logout`, { return_to: '/account' })
  expect(await browser.fetchJson(`${siteUrl}/account`)).toMatchObject({ status: 401 })
}

test.each([
  [
    'NestJS',
    () => ({
      'sso.js': blocks('frameworks.md', 'NestJS', 'ts'),
      'main.js': blocks('frameworks.md', 'NestJS', 'typescript'),
    }),
  ],
  ['Fastify', () => ({ 'main.js': blocks('frameworks.md', 'Fastify', 'ts') })],
])('docs/frameworks.md: %s', async (_name, sources) => {
  const programs = Object.entries(sources()).map(([file, [code = '']]) => [file, compiled(code)] as const)
  const { siteUrl } = await startSite(Object.fromEntries(programs))
  expect((await new Browser().visit(`${siteUrl}/`)).body).toBe('{"reader":null}')
  await walk(siteUrl)
})

async function withFreePorts(text: string): Promise<string> {
  let changed = text
  for (const port of ['3000', '3443', '4443'])
    changed = changed.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(await freePort()))
  return changed
}

/** The recipe with a page that takes 5 s, and says when it is in progress. Both sides keep a connection for a minute. */
const withSlowPage = (code: string) =>
  `${code.replace(
    'const server =',
    `app.get('/slow', (_req, res) => {
  setTimeout(() => res.send('done'), 5000)
  console.log('the page is in progress')
})
const server =`,
  )}
server.keepAliveTimeout = 60_000`

describe('docs/deployment.md', () => {
  let redis: TestRedis
  beforeEach(async () => {
    redis = await startRedis()
  })
  afterEach(async () => {
    redis.resume()
    await redis.stop()
  })

  test('shutdown and health check: while Redis hangs it answers 200 and says so, and ends after the page in progress', async () => {
    const [main = ''] = blocks('deployment.md', 'Shutdown and health check', 'ts')
    const sources = { 'main.js': compiled(withSlowPage(main)) }
    const { siteUrl, ended, output, stop } = await startSite(sources, { REDIS_URL: redis.url })
    const browser = new Browser()
    await browser.visit(`${siteUrl}/login`)
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const page = fetch(`${siteUrl}/slow`, { headers: { cookie } })
    await eventually(async () => output().includes('the page is in progress'))
    redis.hang()
    await eventually(async () => {
      const response = await fetch(`${siteUrl}/healthz`) // on a connection that stays open
      expect(response.status).toBe(200)
      return (await response.text()).includes('"store":"unavailable"')
    })
    void stop()
    expect(await (await page).text()).toBe('done')
    const begun = performance.now()
    expect(await ended).toBe(0)
    // without the timer of the recipe, the connection of the page would stay for a minute
    expect(performance.now() - begun).toBeLessThan(20_000)
  })

  test('rehearsal: runs with https, a proxy and Redis, and the doctor finds nothing wrong until NODE_ENV is production', async () => {
    const rehearse = files('deployment.md').get('rehearse.mjs') ?? ''
    const [shell = ''] = blocks('deployment.md', 'Rehearse production', 'sh')
    const [environment = ''] = blocks('deployment.md', 'Rehearse production', 'text')
    const program = blocksOf(readText('README.md')).find(({ language }) => language === 'js')?.code ?? ''
    const folder = project({
      'rehearse.mjs': rehearse,
      'site.mjs': program.replace('app.use(sso)', "app.set('trust proxy', 1)\napp.use(sso)"),
      'rehearsal.env': await withFreePorts(environment.replace('redis://127.0.0.1:6379', redis.url)),
    })
    execFileSync('/bin/sh', ['-c', shell], { cwd: folder, stdio: 'pipe' })
    const trust = { NODE_EXTRA_CA_CERTS: 'cert.pem' }
    start(folder, ['--env-file=rehearsal.env', 'rehearse.mjs'], trust)
    const site = start(folder, ['--env-file=rehearsal.env', 'site.mjs'], trust)
    const main = path.join(root, 'dist', 'cli', 'main.js')
    const doctor = async (more: Program['env']) => {
      const run = start(folder, [main, 'doctor', '--env-file=rehearsal.env'], { ...trust, ...more })
      const code = await run.ended
      return { code, output: run.output() }
    }
    await eventually(async () => site.output().includes('Open '), 60)
    let report = { code: 1 as number | null, output: '' }
    const isReached = async () => {
      report = await doctor({})
      return /^ok +site +https:/m.test(report.output)
    }
    await eventually(isReached, 60)
    const { code, output } = report
    expect(output).not.toMatch(/^WRONG/m)
    expect(output).toMatch(/^ok +proxy +one proxy, trusted$/m)
    expect(output).toMatch(/^ok +cookies +__Host-sso2\.b: HttpOnly.*Secure$/m)
    expect(code).toBe(0)
    const refused = await doctor({ NODE_ENV: 'production' })
    expect(refused.output).toMatch(
      /this is the emulator, and NODE_ENV is production[\s\S]*-> use the addresses of the platform, or unset NODE_ENV/,
    )
    expect(refused.code).toBe(1)
  })
})

/** What stands before a function: each request becomes an event of version 2, and each result an answer. */
const gateway = `
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { handler } from './handler.js'
http.createServer(async (req, res) => {
  const { pathname, search } = new URL(req.url, 'http://gateway')
  const { cookie, ...headers } = req.headers
  const { statusCode, headers: answered, cookies = [], body } = await handler({
    version: '2.0', rawPath: pathname, rawQueryString: search.slice(1), cookies: cookie?.split('; ') ?? [], headers,
    requestContext: { http: { method: req.method, path: pathname, sourceIp: '127.0.0.1' } },
    body: Buffer.from(await text(req)).toString('base64'), isBase64Encoded: true,
  }, {})
  res.writeHead(statusCode, { ...answered, ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}) }).end(body)
}).listen(process.env.PORT)
`

test('docs/frameworks.md: serverless', async () => {
  const [handler = ''] = blocks('frameworks.md', 'Serverless', 'ts')
  await walk((await startSite({ 'handler.js': compiled(handler), 'main.js': gateway })).siteUrl)
})

/** Runs a line of a page in a folder, with the package as it is built and a free port for the emulator. */
function startLine(folder: string, line: string, ports: readonly (readonly [from: string, to: string])[]) {
  const ported = ports.reduce((changed, [from, to]) => changed.replaceAll(`:${from}`, `:${to}`), line)
  const emulatorPort = ports.find(([from]) => from === '4000')?.[1] ?? ''
  const command = ported
    .replace('npx express-sso2', `${process.execPath} ${path.join(root, 'dist', 'cli', 'main.js')}`)
    .replace(/ emulator /, ` emulator --port ${emulatorPort} `)
    .replace(/^node /, `${process.execPath} `)
  return start(folder, ['-c', `exec ${command}`], {}, '/bin/sh')
}

test('docs/migration.md: a site with passport-local after the move keeps its .env, its basket and its table of users', async () => {
  const named = files('migration.md')
  const folder = project({
    'app.mjs': named.get('app.mjs') ?? '',
    'users.mjs': named.get('users.mjs') ?? '',
    '.env': 'COOKIE_SECRET=a-cookie-secret-of-the-old-site\nPORT=1\n',
  })
  const [lines = ''] = blocks('migration.md', 'Keep your .env file', 'sh')
  const [emulatorLine = '', siteLine = '', doctorLine = ''] = lines.split('\n')
  const [sitePort, platformPort] = [String(await freePort()), String(await freePort())]
  const ports = [
    ['3000', sitePort],
    ['4000', platformPort],
  ] as const
  const siteUrl = `http://localhost:${sitePort}`
  const platform = startLine(folder, emulatorLine, ports)
  await eventually(async () => platform.output().includes('Ctrl+C'), 30)
  const site = startLine(folder, siteLine, ports)
  await eventually(hasLandingPage(siteUrl), 30).catch(() => Promise.reject(new Error(`no site:\n${site.output()}`)))
  const doctor = startLine(folder, doctorLine, ports)
  expect([await doctor.ended, doctor.output()]).toEqual([0, expect.not.stringContaining('WRONG')])
  expect(readFileSync(path.join(folder, '.env'), 'utf8')).toContain('COOKIE_SECRET')

  const [browser, other] = [new Browser(), new Browser()]
  await browser.visit(`${siteUrl}/basket`)
  expect((await browser.submit(`${siteUrl}/basket`, { item: 'Kalevala' })).body).toBe('["Kalevala"]')
  expect((await browser.visit(`${siteUrl}/api/me`)).status).toBe(401)
  expect(new URL((await browser.visit(`${siteUrl}/editors`)).url).pathname).toBe('/login')
  const desk = await browser.submit(`${siteUrl}/login`, { ...ada, return_to: '/editors' })
  expect([desk.url, desk.body]).toEqual([`${siteUrl}/editors`, "Editors' room"])
  const row = { id: 1, email: 'ada@demo-press.example', role: 'editor', accountId: 'account-ada' }
  expect(JSON.parse((await browser.visit(`${siteUrl}/account`)).body)).toEqual(row)
  expect((await browser.visit(`${siteUrl}/basket`)).body).toBe('["Kalevala"]')
  await browser.submit(`${siteUrl}/logout`, {})
  expect((await browser.visit(`${siteUrl}/basket`)).body).toBe('[]')

  await other.visit(`${siteUrl}/account`) // of an account that the table does not know
  const account = await other.submit(`${siteUrl}/login`, { ...grace, return_to: '/account' })
  expect(JSON.parse(account.body)).toMatchObject({ id: 2, role: 'reader', accountId: 'account-grace' })
  expect((await other.visit(`${siteUrl}/editors`)).status).toBe(403)
})

/** The example, on a port and with a template that shows what it is given. */
function ownPage(): string {
  const [block = ''] = blocks('login-pages.md', 'A login page of your own', 'ts')
  const template = `const app = express()
app.engine('txt', (_file, { settings, _locals, cache, ...shown }, done) => done(null, JSON.stringify(shown)))
app.set('view engine', 'txt')
app.set('views', '.')
app.use(sso)`
  const code = compiled(block)
    .replace("const siteUrl = 'https://news.example'", 'const siteUrl = process.env.SSO2_SITE_URL')
    .replace('app.use(sso)', template)
  const account = "app.get('/account', sso.requireLogin(), (req, res) => res.json(req.sso2.user))"
  return `import { sso2 } from 'express-sso2'\n${code}\n${account}\napp.listen(process.env.PORT)`
}

test('docs/login-pages.md: a login page of your own shows why a login failed, and sends on a user who is logged in', async () => {
  const { siteUrl } = await startSite({ 'main.js': ownPage(), 'sign-in.txt': '' })
  const browser = new Browser()
  const returnTo = `${siteUrl}/account`
  const form = await browser.visit(returnTo)
  const empty = { returnTo, username: '', error: '', mustLogOut: false }
  expect([new URL(form.url).pathname, JSON.parse(form.body)]).toEqual(['/sign-in', empty])
  const refused = await browser.submit(`${siteUrl}/sign-in`, { ...ada, password: 'wrong', return_to: '/account' })
  const error = 'The username or password is wrong. You have 2 attempts left.'
  expect(JSON.parse(refused.body)).toEqual({ ...empty, username: 'ada', error })
  const code = 'session_already_logged_in_on_another_account'
  emulator?.faults.add({ operation: 'authenticate', kind: 'error', code, times: 1 })
  const other = await browser.submit(`${siteUrl}/sign-in`, { ...ada, password: 'other' })
  expect(JSON.parse(other.body)).toMatchObject({ username: 'ada', mustLogOut: true })
  for (const { sid } of emulator?.sessions() ?? []) emulator?.prune(sid)
  const ended = await browser.submit(`${siteUrl}/sign-in`, { ...ada, return_to: '/account' })
  expect(JSON.parse(ended.body)).toEqual({ ...empty, error: 'Your session has ended. Please log in again.' })
  const account = await browser.submit(`${siteUrl}/sign-in`, { ...ada, return_to: '/account' })
  expect(account.url).toBe(`${siteUrl}/account`)
  expect((await browser.visit(`${siteUrl}/sign-in?return_to=/account`)).url).toBe(`${siteUrl}/account`)
})

test('docs/testing.md: node:test is content with its files', async () => {
  const named = files('testing.md')
  const copied = ['site.mjs', 'platform.mjs', 'account.test.mjs'].map((name) => [name, named.get(name) ?? ''] as const)
  const { output, ended } = start(project(Object.fromEntries(copied)), ['--test', '--test-reporter=tap'])
  expect([await ended, output()]).toEqual([0, expect.stringMatching(/^# pass 5$/m)])
})
