import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http, { type RequestListener } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { examineCommand } from '../../lib/cli/examine'
import { SiteProcess } from '../../lib/cli/examine-site'
import { Platform } from '../../lib/examiner/platform'
import { siteSettings } from '../../lib/examiner/settings'
import { findChromium } from '../support/browser'
import { freePort } from '../support/ports'
import { printed } from '../support/printed'
import { eventually } from '../support/wait'
import { beside, createSite } from './beside'

/* The arguments and the exit codes of `express-sso2 examine`, and the site that it starts. */

const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-examine-'))
const fileIn = (name: string, text = '') => {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
}
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs the command in this process. With `isTerminal`, its output has colours and a line of progress. */
async function examine(args: readonly string[], isTerminal = false) {
  const { code, stdout: out, stderr: err } = await printed(() => examineCommand(args), isTerminal)
  return { code, out, err }
}

const here = 'http://localhost:9'

test.each<[args: string[], message: string]>([
  [[], 'the address of one site is needed'],
  [[here, '--port', '65536'], '--port must be a number from 0 to 65535'],
  [[here, '--only', 'landing, none'], 'there is no check "none": see --list'],
  [['site'], 'the address of the site must be absolute'],
  [['http://example.com'], 'is not on this machine'],
  [['https://shop.example', '--i-own-this-site', 'https://other.example'], 'is not on this machine'],
  [[here, '--config', fileIn('text.json', 'text')], 'text.json: '],
  [[here, '--config', fileIn('wrong.json', '{"a":1}')], 'wrong.json: the file: Unrecognized key: "a"'],
  [[here, '--none'], 'express-sso2 examine: '],
])('%j is refused with the help', async (args, message) => {
  const { code, out, err } = await examine(args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
  expect(err).toContain('\nUsage: express-sso2 examine')
})

test.each([
  [['--help'], /^Usage: express-sso2 examine/],
  [['--list'], /^status\/old +[^\n]* \(waits\)$/m],
  [['--settings', here], /\nSSO2_LANDING=http:\/\/localhost:9\/sso2\/landing\n/],
  [
    ['--settings', 'https://shop.example//', '--i-own-this-site', 'https://shop.example//'],
    /=https:\/\/shop\.example\n/,
  ],
])('%j prints what is asked for', async (args, expected) => {
  expect(await examine(args)).toEqual({ code: 0, err: '', out: expect.stringMatching(expected) })
})

const taken = net.createServer()
beforeAll(() => once(taken.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => {
  taken.close()
})
const takenPort = () => String((taken.address() as AddressInfo).port)

test.each<[args: string[], message: string]>([
  [['--browser', '--port', 'TAKEN'], 'the platform cannot listen on port'],
  [['--port', '0'], `${here}/ does not respond (ECONNREFUSED)`],
  [
    ['--port', '0', '--', path.join(folder, 'none')],
    'the command that starts the site has ended. Its last lines:\nspawn',
  ],
])('with %j the examination cannot be made, and the exit code is 2', async (args, message) => {
  const env = jest.replaceProperty(process, 'env', { ...process.env, CHROMIUM_PATH: findChromium() })
  const { code, err } = await examine([here, ...args.map((word) => (word === 'TAKEN' ? takenPort() : word))])
  env.restore()
  expect([code, err]).toEqual([2, expect.stringContaining(`the examination could not be made: ${message}`)])
})

const other: RequestListener = (_req, res) => void res.end('not the site')
test('a site is not started where another program responds', () =>
  beside(other, async ({ siteUrl }) => {
    const { code, err } = await examine([siteUrl, '--port', '0', '--', 'node', 'never.js'])
    expect([code, err]).toEqual([2, expect.stringContaining('another program responds')])
  }))

test('--browser without Chromium says what to install', async () => {
  const env = jest.replaceProperty(process, 'env', { PATH: '' })
  const { code, err } = await examine([here, '--port', '0', '--browser'])
  env.restore()
  expect([code, err]).toEqual([2, expect.stringContaining('--browser needs Chromium: install it with')])
})

test('a site is examined on a terminal, with colours unless NO_COLOR is set, and reports are written', async () => {
  const [port, server] = [await freePort(), http.createServer()]
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const siteUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const settings = siteSettings(new Platform(siteUrl, '/sso2/landing').addressesAt(port))
  const site = createSite(Object.fromEntries(settings.map(({ variable, value }) => [variable, value])))
  server.on('request', site.app)
  const config = fileIn('market.json', '{"rest":{"marketplace":"/market"}}')
  const run = (args: string[], isTerminal: boolean) =>
    examine([siteUrl, '--port', String(port), '--only', 'rest/marketplace', '--config', config, ...args], isTerminal)
  const json = path.join(folder, 'report.json')
  const colored = await run(['--json', json], true)
  expect([colored.code, JSON.parse(readFileSync(json, 'utf8')).results[0].verdict]).toEqual([0, 'passed'])
  expect(colored.out).toContain('\u001b[32m✓\u001b[0m rest/marketplace')
  expect(colored.err).toBe('\r\u001b[K\u001b[1m[0/1]\u001b[0m rest/marketplace, about 1 s left\r\u001b[K')
  const env = jest.replaceProperty(process, 'env', { ...process.env, NO_COLOR: '1' })
  const rows: [args: string[], expected: string][] = [
    [['--skip', 'rest'], 'no check was left to run'],
    [['--junit', folder], `the report ${folder} cannot be written: `],
  ]
  expect((await run([], true)).out).toContain('  ✓ rest/marketplace')
  env.restore()
  for (const [args, expected] of rows) {
    const { code, err } = await run(args, false)
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
  }
  site.stop()
  server.close()
})

const addressesOf = (siteUrl: string) => new Platform(siteUrl, '/sso2/landing').addressesAt(1)
test.each([
  ['http://localhost', '80'],
  ['https://localhost:8443', '8443'],
])('the command of the site %s gets the port %s', async (siteUrl, port) => {
  const site = new SiteProcess({ program: 'sh', args: ['-c', 'echo $PORT $SSO2_SITE_URL.'] }, addressesOf(siteUrl))
  await eventually(async () => site.output().endsWith('.\n'))
  await site.stop()
  expect(site.output()).toBe(`${port} ${siteUrl}.\n`)
})
