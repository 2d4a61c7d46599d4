import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runCommand } from '../emulator/command'
import { makeProject } from '../support/project'
import { answering, examine, helpOf, prefix, runDoctor, sharedScene, startScene } from './doctor-scene'

/* What the doctor is given: a module of the site, a file of variables, arguments. */

const { scene, doctor, command } = sharedScene()

test('--json prints one object, and what a module prints goes to standard error', async () => {
  const { environment } = scene
  const folder = makeProject({
    'sso.cjs': "console.log('noise'); exports.sso = require('express-sso2').sso2()",
  })
  const right = await runCommand(['doctor', '--json', '--module', 'sso.cjs'], environment, folder)
  const wrong = await runDoctor({ ...environment, SSO2_TOKEN_URL: scene.siteUrl }, ['--json'])
  const broken = await runDoctor({}, ['--json'])
  rmSync(folder, { recursive: true })
  expect([JSON.parse(right.stdout).ok, right.code, right.stderr]).toEqual([true, 0, 'noise\n'])
  expect([JSON.parse(wrong.stdout).ok, wrong.code]).toEqual([false, 1])
  expect(JSON.parse(wrong.stdout).findings).toContainEqual({
    site: scene.siteUrl,
    check: 'token endpoint',
    state: 'wrong',
    message: expect.stringContaining('HTTP 404: there is no token endpoint'),
    fix: expect.stringContaining('SSO2_TOKEN_URL'),
    docs: 'node_modules/express-sso2/docs/commands.md#token-endpoint',
  })
  const findings: readonly object[] = JSON.parse(broken.stdout).findings
  const line = { check: 'configuration', state: 'wrong', message: expect.stringMatching(/\(SSO2_\w+\) is required/) }
  expect([findings, broken.code]).toEqual([Array(8).fill({ ...line, docs: expect.any(String) }), 1])
})

