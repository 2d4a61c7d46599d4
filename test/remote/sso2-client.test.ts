import { TokenError } from '../../lib/errors'
import { Log } from '../../lib/log/log'
import { Sso2Client, type Sso2ClientOptions } from '../../lib/remote/sso2-client'
import { type Behaviour, failure, json, outcomeOf } from '../support/faulty-server'
import { loggerTo } from '../support/log-lines'
import { isSignedWith, readJwt } from '../support/oracle'
import { fakeClock } from './fake-clock'
import { claimsOf, device, isWell, says, secret, tokenWith, useScenes } from './sso-scene'

/* What each operation sends, takes and throws, and what the client finds out by itself. */

const setup = useScenes({ timeoutMs: 5000 })

const sid = 's1'
const aid = 'the-account'
/** `claims` are those of the request, beside what all have. */
const rows = [
  {
    operation: 'authenticate',
    call: (client: Sso2Client) => client.authenticate({ sid, usr: 'ada', pwd: 'x', ...device }),
    claims: { sid, usr: 'ada', pwd: 'x', ...device },
    good: { sts: 'loggedin', at: 'a-ticket' },
    deadlineMs: 8000,
  },
  {
    operation: 'sessionstatus',
    call: (client: Sso2Client) => client.sessionStatus({ sid, lks: 'anon', ...device }),
    claims: { sid, lks: 'anon', ...device },
    good: { sts: 'loggedin', at: 'a-ticket' },
    deadlineMs: 500,
  },
  {
    operation: 'logout',
    call: (client: Sso2Client) => client.logout({ sid, ...device }),
    claims: { sid, ...device },
    good: { sts: 'terminated' },
    deadlineMs: 3000,
  },
  {
    operation: 'logoutall',
    call: (client: Sso2Client) => client.logoutAll({ aid, ...device }),
    claims: { aid, ...device },
    good: { sts: 'terminated', aid },
    deadlineMs: 3000,
  },
]

test.each(rows)('$operation posts its claims as JSON and is answered', async ({ operation, call, claims, good }) => {
  const { server, client } = await setup(says(good))
  const { aid: _account, ...answer } = { ...good, aid }
  expect(await call(client)).toMatchObject(answer)
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  expect(server.seen).toMatchObject([{ method: 'POST', url: `/${operation}`, headers }])
  expect(Object.keys(JSON.parse(server.seen[0]?.body ?? ''))).toEqual(['t'])
  const common = { cid: 'the-site', iss: 'the-publisher', aud: 'sso-service' }
  const times = { iat: expect.any(Number), nbf: expect.any(Number), exp: expect.any(Number) }
  expect(claimsOf(server.seen[0]?.body ?? '')).toEqual({ ...common, ...claims, ...times })
})

test.each(rows)('$operation is given up after $deadlineMs ms', async ({ operation, call, deadlineMs }) => {
  const { client } = await setup(() => {}, { timeoutMs: 500 })
  const { pass, settle, expectSilence } = fakeClock()
  expectSilence()
  const outcome = outcomeOf(call(client))
  await settle()
  await pass(deadlineMs - 1)
  expect(outcome()).toBeUndefined()
  await pass(1)
  expect(outcome()).toMatchObject({ operation, message: `${operation}: no answer within ${deadlineMs} ms` })
})

test('the log is told of each call that fails, of a refusal of our tokens, and of the recovery', async () => {
  fakeClock() // or a probe in the background fails meanwhile on a busy machine, and is told too
  const told: string[] = []
  const { server, client, ask, logIn } = await setup(isWell, {}, new Log(loggerTo(told)))
  await ask()
  expect(told).toEqual([])
  server.become(says({ err: 'invalid_token', sts: null }))
  await ask()
  server.become((res) => res.end())
  await logIn()
  server.become(isWell)
  await ask()
  expect(told).toEqual([
    expect.stringContaining('sessionstatus: invalid_token'),
    expect.stringContaining('authenticate: the body is not a JSON object'),
    'express-sso2: The SSO system responds again.',
  ])
  client.close()
})

const NOW = 1_800_000_000
const DAY = 86_400
const options: Sso2ClientOptions = {
  ssoUrl: 'https://sso.example/base',
  clientId: 'the-site',
  clientSecret: secret,
  organisationId: 'the-publisher',
  clock: { now: () => NOW * 1000 },
}

/** A good answer about a session, made so many seconds ago by the SSO system's clock. */
const tokenOfAge = (seconds: number) => tokenWith({ sid: 's1' }, secret, NOW - seconds)

