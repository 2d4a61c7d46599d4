import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import express5 from 'express'
import { Cluster, Redis } from 'ioredis'
import { Sso2Client, TokenError } from '../../lib'
import { demoOptions } from '../../lib/emulator'
import { ada, addPages, eventually, logIn, view } from '../flows/network'
import { signJwt } from '../support/oracle'
import { startRedis, type TestRedis } from '../support/redis'
import { reader, type Stage, startStage } from './support'

const express4 = require('express4') as typeof express5

describe('on Redis Cluster', () => {
  let node: TestRedis
  let cluster: Cluster
  beforeAll(async () => {
    node = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] })
    const redis = new Redis(node.port)
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await eventually(async () => String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok'))
    redis.disconnect()
    cluster = new Cluster([{ host: '127.0.0.1', port: node.port }])
  })
  afterAll(async () => {
    cluster.disconnect()
    await node.stop()
  })

  test.each(['morning', 'a{b', 'a}b', 'a{}b', '{morning}', 'a{b}c', '}{'])(
    '[O15] a site whose clientId is %s works, all of it',
    async (clientId) => {
      const options = { redis: cluster, loginLimit: { attempts: 20, perSeconds: 60 } }
      const stage = await startStage({ clientId, prefix: false, options })
      try {
        const browser = await reader(stage)
        const kept = await browser.fetchJson(`${stage.url}/keep`)
        expect(kept.json).toMatchObject({ status: 'loggedin', saved: 'kept' })
        stage.emulator.clock.advance(361)
        const checked = await browser.visit(`${stage.url}/sensitive`)
        expect(view(checked)).toEqual({ status: 'loggedin', username: 'ada', saved: 'kept', url: '/sensitive' })
        const other = await reader(stage)
        const page = await other.submit(`${stage.url}/logout-all`, { return_to: '/' })
        expect(view(page)).toEqual({ status: 'anon', url: '/' })
        expect((await browser.fetchJson(`${stage.url}/account`)).status).toBe(401)
      } finally {
        await stage.close()
      }
    },
  )
})

describe.each([
  ['Express 4', express4],
  ['Express 5', express5],
])('[F10] X-Forwarded-For, on %s,', (_version, express) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({
      options: { loginLimit: { attempts: 2, perSeconds: 60 } },
      emulator: { limits: { attemptsBeforeFreeze: 1000 } },
      build: (sso, gates) => addPages(express().set('trust proxy', 1).use(sso), sso, gates),
    })
  })
  afterAll(() => stage.close())

  /** The addresses of all who tried this name. */
  const addressesOf = (username: string) => {
    const tries = stage.emulator.calls({ operation: 'authenticate' }).filter(({ claims }) => claims['usr'] === username)
    return tries.map(({ claims }) => claims['ipa'])
  }

  async function attempt(forwarded: string, username: string) {
    const browser = stage.browser()
    await browser.visit(`${stage.url}/`)
    const headers = { 'x-forwarded-for': forwarded }
    return browser.fetchJson(`${stage.url}/login`, { json: { username, password: 'wrong' }, headers })
  }

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:5678', '203.0.113.9'],
    ['198.51.100.7, 203.0.113.9:80', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
  ])('%s is the address %s', async (forwarded, address) => {
    await attempt(forwarded, `nobody-${forwarded}`)
    expect(addressesOf(`nobody-${forwarded}`)).toEqual([address])
  })

  test.each(['evil', '203.0.113.999:80', '[2001:db8::1', '203.0.113.9:80:80'])(
    '%s is no address, and nothing of it is sent on',
    async (forwarded) => {
      await attempt(forwarded, `nobody-${forwarded}`)
      expect(addressesOf(`nobody-${forwarded}`)).toEqual(['0.0.0.0'])
    },
  )

  test('[F3] a guesser behind a port stops at the limit whatever his port, and nobody else with him', async () => {
    const statuses: number[] = []
    for (const port of [1001, 1002, 1003, 1004]) statuses.push((await attempt(`203.0.113.20:${port}`, 'ada')).status)
    expect(statuses).toEqual([401, 401, 429, 429])
    expect((await attempt('203.0.113.21:1001', 'ada')).status).toBe(401)
  })
})