describe('with --module', () => {
  const folder = makeProject()
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const module = (name: string, text: string) => {
    const file = path.join(folder, name)
    writeFileSync(file, text)
    return ['--module', file]
  }

  test('options given in code are examined, though the module starts a site on a port that is taken', async () => {
    const other = await startScene({
      landing: '/callback',
      site: { routes: { landing: '/callback' }, session: { prefix, cookieName: 'own.sid' } },
    })
    const options = "{ routes: { landing: '/callback' }, session: { cookieName: 'own.sid' } }"
    const listening = `require('node:http').createServer().listen(${new URL(other.siteUrl).port}, 'localhost')`
    const args = module(
      'sso.js',
      `const { sso2 } = require('express-sso2')\n${listening}\nexports.sso = sso2(${options})`,
    )
    const bare = await examine(other.environment)
    const report = await command(args, other.environment)
    await other.close()
    expect([bare.of('landing page').slice(0, 5), bare.of('site').slice(0, 5), bare.code]).toEqual(['WRONG', 'WRONG', 1])
    expect(helpOf(bare.of('site'))).toContain('--module ./sso.js')
    expect(report.of('module')).toBe('note: the module throws an error that it does not catch: EADDRINUSE')
    expect(report.of('landing page')).toMatch(/^ok: .*\/callback$/)
    expect(report.of('cookies')).toMatch(/^ok: own\.b/)
    expect([report.output.match(/WRONG/g), report.code]).toEqual([null, 0])
  })

  test('hooks of the site are asked, and the sites of one module are examined one after the other', async () => {
    const api = await answering(401, {}, '')
    const args = module(
      'sites.mjs',
      `import { sso2 } from 'express-sso2'
      const failing = (error) => sso2({ exchangeTicket: () => Promise.reject(error), loadUser: () => undefined })
      export const [first, second] = [failing(new Error('refused')), sso2({ exchangeTicket: () => 'canary-token' })]
      export default { third: failing('canary'), fourth: failing({ code: 'EPIPE' }) }
      setInterval(() => {}, 1000)`,
    )
    const report = await command(args, { ...scene.environment, SSO2_TOKEN_URL: '', SSO2_API_URL: api.url })
    await api.close()
    expect(report.of('configuration').split('\n')).toHaveLength(4)
    const exchanges = report.of('token endpoint').split('\n')
    expect([report.of('tokenUrl'), ...exchanges]).toEqual([
      '',
      'note: exchangeTicket of the site refuses a made-up ticket (Error). A login shows whether real tickets work',
      'WRONG: exchangeTicket of the site returns an access token for a made-up ticket',
      expect.stringMatching(/^note: exchangeTicket of the site refuses a made-up ticket \(unknown error\)/),
      'WRONG: exchangeTicket of the site cannot connect: EPIPE',
    ])
    expect(report.of('user path')).toMatch(
      /^note: not checked, because the site has its own loadUser\nnote: .*HTTP 401 to each path/,
    )
    expect(report.output).not.toContain('canary')
    expect(report.code).toBe(1)
  })

  test('a site that serves its landing page itself, and calls through an agent, is not asked for more than it has', async () => {
    const hooks = "loadUser: () => undefined, ticketExchange: { clientAuth: 'basic' }"
    const options = `{ routes: { landing: false }, agent: { https: new https.Agent(), http: new http.Agent() }, ${hooks} }`
    const args = module(
      'own.js',
      `const [http, https] = [require('node:http'), require('node:https')]
      exports.sso = require('express-sso2').sso2(${options})`,
    )
    const report = await command(args)
    for (const name of ['ssoUrl', 'tokenUrl', 'apiUrl'])
      expect(report.of(name)).toMatch(/^ok: http:\S+ answers through the option agent$/)
    expect(report.of('landing page')).toMatch(/^note: .*routes\.landing is false, so the site must serve this page/)
    expect(report.of('site')).toMatch(/^note: .*routes\.landing is false, so the doctor cannot ask for more/)
    const changes = { SSO2_API_URL: 'http://127.0.0.1:1', SSO2_CLIENT_SECRET: 'another-secret-of-32-bytes-0123456789' }
    const away = await command(args, { ...scene.environment, ...changes })
    expect(away.of('apiUrl')).toMatch(/^WRONG: .*cannot be reached through the option agent: ECONNREFUSED\n-> nothing/)
    expect(helpOf(away.of('token endpoint'))).toContain("sso2({ ticketExchange: { clientAuth: 'post' } })")
    expect(away.of('not checked')).toBe('')
  })

  test('a function that makes the site is called: one of several, named', async () => {
    const factory = "() => require('express-sso2').sso2({ routes: { landing: '/made' } })"
    const text = `exports.stop = () => process.exit(7); exports.makeSso = ${factory}`
    const [flag = '', file = ''] = module('factory.cjs', text)
    const report = await command([flag, `${file}#makeSso`])
    expect(report.of('configuration')).toMatch(/^ok: complete/)
    expect(report.of('site')).toContain('/made answers')
    const none = await command([flag, `${file}#make`])
    expect(none.of('configuration')).toMatch(/factory\.cjs exports no function make\n-> export const sso = sso2\(/)
  })

  test.each<[string, string, RegExp]>([
    [
      'with several functions',
      'exports.makeSso = () => {}; exports.stop = () => process.exit(7)',
      /exports no sso2\(\), but the functions makeSso, stop\n-> --module \S+\.js#makeSso$/,
    ],
    ['whose function makes no site', 'exports.makeApp = () => ({})', /makeApp\(\) of \S+ returns no sso2\(\)/],
    ['without a site', 'exports.port = 3000', /exports no sso2\(\)\n-> export const sso = sso2\(/],
    ['that throws no error', "throw 'canary'", /cannot be loaded: error: unknown error/],
    ['that cannot be loaded', "require('./not-there')", /cannot be loaded: Error: Cannot find module/],
    [
      'with a configuration that is wrong',
      "exports.sso = require('express-sso2').sso2({ graceSeconds: -1, clock: 1 })",
      /graceSeconds \(SSO2_GRACE_SECONDS\) must be .*\nWRONG: clock must /,
    ],
  ])('a module %s is told', async (name, text, says) => {
    const report = await command(module(`${name.replaceAll(' ', '-')}.js`, text))
    expect(report.of('configuration')).toMatch(says)
    expect(report.output).not.toContain('canary')
    expect(report.code).toBe(1)
  })
})

test('--env-file is read, and a .env that is not read is pointed at', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-doctor-'))
  const lines = Object.entries(scene.environment).map(([name, value]) => `${name}=${value}`)
  writeFileSync(path.join(folder, '.env'), lines.join('\n'))
  const unread = await command([], {}, folder)
  expect(unread.of('configuration')).toMatch(
    /note: the doctor has not read the file \.env.*\n-> express-sso2 doctor --env-file \.env$/,
  )
  expect((await command(['--env-file', '.env'], {}, folder)).code).toBe(0)
  expect((await doctor({}, ['--env-file', 'none'])).of('configuration')).toMatch(/cannot be read: ENOENT\n-> --env-/)
  // Node.js 20 reads the option itself, wherever it stands, and says so itself
  const none = await runCommand(['doctor', '--env-file', 'none'], {}, folder)
  expect(`${none.stdout}${none.stderr}`).toMatch(/none( cannot be read: ENOENT|: not found)/)
  expect(none.code).not.toBe(0)
  rmSync(folder, { recursive: true })
})

test('a wrong argument is named above the help, and so is a wrong command, exit 2', async () => {
  const wrong = await runCommand(['doctor', '--fix'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^express-sso2 doctor: .*'--fix'/)])
  const none = await runCommand(['constructor'])
  expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/"constructor"\n\nUsage: express-sso2 <command>/)])
  const usage = await runCommand(['--help'])
  expect([usage.code, usage.stdout]).toEqual([0, expect.stringMatching(/^Usage: express-sso2 <command>/)])
  expect(await runCommand([])).toEqual({ code: 2, stdout: '', stderr: usage.stdout })
  const help = await runDoctor({}, ['--help'])
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('Usage: express-sso2 doctor')])
})
