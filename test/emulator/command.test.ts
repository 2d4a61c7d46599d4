import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { emulatorCommand } from '../../lib/cli/emulator'
import { makeConfig } from '../../lib/config'
import { freePort } from '../support/ports'
import { printed } from '../support/printed'
import { answers, cleanEnvironment } from '../support/process'
import { makeProject } from '../support/project'
import { eventually } from '../support/wait'
import { built, runCommand, startCommand } from './command'
import { configuration } from './configuration'
import { morning, Platform, token } from './platform'

/* The command: what it prints, what it refuses, and how it ends. */

const folder = mkdtempSync(path.join(tmpdir(), 'sso2-emulator-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ends: Promise<number>[] = []
const stop = async () => {
  process.emit('SIGINT')
  return Promise.all(ends.splice(0))
}
afterEach(stop)

/** Starts the emulator in this process, until `stop` or the end of the test. */
async function start(...args: string[]) {
  const [texts, begun] = [{ stdout: '', output: '' }, ends.length]
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    jest.spyOn(process[name], 'write').mockImplementation((chunk) => {
      if (name === 'stdout') texts.stdout += chunk
      texts.output += chunk
      return true
    }),
  )
  ends.push(emulatorCommand(['--port', '0', ...args]))
  await Promise.race([ends[begun], eventually(async () => texts.output.includes('Ctrl+C'))])
  for (const spy of spies) spy.mockRestore()
  return { ...texts, url: /Admin portal\s+(\S+)\//.exec(texts.output)?.[1] ?? '' }
}
/** Runs `emulator` to its end, in this process. */
const run = (...args: string[]) => printed(() => emulatorCommand(args))
/** In a process of its own: Jest makes errors of Node.js unknown to the code that it runs. */
const runApart = (...args: string[]) => runCommand(['emulator', ...args])

function file(name: string, text: string): string {
  const full = path.join(folder, name)
  writeFileSync(full, text)
  return full
}

test('it ends with 0 at SIGTERM, also with an open connection', async () => {
  const running = await startCommand([])
  const stream = http.get(`${running.url}/_emulator/events`)
  stream.on('error', () => undefined)
  await new Promise((resolve) => stream.once('response', resolve))
  expect(await running.stop('SIGTERM')).toBe(0)
})

test('it prints addresses, clients, and accounts to try, and ends with 0 at SIGINT', async () => {
  const running = await start()
  const { url } = running
  for (const text of [`${url}/sso`, `${url}/oauth/token`, 'morning-post', 'evening-star', 'ada', 'correct-horse']) {
    expect(running.output).toContain(text)
  }
  expect((await new Platform(url).control('GET', '/ready')).status).toBe(200)
  expect(await stop()).toEqual([0])
})

const clock = { now: () => Date.now() }

/** The `.env` of each site, by its address. */
function environments(printed: string): Map<string, NodeJS.Dict<string>> {
  const blocks = printed.split(/^# \.env of /m).slice(1)
  return new Map(blocks.map((block) => [block.slice(0, block.indexOf('\n')), parseEnv(`# ${block}`)]))
}

test('for each --site it makes a client with its landing page, and prints a complete .env', async () => {
  const sites = ['http://localhost:3000', 'http://127.0.0.1:3001/news/']
  const running = await start('--site', sites[0] ?? '', '--site', sites[1] ?? '')
  const found = environments(running.output)
  expect([...found.keys()]).toEqual(['http://localhost:3000', 'http://127.0.0.1:3001/news'])
  const configs = [...found.values()].map((environment) => makeConfig({}, environment, clock))
  const { clients } = (await new Platform(running).control('GET', '/export')).json
  expect(clients).toMatchObject(
    configs.map(({ clientId, clientSecrets, siteUrl, routes }) => ({
      clientId,
      clientSecret: clientSecrets()[0],
      landingPage: `${siteUrl}${routes.landing}`,
    })),
  )
  expect(configs.map(({ ssoUrl, apiUrl, tokenUrl }) => [ssoUrl, apiUrl, tokenUrl])).toEqual(
    sites.map(() => [`${running.url}/sso`, running.url, `${running.url}/oauth/token`]),
  )
})

const two = ['http://localhost:3000', 'http://127.0.0.1:3001'] as const
const bothSites = two.flatMap((site) => ['--site', site])

test('--write-env-dir writes the .env of each site, and leaves one alone that is there', async () => {
  const target = path.join(folder, 'papers', 'env')
  const names = ['localhost-3000.env', '127-0-0-1-3001.env']
  mkdirSync(target, { recursive: true })
  writeFileSync(path.join(target, names[1] ?? ''), 'MINE=1\n')
  const running = await start(...bothSites, '--write-env-dir', target)
  await stop()
  const [written, kept] = names.map((name) => path.join(target, name)) as [string, string]
  expect(makeConfig({}, parseEnv(readFileSync(written, 'utf8')), clock)).toMatchObject({
    siteUrl: two[0],
    ssoUrl: `${running.url}/sso`,
  })
  expect([readFileSync(kept, 'utf8'), statSync(written).mode & 0o077]).toEqual(['MINE=1\n', 0])
  expect(running.stdout).toBe('')
  expect(running.output).toContain(`  ${written}  ${two[0]}\n  ${kept}  ${two[1]}, left as it was`)
  expect(running.output).not.toContain('SSO2_SESSION_SECRET')
  const port = String(await freePort())
  const nowhere = await runApart('--port', port, ...bothSites, '--write-env-dir', written)
  expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringMatching(/cannot write .*: E(EXIST|NOTDIR)/)])
})

test('--write-env writes the .env of a site, and leaves one alone that is there, also when the start fails', async () => {
  const file = path.join(folder, 'site.env')
  const write = ['--site', two[0], '--write-env', file]
  writeFileSync(file, '')
  const running = await start(...write)
  await stop()
  const written = readFileSync(file, 'utf8')
  expect(makeConfig({}, parseEnv(written), clock)).toMatchObject({ siteUrl: two[0], ssoUrl: `${running.url}/sso` })
  expect([statSync(file).mode & 0o077, running.stdout]).toEqual([0, ''])
  const { port } = new URL(running.url)
  const again = await start('--port', port, ...write)
  const taken = await runApart('--port', port, ...write)
  await stop()
  expect(again.output).toContain(`  ${file}  ${two[0]}, left as it was\n`)
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining(`port ${port} is taken`)])
  const elsewhere = await start(...write)
  await stop()
  expect(elsewhere.output).toContain(
    `${two[0]}, left as it was, but SSO2_API_URL, SSO2_TOKEN_URL, SSO2_URL differ: delete the file, or correct it\n`,
  )
  expect(readFileSync(file, 'utf8')).toBe(written)
})

