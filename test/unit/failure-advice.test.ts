import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../../lib/errors'
import { Log } from '../../lib/log/log'
import { isRefusedWrite, redisFailureReason } from '../../lib/storage/redis-failure'
import { loggerTo } from '../support/log-lines'

type Step = Parameters<Log['failed']>[0]
function lineOf(step: Step, error: unknown): string | undefined {
  const lines: string[] = []
  new Log(loggerTo(lines)).failed(step, error)
  return lines[0]
}
const answered = (status: number | undefined, why = 'the answer is odd') => new Sso2ResponseError('x', status, why)
const rest = (status: number) => new PlatformApiError('get', status, { secret: 'of the body' }, undefined)
const unreached = (reason: string) => new Sso2UnavailableError('x', true, `no answer (${reason})`, false, reason)

const looks: [step: Step, error: unknown, said: RegExp, check: RegExp][] = [
  ['exchangeTicket', answered(400), /HTTP 400/, /SSO2_CLIENT_ID.*SSO2_CLIENT_SECRET.*ticketExchange/],
  ['loadUser', rest(401), /HTTP 401/, /userPath \(SSO2_USER_PATH\).*scopes/],
  ['sessionstatus', unreached('CERT_HAS_EXPIRED'), /CERT_HAS_EXPIRED/, /SSO2_URL\).*express-sso2 doctor/],
  ['identify', answered(400), /HTTP 400/, /enabled for SSO2/],
]

test.each(looks)('%s that fails with %p says what happened, and what to look at', (step, error, said, check) => {
  const line = lineOf(step, error)
  expect(line).toMatch(said)
  expect(line).toMatch(check)
  expect(line).not.toMatch(/of the body|\n/) // a stack would be ours
})

test('refusals with one status, whose texts differ, are one cause', () => {
  const lines: string[] = []
  const log = new Log(loggerTo(lines))
  for (const code of ['request-1', 'request-2'])
    log.failed('loadUser', new PlatformApiError('get', 500, { error: { code } }, undefined))
  expect(lines).toEqual([expect.stringContaining('(request-1)')])
})

const REFUSED_WRITES = ['OOM', 'MISCONF', 'NOREPLICAS', 'READONLY']
const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' })
const withCode = (code: string, more: object = {}) => Object.assign(new Error('x'), { code, ...more })
const notRedis = Object.assign(new Error('Protocol error, got "H" as reply type byte'), { name: 'ParserError' })

test.each<[error: unknown, reason: string]>([
  [withCode('ECONNREFUSED', { address: '127.0.0.1', port: 1 }), 'ECONNREFUSED'],
  [Object.assign(new Error('x'), { lastNodeError: { code: 'ETIMEDOUT' } }), 'ETIMEDOUT'],
  [undefined, 'no_answer'],
  [{ code: 'ECONNRESET: SECRET' }, 'no_answer'],
  [notRedis, 'PROTOCOL'],
  [reply("NOPERM User x may not access the 'SECRET' key"), 'NOPERM'],
  [reply("ERR unknown command 'evalsha', 'SECRET'"), 'ERR'],
  [reply('oops'), 'ERR'],
  ...REFUSED_WRITES.map((code): [Error, string] => [reply(`${code} and more`), code]),
])('a Redis that fails with %p: the line says %s', (error, reason) => {
  expect([redisFailureReason(error), isRefusedWrite(reason)]).toEqual([reason, REFUSED_WRITES.includes(reason)])
})
