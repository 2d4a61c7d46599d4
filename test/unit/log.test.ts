import { Writable } from 'node:stream'
import pino from 'pino'
import winston from 'winston'
import { Log, type Logger } from '../../lib/log/log'
import { maskSecrets } from '../../lib/log/masking'
import { eventually } from '../support/wait'

const FIRST = 'A view failed: '
const REST =
  '. Users see the built-in page. Check the stack below. See node_modules/express-sso2/docs/troubleshooting.md#a-view-failed'

const secret = 'Zk3v9-Qp_7sLw0aXyB4tRn2cVd8mEuJh'

/** A logger that keeps its lines, and the time that goes by. */
function setup(secrets: readonly string[] = []) {
  const lines: string[] = []
  const logger: Logger = {
    warn: (message) => void lines.push(`warn ${message.replace(FIRST, '').replace(REST, '')}`),
    info: (message) => void lines.push(`info ${message.replace(FIRST, '').replace(REST, '')}`),
  }
  return { lines, log: new Log(logger, secrets) }
}
let now = 0
beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => jest.restoreAllMocks())

test('each cause is told once a minute, and how often it happened meanwhile', () => {
  const { lines, log } = setup()
  for (const [at, cause] of [
    [0, 'a'],
    [1, 'a'],
    [2, 'b'],
    [59_999, 'a'],
    [60_000, 'a'],
    [60_001, 'b'],
    [60_002, 'b'],
    [120_000, 'a'],
  ] as const) {
    now = at
    log.warn(cause, 'A view failed', { detail: `${cause} at ${at}` })
  }
  expect(lines).toEqual([
    'warn express-sso2: a at 0',
    'warn express-sso2: b at 2',
    'warn express-sso2: a at 60000 (2 more like it since the last line)',
    'warn express-sso2: b at 60002 (1 more like it since the last line)',
    'warn express-sso2: a at 120000',
  ])
})

test('a failure is told with its step, what happened, what to look at, and its stack', () => {
  const { lines, log } = setup()
  log.failed('loadUser', new TypeError('no luck'))
  const [first, ...frames] = (lines[0] ?? '').split('\n')
  expect(first).toMatch(
    /^warn express-sso2: The user could not be loaded: loadUser: TypeError: no luck\. Login forms get 503\. Users who come from another site are not logged in yet \(degraded: user_unknown\)\..* With your own loadUser: what it returns, or the stack below\. See node_modules\/express-sso2\/docs/,
  )
  expect(frames[0]).toMatch(/^ {4}at .*log\.test\.ts:\d+:\d+/)
})

test('[O6] no line holds a secret of the site, or one that went along with what failed', () => {
  const own = 'the-client-key-of-the-morning-paper-0123456789'
  const { lines, log } = setup([own])
  const text = `${own} ${secret} ${encodeURIComponent(own)} ${Buffer.from(secret).toString('base64')}`
  const error = new Error(text, { cause: new Error(text) })
  log.failed('loadUser', error, { secrets: [undefined, secret] })
  log.warn('a', 'A view failed', { detail: own, frames: [own] })
  log.warn('b', 'A view failed', { detail: `${'x'.repeat(990)} ${own}` }) // masked before it is cut off
  log.failed('onLogin', ['ada', "ada's password"]) // a hook may throw anything
  expect(lines).toHaveLength(4)
  expect(lines.join('\n')).not.toMatch(/the-client-key|Zk3v9|Wmszdjk|ada/)
})

test('[O8] a name, or an error of a hook, cannot add a line to the log', () => {
  const { lines, log } = setup()
  log.warn('a', 'A view failed', { detail: 'a\r\nexpress-sso2: all is well' })
  const error = new Error('b\nexpress-sso2: all is well\u001b[31m')
  log.failed('views.problem', error)
  for (const line of lines.flatMap((entry) => entry.split('\n').slice(1))) expect(line).toMatch(/^ {4}at /)
  expect(lines.join('')).not.toContain('\u001b')
})

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('no disk')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no disk'))],
])('a logger that %s breaks nothing else', async (_what, fail) => {
  const log = new Log({ warn: fail as () => void, info: fail as () => void })
  expect(() => {
    log.warn('a', 'A view failed')
    log.recovered('a', 'x')
  }).not.toThrow()
  await new Promise((resolve) => setImmediate(resolve)) // an unhandled rejection would end this test's process
})