describe('started by npx or by an npm script', () => {
  const waiting = 'while ! grep -q ^Ctrl out.txt; do sleep 0.1; done'
  const background = `express-sso2 emulator --port 0 & echo $! > pid.txt; ${waiting}`
  const scripts = { background }
  const project = makeProject({ 'package.json': JSON.stringify({ scripts }) })
  const bin = path.join(project, 'node_modules', '.bin')
  mkdirSync(bin)
  const main = path.join(built, 'cli', 'main.js')
  writeFileSync(path.join(bin, 'express-sso2'), `#!/bin/sh\nexec node ${main} "$@"\n`, { mode: 0o755 })
  afterAll(() => rmSync(project, { recursive: true }))

  const read = (name: string) => readFileSync(path.join(project, name), 'utf8')
  /** Starts a command in the background, as a script does, and waits for the emulator. @returns the address of the emulator */
  function inBackground(command: string, then: string): string {
    const script = `rm -f out.txt; ${command} >out.txt 2>&1 & sleep 0.1; ${waiting}; ${then}`
    execFileSync('sh', ['-c', script], { cwd: project, env: cleanEnvironment(), stdio: 'ignore' })
    return /Admin portal\s+(\S+)\//.exec(read('out.txt'))?.[1] ?? ''
  }

  test('a kill of npx ends the emulator too', async () => {
    const url = inBackground('npx express-sso2 emulator --port 0', 'kill $!')
    await eventually(async () => !(await answers(url)))
  }, 60_000)

  test('a script that starts it in the background may end before it', async () => {
    const url = inBackground('npm run background', 'wait $!')
    await new Promise((resolve) => setTimeout(resolve, 1200))
    expect(await answers(url)).toBe(true)
    process.kill(Number(read('pid.txt')), 'SIGTERM')
    await eventually(async () => !(await answers(url)))
  }, 60_000)
})

