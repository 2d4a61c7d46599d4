/** What the doctor says about NODE_ENV, and what a reader gets that closes the pipe. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { built } from '../emulator/command'
import { required, variablesOf } from '../support/configuration'
import { redisUrl } from '../support/setup'
import { examine } from './doctor-scene'

/** A configuration of which no address answers. */
const nowhere = { ssoUrl: 'http://localhost:1/sso', apiUrl: 'http://localhost:1', tokenUrl: 'http://localhost:1/token' }
const environment = variablesOf({ ...required, ...nowhere, siteUrl: 'https://news.invalid' })

const help = '-> NODE_ENV=production   for doctor and site, if users open this address'
const effect = 'though siteUrl begins with https: the package accepts sessions in memory and the emulator'

test('NODE_ENV is worth a note where users open the site, and no more in production or on the machine of a developer', async () => {
  const of = async (changes: Record<string, string>) =>
    (await examine({ ...environment, ...changes })).of('configuration').split('\n')
  const [complete, note, what] = await of({ NODE_ENV: 'prod' })
  expect([complete, note, what]).toEqual([
    'ok: complete, for https://news.invalid',
    `note: NODE_ENV is "prod", ${effect}`,
    help,
  ])
  const local = { SSO2_SITE_URL: 'https://news.localhost', NODE_ENV: '' }
  expect(await of(local)).toEqual(['ok: complete, for https://news.localhost'])
  const addresses = {
    SSO2_URL: 'https://sso.invalid',
    SSO2_API_URL: 'https://api.invalid',
    SSO2_TOKEN_URL: 'https://id.invalid/token',
  }
  expect(await of({ ...addresses, NODE_ENV: 'production', REDIS_URL: redisUrl() })).toEqual([complete])
})

test('a program that closes the pipe ends the doctor, and nothing is printed about it', async () => {
  const { NODE_ENV: _, ...inherited } = process.env
  const child = spawn(process.execPath, [path.join(built, 'cli', 'main.js'), 'doctor'], {
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')))
  child.stdout.destroy() // before the first line: a busy reader would get all lines before it leaves
  const [code] = await once(child, 'close')
  expect(errors).toBe('')
  expect(code).toBe(141)
})
