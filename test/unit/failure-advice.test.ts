import {
  PlatformApiError,
  Sso2ResponseError,
  Sso2UnavailableError,
  TokenError,
  type TokenFault,
} from '../../lib/errors'
import { failureAdvice, type Step, tokenAdvice } from '../../lib/log/failure-advice'
import { logText } from '../../lib/log/log-lines'
import { hasCause, redisFailureAdvice } from '../../lib/log/redis-failure-advice'

const of = (step: Step, error: unknown, isHookOfSite = false) => failureAdvice({ step, error, isHookOfSite })
const answered = (status: number | undefined, why = 'the answer is odd') => new Sso2ResponseError('x', status, why)
const rest = (status: number) => new PlatformApiError('get', status, { secret: 'of the body' }, undefined)
const late = new Sso2UnavailableError('x', false, 'no answer within 2000 ms', true)
const unreached = (detail: string) => new Sso2UnavailableError('x', true, `no answer (${detail})`, false, detail)

const looks: [step: Step, error: unknown, cause: string, look: RegExp][] = [
  ['exchangeTicket', unreached('ECONNREFUSED'), ':ECONNREFUSED', /tokenUrl \(SSO2_TOKEN_URL\).*reaches it/],
  ['exchangeTicket', answered(502), ':502', /SSO2_TOKEN_URL\).*reaches it/],
  ['exchangeTicket', answered(400), ':400', /SSO2_TOKEN_URL.*SSO2_CLIENT_ID.*SSO2_CLIENT_SECRET.*ticketExchange/],
  ['exchangeTicket', answered(undefined), '', /is the token endpoint/],
  ['loadUser', late, ':timeout', /SSO2_API_URL\).*reaches it/],
  ['loadUser', rest(500), ':500', /SSO2_API_URL\).*reaches it/],
  ['loadUser', rest(401), ':401', /userPath \(SSO2_USER_PATH\) below apiUrl.*scopes/],
  ['loadUser', answered(undefined, 'accountId: a text is required'), '', /SSO2_USER_PATH/],
  ['sessionstatus', unreached('CERT_HAS_EXPIRED'), ':CERT_HAS_EXPIRED', /SSO2_URL\).*express-sso2 doctor/],
  ['sessionstatus', answered(400), ':400', /SSO2_CLIENT_ID.*enabled for SSO2/],
  ['sessionstatus', answered(undefined, 'invalid_token'), '', /SSO2_CLIENT_SECRET.*clock.*admin portal/],
  ['logoutall', new TokenError('session_mismatch'), ':session_mismatch', /another session/],
  ['identify', answered(400), ':400', /enabled for SSO2/],
]

test.each(looks)('%s that fails with %p is %s, and says what to look at', (step, error, cause, look) => {
  const trouble = of(step, error)
  expect(trouble.cause).toBe(step + cause)
  expect(trouble.line.check).toMatch(look)
  expect(logText(trouble.line)).toMatch(
    /^Step \w+ failed: [^?]*\. [A-Z][^?]*\. Check [^?]*\. See "[A-Z].*" in docs\/troubleshooting\.md\.$/,
  )
  expect(trouble.frames).toEqual([]) // they would be ours
  expect(JSON.stringify(trouble)).not.toContain('of the body')
})

test.each<[TokenFault, RegExp]>([
  ['malformed', /SSO2_URL/],
  ['algorithm', /SSO2_URL/],
  ['signature', /clientSecret/],
  ['issuer', /SSO2_IDENTIFIER/],
  ['audience', /SSO2_CLIENT_ID/],
  ['expired', /clock/],
  ['not_yet_valid', /clock/],
  ['claims', /not documented/],
  ['session_mismatch', /another session/],
  ['replayed', /used before/],
])('a token that is refused for %s leads to its cause', (reason, look) => {
  expect(tokenAdvice(reason)).toMatch(look)
  expect(of('sessionstatus', new TokenError(reason)).line.check).toMatch(look)
})

const reply = (message: string, command?: string) =>
  Object.assign(new Error(message), { name: 'ReplyError', ...(command && { command: { name: command } }) })
const withCode = (code: string, more: object = {}) => Object.assign(new Error('x'), { code, ...more })
const notRedis = Object.assign(new Error('Protocol error, got "H" as reply type byte'), { name: 'ParserError' })

test.each<[error: unknown, reason: string, look: RegExp]>([
  [withCode('ECONNREFUSED', { address: '127.0.0.1', port: 1 }), 'ECONNREFUSED', /redis \(REDIS_URL\)/],
  [Object.assign(new Error('x'), { lastNodeError: { code: 'ETIMEDOUT' } }), 'ETIMEDOUT', /REDIS_URL/],
  [new Error('no answer in time'), 'no answer in time', /REDIS_URL/],
  [undefined, 'no connection', /REDIS_URL/],
  [{ code: 'ECONNRESET: SECRET' }, 'no connection', /REDIS_URL/],
  [notRedis, 'PROTOCOL', /rediss:\/\//],
  [withCode('CERT_HAS_EXPIRED'), 'CERT_HAS_EXPIRED', /certificate/],
  [reply('NOAUTH Authentication required.', 'mget'), 'reads refused: NOAUTH', /password/],
  [reply("NOPERM User x may not access the 'SECRET' key", 'mget'), 'reads refused: NOPERM', /lists commands and keys/],
  [reply("ERR The user executing the script can't run this command"), 'commands refused: NOPERM', /permissions/],
  [reply('READONLY You can not write against a replica.'), 'commands refused: READONLY', /replica/],
  [reply('OOM command not allowed', 'set'), 'writes refused: OOM', /maxmemory/],
  [reply("ERR unknown command 'evalsha', 'SECRET'", 'evalsha'), 'writes refused: ERR', /know the commands/],
  [reply('ERR DB index is out of range', 'select'), 'SELECT refused: ERR', /database number/],
  [reply('oops'), 'commands refused', /REDIS_URL/],
])('a Redis that fails with %p: the line says %s, and what to check', (error, reason, check) => {
  const line = logText(redisFailureAdvice({ error }))
  expect(line).toContain(`(${reason})`)
  expect(line).toMatch(check)
  expect(line).not.toContain('SECRET')
  expect(hasCause({ error })).toBe(reason !== 'no connection' && reason !== 'commands refused')
})