test('started again it prints the same clients, and another session secret', async () => {
  const printed: NodeJS.Dict<string>[] = []
  for (const round of [1, 2]) {
    const running = await start('--site', `http://localhost:3000${'/'.repeat(round - 1)}`)
    printed.push(...environments(running.stdout).values())
  }
  const [first, second] = printed
  expect(first?.['SSO2_SITE_URL']).toBe('http://localhost:3000')
  for (const variable of ['SSO2_CLIENT_ID', 'SSO2_CLIENT_SECRET'])
    expect([variable, first?.[variable]]).toEqual([variable, second?.[variable]])
  expect(first?.['SSO2_SESSION_SECRET']).toMatch(/^[0-9a-f]{64}$/)
  expect(first?.['SSO2_SESSION_SECRET']).not.toBe(second?.['SSO2_SESSION_SECRET'])
})

test('with a configuration, a site that lands there is its client, and any other one is added', async () => {
  const config = file('sites.json', JSON.stringify({ ...configuration, organisationId: 'press#1' })) // has to be quoted
  const sites = ['--site', new URL(morning.landingPage).origin, '--site', 'http://localhost:3005']
  const running = await start('--config', config, ...sites)
  const [own, added] = environments(running.output).values()
  expect(own).toMatchObject({ SSO2_CLIENT_ID: morning.clientId, SSO2_CLIENT_SECRET: '' })
  for (const secret of ['correct-horse', morning.secret]) expect(running.output).not.toContain(secret)
  expect(makeConfig({}, added ?? {}, clock).organisationId).toBe('press#1')
  const { clients } = (await new Platform(running).control('GET', '/export')).json
  expect(clients).toHaveLength(configuration.clients.length + 1)
})

test('a site at the usual port of https needs no PORT, and a client that lands elsewhere gets no .env', async () => {
  const usual = await start('--site', 'https://news.example')
  await stop()
  expect([usual.stdout.includes('SSO2_SITE_URL=https://news.example\n'), usual.stdout.includes('PORT=')]).toEqual([
    true,
    false,
  ])
  const clients = [{ ...configuration.clients[0], landingPage: 'http://localhost:3001/welcome' }]
  const config = file('elsewhere.json', JSON.stringify({ ...configuration, clients }))
  expect((await start('--config', config)).stdout).toBe('')
})

test('--help prints the usage and ends with 0', async () => {
  const help = await run('--help')
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('Usage: express-sso2 emulator')])
})

const alike = ['--site', 'http://a.b.localhost:3000', '--site', 'http://a-b.localhost:3000']
test.each<[args: string[], env: Record<string, string>, says: RegExp]>([
  [['--host', '203.0.113.1'], {}, /203\.0\.113\.1 is no address of this machine/],
  [['--host', 'fe80::1'], {}, /^express-sso2 emulator: (listen E\w+|fe80::1 is no address)/],
  [alike, {}, /the configuration is not right:\n {2}- clients/],
  [[], { NODE_ENV: 'production' }, /the SSO2 emulator does not run with NODE_ENV=production/],
])('with %j %j it cannot start, says why, and ends with 1', async (args, env, says) => {
  const { code, stderr } = await runCommand(['emulator', '--port', '0', ...args], env)
  expect([code, stderr]).toEqual([1, expect.stringMatching(says)])
})