test.each([
  ['a day old', DAY, 'expired'],
  ['a minute ahead', -60, 'not_yet_valid'],
])('a landing token %s is refused, tells by how much, and says nothing of the clocks', async (_name, age, reason) => {
  const client = new Sso2Client(options)
  const error = await failure((async () => client.readLanding(tokenOfAge(age)))())
  expect(error).toBeInstanceOf(TokenError)
  expect(error).toMatchObject({ reason, offsetSeconds: age })
  expect(client.clockOffsetSeconds).toBeUndefined()
  client.close()
})

test('only answers of the back channel say how far the clocks are apart', async () => {
  const { server, client, ask } = await setup(isWell, { clock: { now: () => NOW * 1000 } })
  client.readLanding(tokenOfAge(3))
  expect(client.clockOffsetSeconds).toBeUndefined()
  for (const age of [2, DAY]) {
    server.become((res) => json(res, 200, { t: tokenOfAge(age) }))
    await ask()
    expect(client.clockOffsetSeconds).toBe(age)
    client.readLanding(tokenOfAge(4))
    expect(client.clockOffsetSeconds).toBe(age)
  }
})

test.each<[option: string, value: Partial<Sso2ClientOptions>]>([
  ['ssoUrl', { ssoUrl: 'http://sso.example/base' }],
  ['ssoUrl', { ssoUrl: 'https://user:VALUE@sso.example' }],
  ['organisationId', { organisationId: 'the-site' }],
  ['clientId', { clientId: 'sso-service' }],
])('a client with a wrong %s is refused: %j', (option, wrong) => {
  expect(() => new Sso2Client({ ...options, ...wrong })).toThrow(TypeError)
  expect(() => new Sso2Client({ ...options, ...wrong })).toThrow(new RegExp(`^Sso2Client: ${option}: (?!.*VALUE)`))
})

test('a client takes an address of this machine without TLS', () => {
  const client = new Sso2Client({ ...options, ssoUrl: 'http://127.0.0.1:9/sso' })
  const { claims } = readJwt(new URL(client.identifyUrl('https://news.example/')).searchParams.get('t') ?? '')
  expect(claims).toMatchObject({ iss: 'the-publisher', aud: 'sso-service', cid: 'the-site' })
  client.close()
})

/* Which of the client's secrets signs: the first, until the SSO system shows that it takes another one. */

describe('two secrets', () => {
  const [old, next] = ['the old secret', 'the next secret']
  /** With the usual time for a call. */
  const scenes = useScenes({ clientSecret: [old, next], timeoutMs: undefined })
  const tokenIn = (body: string): string => JSON.parse(body).t

  /** Takes tokens of one secret, and signs every answer with it. */
  const takes =
    (secret: string, signsWith = secret): Behaviour =>
    (res, seen, count) => {
      const claims = isSignedWith(tokenIn(seen.body), secret) ? {} : { sts: null, err: 'invalid_token' }
      says(claims, signsWith)(res, seen, count)
    }

  type Scene = Awaited<ReturnType<typeof scenes>>
  let server: Scene['server']
  let client: Scene['client']
  beforeEach(async () => {
    ;({ server, client } = await scenes(takes(old)))
  })

  const ask = () => client.sessionStatus({ sid: 's1', lks: 'anon', ...device })
  /** Which secret signed what was asked. */
  const asked = () => server.seen.map(({ body }) => [old, next].findIndex((key) => isSignedWith(tokenIn(body), key)))

  test('a refusal that is signed with another one is asked again with that, which signs from then on', async () => {
    server.become(takes(next))
    expect((await ask()).err).toBeUndefined()
    expect((await ask()).err).toBeUndefined()
    expect([asked(), client.secretInUse]).toEqual([[0, 1, 1], 1])
    server.become(takes(old))
    expect((await ask()).err).toBeUndefined()
    expect([asked(), client.secretInUse]).toEqual([[1, 0], 0])
  })

  test.each([
    ['that is signed with the one that was used stands', old, [0], 0],
    ['of all of them is asked twice, and no more', next, [0, 1], 1],
  ])('a refusal %s', async (_what, signsWith, secrets, inUse) => {
    server.become(takes('neither', signsWith))
    expect((await ask()).err).toBe('invalid_token')
    expect([asked(), client.secretInUse]).toEqual([secrets, inUse])
  })

  test('what a browser brings changes nothing', () => {
    const token = tokenWith({ sid: 's', sts: null, at: null, err: 'invalid_token' }, next)
    expect(client.readLanding(token).err).toBe('invalid_token')
    expect(client.secretInUse).toBe(0)
  })
})
