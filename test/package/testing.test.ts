import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import express, { type Express } from 'express'
import { type Sso2Options, sso2 } from '../../lib'
import { createEmulator } from '../../lib/emulator'
import { signIn, visit } from '../../lib/testing'
import { makeProject } from '../support/project'
import { ada, edsger, grace, sessionSecret } from '../support/setup'

/** A runner that does not end is stopped then. On a busy machine a runner needs more than half a minute. */
const PATIENCE_MS = 150_000
jest.setTimeout(PATIENCE_MS + 20_000)

const siteTest = `
const express = require('express')
const { sso2 } = require('express-sso2')
const { createEmulator } = require('express-sso2/emulator')
const { signIn, visit } = require('express-sso2/testing')

test('a reader logs in', async () => {
  const emulator = createEmulator()
  await emulator.listen(0)
  const siteUrl = 'http://localhost:3001'
  const sso = sso2({ ...emulator.siteOptions(), siteUrl, sessionSecret: '${sessionSecret}', clock: emulator.clock })
  const app = express().use(sso)
  app.get('/account', sso.requireLogin(), (req, res) => res.json(req.sso2.user))
  const agent = await signIn(app, { username: 'ada', password: 'correct-horse' })
  await agent.get('/account').expect(200)
  await visit(app, '/account')
})
`

const emulator = createEmulator()
let app: Express
let sso: ReturnType<typeof sso2>

/** A site that logs nothing, at the address that the platform knows. */
const makeSite = (options: Partial<Sso2Options>) =>
  sso2({ siteUrl: 'http://localhost:3001', sessionSecret, logger: { warn: () => {}, info: () => {} }, ...options })

beforeAll(async () => {
  await emulator.listen(0)
  // wrong passwords of one account come again and again
  sso = makeSite({ ...emulator.siteOptions(), clock: emulator.clock, loginLimit: false })
  app = express()
  app.use(sso)
  app.get('/', (req, res) => void res.json(req.sso2))
  app.get('/account', sso.requireLogin(), (req, res) => void res.json(req.sso2.user))
})
afterAll(async () => {
  await sso.close()
  await emulator.close()
})

test('visit walks through Identify and landing and ends on the page asked for', async () => {
  const page = await visit(app, '/?page=2')
  expect(page.status).toBe(200)
  expect(page.url).toBe('/?page=2')
  expect(page.trail.map(({ status }) => status)).toEqual([302, 302, 303, 200])
  expect(page.body).toEqual({ status: 'anon' })
  emulator.faults.add({ operation: 'identify', kind: 'status', code: 302, times: 1 })
  expect((await visit(app, '/')).url).toBe(`${emulator.url}/`)
})

test('a visit goes on in the same browser, form and all', async () => {
  const login = await visit(app, '/login?return_to=/account')
  const account = await login.submit('/login', { ...grace, return_to: '/account' })
  expect(account.url).toBe('/account')
  expect(account.body).toMatchObject({ username: 'grace' })
  expect((await account.submit('/logout', {})).body).toEqual({ status: 'anon' })
})

test('a visit that goes round in circles ends after twenty hops, and says where', async () => {
  const circle = express()
  circle.get('/one', (_req, res) => res.redirect('/two?ticket=canary'))
  circle.get('/two', (_req, res) => res.redirect('/one?ticket=canary'))
  await expect(visit(circle, '/one')).rejects.toThrow(new Error('visit: more than 20 hops, the last to /two'))
})

const fails = async (credentials: object = {}, site: Express = app): Promise<string> =>
  signIn(site, { ...ada, ...credentials }).then(
    () => 'logged in',
    (error: Error) => error.message,
  )

