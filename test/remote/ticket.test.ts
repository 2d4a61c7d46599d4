import { inspect } from 'node:util'
import { formExchange, readGrant } from '../../lib/remote/token-endpoint'
import { type Behaviour, failure, json, useFaultyServer } from '../support/faulty-server'

const server = useFaultyServer()
const exchange = async (ticketExchange: object, ticket = 'T') => {
  const options = { tokenUrl: server.url, clientId: 'site', clientSecret: () => 'pass', ticketExchange }
  return readGrant(await formExchange(options as never)(ticket, { sid: 's' }), 1000)
}

test.each([
  [{}, 'grant_type=authorization_code&code=T&client_id=site&client_secret=pass', undefined],
  [{ grantType: 'g', ticketParameter: 'ticket', clientAuth: 'basic' }, 'grant_type=g&ticket=T', 'Basic c2l0ZTpwYXNz'],
])('the exchange %p sends this body and header', async (options, body, authorization) => {
  server.become((res) => json(res, 200, { access_token: 'a' }))
  await exchange(options)
  expect(server.seen.map((r) => [r.body, r.headers.authorization])).toEqual([[body, authorization]])
})

const unavailable = { name: 'Sso2UnavailableError', retryable: false }
const said = (what: string) => ({ message: `token: the token endpoint ${what}` })
const noToken = { name: 'Sso2ResponseError' }

test.each<[object, string]>([
  [{ error: 'invalid_grant' }, ': invalid_grant'],
  [{ error: 'T is no ticket' }, ''],
])('of a refusal with %p the operator reads the reason, where it is one that RFC 6749 names', async (said, reason) => {
  server.become((res) => json(res, 400, said))
  const message = `token: the token endpoint refused${reason} (HTTP 400)`
  expect(await failure(exchange({}))).toMatchObject({ message })
})

test.each<[what: string, behave: Behaviour, fields: object]>([
  ['HTTP 400', (res) => json(res, 400, {}), { ...noToken, ...said('refused (HTTP 400)'), httpStatus: 400 }],
  ['HTTP 503', (res) => json(res, 503, {}), { ...unavailable, ...said('answered HTTP 503'), timedOut: false }],
  ['a cut connection', (res) => res.destroy(), unavailable],
  ['a page', (res) => res.end('<html>'), noToken],
  ['a redirect', (res) => res.writeHead(307, { location: '/elsewhere' }).end(), noToken],
])('a ticket is never sent twice: %s', async (_what, behave, fields) => {
  server.become(behave)
  const error = await failure(exchange({}, 'ticket-of-the-test'))
  expect(error).toMatchObject({ ...fields, operation: 'token' })
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/ticket-of-the-test|pass\b/)
  expect(server.seen).toHaveLength(1)
})

test.each([
  ['a-token', undefined],
  [{ access_token: 'a-token', expires_in: 60 }, 1060],
  [{ access_token: 'a-token', expires_in: '60' }, 1060],
  [{ accessToken: 'a-token', expiresAt: 7 }, 7],
])('%p is an access token', (value, expiresAt) => {
  const grant = readGrant(value, 1000)
  expect([grant.token, grant.expiresAt]).toEqual(['a-token', expiresAt])
})

test.each(['soon', null, -1, 2 ** 53])(
  'a token whose end of life is %p is a token all the same, its end unknown',
  (value) => {
    for (const own of [
      { accessToken: 't', expiresAt: value },
      { access_token: 't', expires_in: value },
    ]) {
      const grant = readGrant(own, 1000)
      expect([grant.token, grant.expiresAt]).toEqual(['t', undefined])
    }
  },
)

test.each([[''], [null], [{ access_token: 1 }], ['a\r\nb']])('%p is none', (value) => {
  expect(() => readGrant(value, 1000)).toThrow('token: the answer has no access token')
})
