import { TokenError } from '../../lib/errors'
import { Sso2Client, type Sso2ClientOptions } from '../../lib/remote/sso2'
import { failure, json, useFaultyServer } from '../support/faulty-server'
import { readJwt } from '../support/oracle'
import { device, secret, tokenWith } from './sso-scene'

const NOW = 1_800_000_000
const options: Sso2ClientOptions = {
  ssoUrl: 'https://sso.example/base',
  clientId: 'the-site',
  clientSecret: secret,
  organisationId: 'the-publisher',
  clock: { now: () => NOW * 1000 },
}
const server = useFaultyServer()

/** A good answer about a session, made so many seconds ago by the SSO system's clock. */
const tokenOfAge = (seconds: number) => tokenWith({ sid: 's1' }, secret, NOW - seconds)

/** The error of a landing with a token of so many seconds. */
async function refusalIn(client: Sso2Client, age: number) {
  const error = await failure((async () => client.readLanding(tokenOfAge(age)))())
  expect(error).toBeInstanceOf(TokenError)
  return error as TokenError
}

const DAY = 86_400
test.each([
  ['a day old', DAY, 'expired'],
  ['a minute ahead', -60, 'not_yet_valid'],
])('a landing token %s is refused, tells by how much, and says nothing of the clocks', async (_name, age, reason) => {
  const client = new Sso2Client(options)
  expect(await refusalIn(client, age)).toMatchObject({ reason, offsetSeconds: age })
  expect(client.clockOffsetSeconds).toBeUndefined()
  client.close()
})

test('only answers of the back channel say how far the clocks are apart', async () => {
  const client = new Sso2Client({ ...options, ssoUrl: server.url })
  client.readLanding(tokenOfAge(3))
  expect(client.clockOffsetSeconds).toBeUndefined()
  for (const age of [2, DAY]) {
    server.become((res) => json(res, 200, { t: tokenOfAge(age) }))
    await client.sessionStatus({ sid: 's1', lks: 'anon', ...device }).catch(() => undefined)
    expect(client.clockOffsetSeconds).toBe(age)
    client.readLanding(tokenOfAge(4))
    expect(client.clockOffsetSeconds).toBe(age)
  }
  client.close()
})

test.each<[option: string, value: Partial<Sso2ClientOptions>]>([
  ['ssoUrl', { ssoUrl: 'http://sso.example/base' }],
  ['ssoUrl', { ssoUrl: 'https://user:VALUE@sso.example' }],
  ['organisationId', { organisationId: 'sso-service' }],
  ['organisationId', { organisationId: 'the-site' }],
  ['clientId', { clientId: 'sso-service' }],
])('a client with a wrong %s is refused: %j', (option, wrong) => {
  expect(() => new Sso2Client({ ...options, ...wrong })).toThrow(TypeError)
  expect(() => new Sso2Client({ ...options, ...wrong })).toThrow(new RegExp(`^Sso2Client: ${option}: (?!.*VALUE)`))
})

const own = ['http://sso.localhost', 'http://127.0.0.1:9/sso']
test.each(own)('a client takes the address %s of this machine', (ssoUrl) => {
  const client = new Sso2Client({ ...options, ssoUrl })
  const { claims } = readJwt(new URL(client.identifyUrl('https://news.example/')).searchParams.get('t') ?? '')
  expect(claims).toMatchObject({ iss: 'the-publisher', aud: 'sso-service', cid: 'the-site' })
  client.close()
})