describe('signIn names the code, and what helps', () => {
  beforeEach(() => emulator.reset())

  test('session_limit_reached is not a wrong password, and no password is in the error', async () => {
    for (let count = 0; count < 5; count += 1) await signIn(app, ada)
    expect(await fails()).toBe(
      'signIn: the login was refused with 401: session_limit_reached (the user has reached the maximum number of active ' +
        'sessions; emulator.reset() between tests, or limits.sessionsPerAccount)',
    )
    expect(await fails({ password: 'not-the-password' })).toMatch(
      /^signIn: (?!.*not-the-password).*refused with 401: invalid_credentials \(wrong username/,
    )
  })

  test.each<[string, () => void, object, RegExp]>([
    ['an account that is not active', () => {}, edsger, /: account_not_active \(/],
    ['a login page that is not there', () => {}, { loginPath: '/none' }, /^signIn: GET \/none ended with 404$/],
    ['a frozen account', () => void emulator.account('ada').freeze(), {}, /: account_frozen \(.*unfreeze\(\)/],
    [
      'a token endpoint that is away',
      () => void emulator.faults.add({ operation: 'token', kind: 'down' }),
      {},
      /refused with 503: unavailable \(the emulator, the token endpoint/,
    ],
  ])('%s', async (_what, prepare, credentials, expected) => {
    prepare()
    expect(await fails(credentials)).toMatch(expected)
  })

  test('a form of the site that answers a refusal with a redirect', async () => {
    const own = express()
    own.use(sso)
    own.get('/enter', sso.identify(), (_req, res) => void res.send('a form'))
    own.post('/enter', express.urlencoded(), async (req, res) => {
      const { ok } = await req.sso2.login(req.body)
      res.redirect(ok ? '/' : '/enter?again')
    })
    own.get('/', (req, res) => void res.json(req.sso2))
    const loginPath = '/enter'
    expect(await fails({ loginPath }, own)).toBe('logged in')
    expect(await fails({ loginPath, password: 'not-the-password' }, own)).toMatch(
      /refused with 302: invalid_credentials/,
    )
  })

  test("a site without the emulator's clock, and one with a wrong ssoUrl", async () => {
    emulator.clock.advance(3600)
    const late = makeSite(emulator.siteOptions())
    expect(await fails({}, express().use(late))).toMatch(
      /GET \/login ended with 400 at http:.*\/sso\/identify, which says: The request token t is not valid: exp: expired \d+ s ago\. \(give the site the emulator's clock/,
    )
    const lost = makeSite({ ...emulator.siteOptions(), ssoUrl: `${emulator.url}/none` })
    expect(await fails({}, express().use(lost))).toMatch(/GET \/login ended with 404 at http:\S+\/none\/identify$/)
    await Promise.all([late.close(), lost.close()])
  })
})

test('an emulator that is not there is named, without the token', async () => {
  const gone = createEmulator()
  await gone.listen(0)
  const platform = gone.siteOptions()
  await gone.close()
  const lost = makeSite(platform)
  const site = express().use(lost)
  const message = `visit: ${platform.ssoUrl}/identify cannot be reached (ECONNREFUSED): does the emulator listen, and is ssoUrl its address?`
  await expect(visit(site, '/')).rejects.toThrow(new Error(message))
  expect(await fails({}, site)).toBe(message)
  await lost.close()
})

/** A runner that does not end by itself is stopped, and has no status. Of node:test `recipes.test.ts` tells. */
test('a process of Jest ends by itself, though nobody closes the emulator', () => {
  const jest = require.resolve('jest/bin/jest')
  const args = [jest, '--watchman=false', '--testTimeout=60000', '--testMatch', '**/own.test.cjs']
  const cwd = makeProject({ 'package.json': '{}', 'own.test.cjs': siteTest }, ['express', 'supertest'])
  const { JEST_WORKER_ID: _id, ...env } = process.env
  const settings = { cwd, env, encoding: 'utf8', timeout: PATIENCE_MS } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, settings)
  rmSync(cwd, { recursive: true })
  expect(stdout + stderr).toMatch(/Tests: +1 passed/)
  expect(stdout + stderr).not.toContain('did not exit')
  expect(status).toBe(0)
})
