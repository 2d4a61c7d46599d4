import { writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { runCommand, startCommand } from './command'
import { readSources, Workshop } from './compile'
import { configuration } from './configuration'
import { morning, Platform, token } from './platform'

/* The command: what it prints, what it refuses, and how it ends. */

let workshop: Workshop
let compiled: string

beforeAll(() => {
  workshop = new Workshop()
  compiled = workshop.build('package', readSources())
})
afterAll(() => workshop.remove())

function file(name: string, text: string): string {
  const full = path.join(workshop.folder, name)
  writeFileSync(full, text)
  return full
}

test.each(['SIGINT', 'SIGTERM'] as const)('it ends with 0 at %s, whoever is connected', async (signal) => {
  const running = await startCommand(compiled, [])
  const stream = http.get(`${running.url}/_emulator/events`)
  stream.on('error', () => undefined)
  await new Promise((resolve) => stream.once('response', resolve))
  expect(await running.stop(signal)).toBe(0)
})

test('it prints addresses, clients, and accounts to try', async () => {
  const running = await startCommand(compiled, [])
  const { url } = running
  for (const text of [`${url}/sso`, `${url}/oauth/token`, 'morning-post', 'evening-star', 'ada', 'correct-horse']) {
    expect(running.output()).toContain(text)
  }
  expect((await new Platform(url).control('GET', '/ready')).status).toBe(200)
  await running.stop()
})

test('it prints no password or secret of a configuration file', async () => {
  const running = await startCommand(compiled, ['--config', file('own.json', JSON.stringify(configuration))])
  expect(running.output()).toContain('ada')
  for (const secret of ['correct-horse', morning.secret]) expect(running.output()).not.toContain(secret)
  await running.stop()
})

test("token times are the system's by default, and --production refuses debug_url", async () => {
  const { tokenTime: _, ...open } = configuration
  const running = await startCommand(compiled, ['--production', '--config', file('open.json', JSON.stringify(open))])
  const platform = new Platform(running.url)
  await platform.advance(3600)
  const query = `t=${token(morning)}&r=http%3A%2F%2Flocalhost%2F`
  expect((await platform.browser().go(query)).status).toBe(302)
  expect((await platform.browser().go(`${query}&debug_url=http%3A%2F%2Flocalhost%2F`)).status).toBe(400)
  await running.stop()
})

test('a taken port is named', async () => {
  const running = await startCommand(compiled, [])
  const { port } = new URL(running.url)
  const { code, stderr } = await runCommand(compiled, ['emulator', '--port', port])
  expect([code, stderr]).toEqual([1, `express-sso2 emulator: port ${port} is taken; choose another one with --port\n`])
  await running.stop()
})

test.each<[string, () => string, RegExp]>([
  ['that is not there', () => '/does/not/exist.json', /cannot read .*exist\.json/],
  ['that is no JSON', () => file('bad.json', '{ not json'), /cannot read .*bad\.json/],
  ['that holds a list', () => file('list.json', '[]'), /cannot read .*list\.json: it holds no JSON object/],
  ['with faults', () => file('faults.json', '{"clients":[{}],"colour":1}'), /clients\[0\]\.clientId[\s\S]*colour/],
])('a file %s ends it with 1 and a clear message', async (_what, name, message) => {
  const { code, stderr } = await runCommand(compiled, ['emulator', '--port', '0', '--config', name()])
  expect(code).toBe(1)
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('    at ')
})

test.each([['--port', 'x'], ['--port', '70000'], ['--colour'], ['surplus']])(
  'arguments %s %s: usage and 2',
  async (...args) => {
    const { code, stderr } = await runCommand(compiled, ['emulator', ...args])
    expect(code).toBe(2)
    expect(stderr).toContain('Usage: express-sso2 emulator')
  },
)

test('--help ends with 0', async () => {
  const { code, stdout } = await runCommand(compiled, ['emulator', '--help'])
  expect([code, stdout.includes('--config <file>')]).toEqual([0, true])
  expect((await runCommand(compiled, ['--help'])).code).toBe(0)
})

test.each([[[]], [['teleport']], [['constructor']]])('no such command %j: usage and 2', async (args) => {
  const { code, stderr } = await runCommand(compiled, args)
  expect(code).toBe(2)
  expect(stderr).toContain('Usage: express-sso2 <command>')
})

test('NODE_ENV=production: refused with 1', async () => {
  const { code, stderr } = await runCommand(compiled, ['emulator', '--port', '0'], { NODE_ENV: 'production' })
  expect(code).toBe(1)
  expect(stderr).toContain('NODE_ENV=production')
})