test('--print-config prints a file for --config, with the sites in it, and ends', async () => {
  const { code, stdout, stderr } = await run('--print-config', '--site', 'https://a.test')
  expect([code, stderr]).toEqual([0, ''])
  const printed = JSON.parse(stdout)
  expect(printed.clients).toMatchObject([{ landingPage: 'https://a.test/sso2/landing', sso2: true }])
  expect(printed.limits.tokenSeconds).toBe(10)
  const again = await run('--print-config', '--config', file('again.json', stdout))
  expect(JSON.parse(again.stdout)).toEqual(printed)
})

const elsewhere = Object.values(networkInterfaces())
  .flat()
  .find((one) => one && !one.internal && one.family === 'IPv4')?.address

test('it listens on loopback alone; with --host on more, and says so', async () => {
  const closed = await start()
  expect(closed.output).not.toContain('=====')
  const open = await start('--host', '0.0.0.0')
  expect(open.output).toMatch(/={20,}\n.*listens on 0\.0\.0\.0, not on this machine alone/)
  expect((await new Platform(open).request('GET', '/')).body).toContain('Everyone who reaches this machine')
  const from = (url: string, path: string) =>
    fetch(`http://${elsewhere}:${new URL(url).port}${path}`).then(({ status }) => status)
  if (elsewhere) {
    await expect(from(closed.url, '/_emulator/ready')).rejects.toThrow('fetch failed')
    expect([await from(open.url, '/_emulator/ready'), await from(open.url, '/')]).toEqual([200, 200])
  }
  const named = (host: string) => new Platform(open).request('GET', '/_emulator/ready', { host })
  expect((await named('emulator:4000')).status).toBe(200)
  expect((await named('rebound.example.com')).status).toBe(403)
})

test("token times are the system's by default, and --production refuses debug_url", async () => {
  const { tokenTime: _, ...open } = configuration
  const running = await start('--production', '--config', file('open.json', JSON.stringify(open)))
  const platform = new Platform(running)
  await platform.advance(3600)
  const query = `t=${token(morning)}&r=http%3A%2F%2Flocalhost%2F`
  expect((await platform.browser().go(query)).status).toBe(302)
  expect((await platform.browser().go(`${query}&debug_url=http%3A%2F%2Flocalhost%2F`)).status).toBe(400)
})

test.each<[string, () => string, RegExp]>([
  ['that is not there', () => '/does/not/exist.json', /cannot read .*exist\.json/],
  ['that is no JSON', () => file('bad.json', '{ not json'), /cannot read .*bad\.json/],
  ['that holds a list', () => file('list.json', '[]'), /cannot read .*list\.json: it holds no JSON object/],
  ['with faults', () => file('faults.json', '{"clients":[{}],"colour":1}'), /clients\[0\]\.clientId[\s\S]*colour/],
])('a file %s ends it with 1 and a clear message', async (_what, name, message) => {
  const { code, stderr } = await run('--port', '0', '--config', name())
  expect(code).toBe(1)
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('    at ')
})

const bothEnv = ['--write-env', '.env', '--write-env-dir', '.']
const twice = ['--site', 'http://localhost:3000', '--site', 'http://localhost:3000/']
test.each([
  ['--port', '70000'],
  ['--site', 'localhost:3000'],
  ['--site', 'http://a.example'],
  twice,
  bothEnv,
  ['--colour'],
])('arguments %s %s: usage and 2', async (...args) => {
  const { code, stderr } = await run(...args)
  expect(code).toBe(2)
  expect(stderr).toContain('Usage: express-sso2 emulator')
})