describe('an account whose name only looks like another', () => {
  const fullWidth = '\uff41\uff44\uff41'
  const evil = {
    accountId: 'account-evil',
    username: fullWidth,
    password: 'evil-password',
    name: 'E',
    email: 'e@x.example',
  }
  const loginLimit = { attempts: 10, perSeconds: 60 }
  let stage: Stage
  beforeEach(async () => {
    const accounts = [...(demoOptions().accounts ?? []), evil]
    stage = await startStage({ options: { loginLimit }, emulator: { accounts } })
  })
  afterEach(() => stage.close())

  /** Logs in and out, and is a known browser from then on. */
  async function known(account: typeof ada) {
    const browser = stage.browser()
    await browser.visit(`${stage.url}/`)
    await logIn(browser, stage, account)
    await browser.submit(`${stage.url}/logout`, { return_to: '/' })
    return browser
  }
  const guess = async (browser: ReturnType<Stage['browser']>, username: string) =>
    (await browser.fetchJson(`${stage.url}/login`, { json: { username, password: 'wrong' } })).json.error

  test('[F13] does not share its device cookie: its owner is stopped as an unrecognised browser, and freezes no account', async () => {
    const browser = await known({ username: fullWidth, password: evil.password })
    const errors: string[] = []
    for (let tries = 0; tries < 6; tries += 1) errors.push(await guess(browser, 'ada'))
    expect(errors).not.toContain('account_frozen')
    expect(errors.at(-1)).toBe('too_many_attempts')
    stage.emulator.clock.advance(901)
    const owner = stage.browser()
    await owner.visit(`${stage.url}/`)
    expect((await owner.fetchJson(`${stage.url}/login`, { json: ada })).json.user).toMatchObject({ username: 'ada' })
  })

  test('[F3, F13] does not release the other by its login: strangers freeze nothing', async () => {
    const browser = await known({ username: fullWidth, password: evil.password })
    const stranger = stage.browser()
    await stranger.visit(`${stage.url}/`)
    const errors: string[] = []
    for (let tries = 0; tries < 8; tries += 1) {
      errors.push(await guess(stranger, 'ada'))
      if (tries < 2) continue
      await logIn(browser, stage, { username: fullWidth, password: evil.password })
      await browser.submit(`${stage.url}/logout`, { return_to: '/' })
    }
    expect(errors).toEqual([...Array(3).fill('invalid_credentials'), ...Array(5).fill('too_many_attempts')])
    expect(stage.emulator.account('ada').view()).toMatchObject({ failedAttempts: 3, frozenUntil: null })
  })

  test.each(['ADA', fullWidth])('[F13] a device cookie of "ada" is none of "%s"', async (username) => {
    const browser = await known(ada)
    const stranger = stage.browser()
    await stranger.visit(`${stage.url}/`)
    for (let tries = 0; tries < loginLimit.attempts; tries += 1) await guess(stranger, username)
    expect(await guess(browser, username)).toBe('too_many_attempts')
  })

  test('[F3] a browser known to the exact name keeps its own budget', async () => {
    const browser = await known(ada)
    const stranger = stage.browser()
    await stranger.visit(`${stage.url}/`)
    for (let tries = 0; tries < 6; tries += 1) await guess(stranger, 'ada')
    expect((await browser.fetchJson(`${stage.url}/login`, { json: ada })).json.user).toMatchObject({ username: 'ada' })
  })

  test('[F4] spends the same budget as the other, for limits take all spellings as one', async () => {
    const stranger = stage.browser()
    await stranger.visit(`${stage.url}/`)
    const spellings = ['grace', 'GRACE', ' grace', '\uff27race', 'Grace']
    for (let tries = 0; tries < loginLimit.attempts; tries += 1)
      expect(await guess(stranger, spellings[tries % 5] ?? '')).not.toBe('account_frozen')
    for (const username of spellings) expect(await guess(stranger, username)).toBe('too_many_attempts')
  })
})

describe('[T9] texts of a token that are blanks only', () => {
  const clientSecret = 'client-secret-of-the-morning-paper-0123456789'
  const client = new Sso2Client({
    ssoUrl: 'https://sso.example',
    clientId: 'morning',
    clientSecret,
    organisationId: 'the-publisher',
  })
  const blanks = [' ', '   ', '\u00a0', '\u2003\u3000', '\ufeff', ' \u2028 ']
  const named = (text: string) => Array.from(text, (sign) => `U+${sign.charCodeAt(0).toString(16)}`).join(' ')
  const cases = ['sid', 'at'].flatMap((claim) => blanks.map((text) => [claim, named(text), text] as const))

  /** What reading a landing's token comes to. */
  function reasonFor(claims: object): string {
    const now = Math.floor(Date.now() / 1000)
    const times = { nbf: now, iat: now, exp: now + 10 }
    const all = {
      iss: 'sso-service',
      aud: 'morning',
      ...times,
      sid: 'a',
      sts: 'loggedin',
      at: 'b',
      err: null,
      ...claims,
    }
    try {
      client.readLanding(signJwt(all, clientSecret))
      return 'taken'
    } catch (error) {
      return error instanceof TokenError ? error.reason : String(error)
    }
  }

  test.each(cases)('%s of %s is refused', (claim, _shown, text) => {
    expect(reasonFor({ [claim]: text })).toBe('claims')
  })

  test('others are taken, blanks inside them too', () => {
    expect([reasonFor({}), reasonFor({ sid: 'a b', at: 'c d' })]).toEqual(['taken', 'taken'])
  })
})

test('[S19] the threat model says that DEBUG=express-session prints the signed cookie', () => {
  const text = readFileSync(join(__dirname, '../../docs/internals/threat-model.md'), 'utf8')
  expect(text).toContain('DEBUG=express-session')
})