/** Where a logger writes to, and what it has written. */
function sink() {
  const written: { level: unknown; text: unknown }[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const { level, msg, message } = JSON.parse(chunk.toString())
      written.push({ level, text: msg ?? message })
      done()
    },
  })
  return { written, stream }
}

test.each<[name: string, warn: unknown, info: unknown, make: (stream: Writable) => Logger]>([
  ['pino', 40, 30, (stream) => pino({}, stream)],
  [
    'winston',
    'warn',
    'info',
    (stream) => winston.createLogger({ transports: [new winston.transports.Stream({ stream })] }),
  ],
])('%s takes the lines, with its levels', async (_name, warn, info, make) => {
  const { written, stream } = sink()
  const log = new Log(make(stream))
  log.warn('a', 'A view failed', { detail: 'something is wrong' })
  log.recovered('a', 'it is over')
  await eventually(async () => written.length >= 2)
  expect(written).toEqual([
    { level: warn, text: `express-sso2: ${FIRST}something is wrong${REST}` },
    { level: info, text: 'express-sso2: it is over' },
  ])
})

/* The masking of secrets. */

const token = secret
const b64 = (text: string) => Buffer.from(text).toString('base64')

test.each<[name: string, printed: string]>([
  ['as it is', `got ${token}, and more`],
  ['in hex', Buffer.from(token).toString('hex')],
  ['in base64 behind two letters', b64(`ab${token}`)],
  ['cut off', `${token.slice(0, 20)}...`],
])('a secret is not printed %s', (_name, printed) => {
  const result = maskSecrets(printed, ['another', token])
  expect(result).toContain('***')
  for (const part of [token, token.toUpperCase(), b64(token), Buffer.from(token).toString('hex')])
    expect(result.toLowerCase()).not.toContain(part.slice(0, 9).toLowerCase())
})

test.each<[secret: string, printed: string, expected: string]>([
  ['a.b*c(d)', 'it was a.b*c(d) then', 'it was *** then'],
  ['ä"b\\c-long', `{"pwd":${JSON.stringify('ä"b\\c-long')}}`, '{"pwd":***}'],
  ['a+b/c=d-long', '?at=a%2Bb%2Fc%3Dd-long&y=1', '?at=***&y=1'],
  ['123456', 'at 1234567 ms', 'at 1234567 ms'],
  ['a', 'a word of an account', '*** word of an account'],
])('the secret %j in %j leaves %j', (secret, printed, expected) => {
  expect(maskSecrets(printed, [secret])).toBe(expected)
})

test.each<[printed: string, expected: string]>([
  ['got eyJhbGciOiJIUzI1NiJ9.eyJzaWQiOiJhIn0.c2ln as t', 'got *** as t'],
  ['authorization: Bearer abc.def-1', 'authorization: *** ***'],
  ['{"access_token":"abc","expires_in":3600}', '{"access_token":***,"expires_in":3600}'],
  ['client_secret=abc&code=1', 'client_secret=***&code=***'],
  ['redis://user:pass@host:6379/0', 'redis://***@host:6379/0'],
  ['password: hunter2, next', 'password: ***, next'],
  ['a client-secret-of-the-paper-01', 'a ***'],
])('what has the shape of a secret is masked, known or not: %j', (printed, expected) => {
  expect(maskSecrets(printed, [])).toBe(expected)
})

test.each([
  'TypeError: Cannot read properties of undefined (reading "account_id")',
  'clientSecret (SSO2_CLIENT_SECRET) and tokenUrl (SSO2_TOKEN_URL)',
  'GET https://api.example/v1/me?page=2 answered HTTP 404',
])('what helps stays: %j', (printed) => {
  expect(maskSecrets(printed, [token, '123456'])).toBe(printed)
})

test('the words and host names at the beginning of a secret stay', () => {
  const demo = 'localhost-3000-demo-secret-not-for-production'
  const printed = 'ssoUrl http://localhost:4000/sso, siteUrl http://localhost:3000, client ID localhost-3000'
  expect(maskSecrets(printed, [demo])).toBe(printed)
  expect(maskSecrets(`${printed} ${demo} ${encodeURIComponent(demo)} end`, [demo])).toBe(`${printed} *** *** end`)
})
