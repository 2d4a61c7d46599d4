import fc from 'fast-check'
import { maskSecrets, onOneLine } from '../../lib/log/masking'

const token = 'Zk3v9-Qp_7sLw0aXyB4tRn2cVd8mEuJh'
const b64 = (text: string) => Buffer.from(text).toString('base64')

test.each<[name: string, printed: string]>([
  ['as it is', `got ${token}, and more`],
  ['in JSON', JSON.stringify({ at: token })],
  ['in an address', `https://api.example/x?at=${encodeURIComponent(token)}&y=1`],
  ['in hex', Buffer.from(token).toString('hex')],
  ['in HEX', Buffer.from(token).toString('hex').toUpperCase()],
  ['in base64', b64(token)],
  ['in base64 behind two letters', b64(`ab${token}`)],
  ['as a password in a header', `Basic ${b64(`client:${token}`)}`],
  ['cut off', `${token.slice(0, 12)}...`],
])('a secret is not printed %s', (_name, printed) => {
  const result = maskSecrets(printed, ['another', token])
  expect(result).toContain('***')
  for (const part of [token, token.toUpperCase(), b64(token), Buffer.from(token).toString('hex')])
    expect(result.toLowerCase()).not.toContain(part.slice(0, 9).toLowerCase())
})

test.each<[secret: string, printed: string, expected: string]>([
  ['correct horse', 'no luck with correct horse today', 'no luck with *** today'],
  ['a.b*c(d)', 'it was a.b*c(d) then', 'it was *** then'],
  ['ä"b\\c-long', `{"pwd":${JSON.stringify('ä"b\\c-long')}}`, '{"pwd":***}'],
  ['123456', 'the code 123456 is used', 'the code *** is used'],
  ['123456', 'at 1234567 ms', 'at 1234567 ms'],
  ['a', 'a word of an account', '*** word of an account'],
])('the secret %j in %j leaves %j', (secret, printed, expected) => {
  expect(maskSecrets(printed, [secret])).toBe(expected)
})

test.each<[printed: string, expected: string]>([
  ['got eyJhbGciOiJIUzI1NiJ9.eyJzaWQiOiJhIn0.c2ln as t', 'got *** as t'],
  ['authorization: Bearer abc.def-1', 'authorization: *** ***'],
  ['sent Bearer abc.def-1 along', 'sent Bearer *** along'],
  ['{"access_token":"abc","expires_in":3600}', '{"access_token":***,"expires_in":3600}'],
  ["{ refresh_token: 'a b', x: 1 }", '{ refresh_token: ***, x: 1 }'],
  ['client_secret=abc&code=1', 'client_secret=***&code=***'],
  ['POST https://a.example/token?code=abc&x=1', 'POST https://a.example/token?code=***&x=1'],
  ['redis://user:pass@host:6379/0', 'redis://***@host:6379/0'],
  ['password: hunter2, next', 'password: ***, next'],
  ['a client-secret-of-the-paper-01', 'a ***'],
])('what has the shape of a secret is masked, known or not: %j', (printed, expected) => {
  expect(maskSecrets(printed, [])).toBe(expected)
})

test.each([
  'TypeError: Cannot read properties of undefined (reading "account_id")',
  'connect ECONNREFUSED 127.0.0.1:8080',
  'clientSecret (SSO2_CLIENT_SECRET) and tokenUrl (SSO2_TOKEN_URL)',
  'GET https://api.example/v1/me?page=2 answered HTTP 404',
])('what helps stays: %j', (printed) => {
  expect(maskSecrets(printed, [token, '123456'])).toBe(printed)
})

test('no secret gets through, whatever it is made of and whatever stands around it', () => {
  const secrets = fc.string({ unit: 'binary', minLength: 12, maxLength: 60 })
  fc.assert(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, behind) => {
      const printed = `${before} ${secret} ${encodeURIComponent(Buffer.from(secret).toString())} ${behind}`
      expect(maskSecrets(printed, [secret]).toLowerCase()).not.toContain(secret.toLowerCase())
    }),
  )
})

test('a line stays one line', () => {
  expect(onOneLine('a\r\nb\u001b[31mc\u2028d\u0000e\u009bf')).toBe('a b [31mc d e f')
})

const DEMO = 'localhost-3000-demo-secret-not-for-production'

test.each<[secret: string, printed: string]>([
  [DEMO, 'ssoUrl http://localhost:4000/sso, siteUrl http://localhost:3000, client ID localhost-3000'],
  ['News24-Example-8443-demo-secret-not-for-production', 'https://news24.example:8443, news24-example-8443'],
  ['newspaper-Zk3v9-Qp_7sLw0aXyB4tRn2c', 'a newspaper, newspaper-7, newspaper-Zk3v9'],
])('the words and host names at the beginning of the secret %j stay', (secret, printed) => {
  expect(maskSecrets(printed, [secret])).toBe(printed)
  expect(maskSecrets(`${printed} ${secret} ${encodeURIComponent(secret)} end`, [secret])).toBe(`${printed} *** *** end`)
})

test.each<[secret: string, printed: string, expected: string]>([
  [DEMO, 'cut localhost-3000-demo-secret-not-for-pro...', 'cut ***'],
  ['newspaper-Zk3v9-Qp_7sLw0aXyB4tRn2c', 'cut newspaper-Zk3v9-Qp... off', 'cut *** off'],
])('a long part of the secret %j is masked in %j', (secret, printed, expected) => {
  expect(maskSecrets(printed, [secret])).toBe(expected)
})
