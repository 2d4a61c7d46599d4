import { readJwt } from '../../support/oracle'
import { type Claims, device, legacy, morning, type Platform, token } from '../platform'
import { type Check, requirementsOf } from './check'

const common = requirementsOf('Request JWT claims, common to all operations')
const additional = requirementsOf('Additional request claims per operation')
const header = requirementsOf('SSO JSON Web Token (JWT)')

/** Session Status with claims of its own must be refused as `invalid_token`, properly signed. */
async function refused(platform: Platform, claims: (now: number) => Claims, head: object = {}): Promise<void> {
  const { sid } = await platform.browser().identify()
  const now = Math.floor(Date.now() / 1000) // one moment for all: a second may end between two
  const times = { nbf: now, iat: now, exp: now + 10 }
  const all = { ...device, sid, lks: 'anon', ...times, ...claims(now) }
  await refusedToken(platform, 'sessionstatus', token(morning, all, head))
}

async function refusedToken(platform: Platform, operation: string, t: string): Promise<void> {
  const answer = await platform.callRaw(operation, t)
  expect(answer.status).toBe(200)
  expect(readJwt(answer.json.t).claims).toMatchObject({ err: 'invalid_token', at: null, aud: morning.clientId })
}

type Row = [what: string, claims: (now: number) => Claims]

const wrongClaims: Row[] = [
  ['iss that is not the organisation', () => ({ iss: 'somebody-else' })],
  ['no iss', () => ({ iss: undefined })],
  ['aud that is not the SSO system', () => ({ aud: 'other-service' })],
  ['aud that is a list', () => ({ aud: ['sso-service'] })],
  ['no aud', () => ({ aud: undefined })],
  ['no nbf', () => ({ nbf: undefined })],
  ['no iat', () => ({ iat: undefined })],
  ['no exp', () => ({ exp: undefined })],
  ['iat that is a fraction', (now) => ({ iat: now + 0.5 })],
  ['exp that is text', (now) => ({ exp: String(now + 10) })],
  ['nbf that is not the creation time', (now) => ({ nbf: now - 3 })],
  ['exp 11 seconds after iat', (now) => ({ exp: now + 11 })],
  ['exp before iat', (now) => ({ exp: now - 1 })],
  ['exp that is just over', (now) => ({ nbf: now - 11, iat: now - 11, exp: now - 1 })],
  ['times in the future', (now) => ({ nbf: now + 60, iat: now + 60, exp: now + 70 })],
]

const refusals = wrongClaims.map(([what, claims]) =>
  common(`a request with ${what} is refused`, (platform) => refused(platform, claims)),
)

const headers = (
  [
    ['alg none', { alg: 'none' }],
    ['alg RS256', { alg: 'RS256' }],
    ['no alg', { alg: undefined }],
    ['no typ', { typ: undefined }],
    ['crit', { crit: ['exp'] }],
  ] as const
).map(([what, head]) =>
  header(`a token with ${what} in its header is refused`, (platform) => refused(platform, () => ({}), head)),
)

const signatures: Check[] = [
  ...[
    ['another secret', 'another secret'],
    ["another client's secret", legacy.secret],
  ].map(([what, secret = '']) =>
    header(`a token signed with ${what} is refused`, (platform) =>
      refusedToken(platform, 'sessionstatus', token({ ...morning, secret }, { ...device, sid: 'x', lks: 'anon' })),
    ),
  ),
  header('a token without its signature is refused', async (platform) => {
    const t = token(morning, { ...device, sid: 'x', lks: 'anon' })
    const answer = await platform.callRaw('sessionstatus', t.slice(0, t.lastIndexOf('.') + 1))
    expect(answer.status).toBe(400)
  }),
  header.loggedIn('a token with an altered claim is refused', async (platform, { sid }) => {
    const [head, , signature] = token(morning, { ...device, sid: 'x' }).split('.')
    const [, body] = token(morning, { ...device, sid }).split('.')
    await refusedToken(platform, 'logout', `${head}.${body}.${signature}`)
    expect(await platform.status(sid, 'loggedin')).toMatchObject({ sts: 'loggedin' })
  }),
]

const clients: Check[] = [
  common.anonymous('exp 10 seconds after iat, or less, is taken', async (platform, sid) => {
    const now = Math.floor(Date.now() / 1000)
    for (const times of [{}, { exp: now + 5 }])
      expect(await platform.call('sessionstatus', { sid, lks: 'anon', ...times })).toMatchObject({ err: null })
  }),
  common('an unknown cid cannot be answered with a token', async (platform) => {
    const t = token({ ...morning, clientId: 'nobody' }, { ...device, sid: 'x', lks: 'anon' })
    const answer = await platform.callRaw('sessionstatus', t)
    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_client'])
  }),
  requirementsOf('Preconditions for SSO2')('a client that is not flagged for SSO2 is refused', async (platform) => {
    const answer = await platform.callRaw('sessionstatus', token(legacy, { ...device, sid: 'x', lks: 'anon' }))
    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_client'])
    expect((await platform.browser().send(legacy)).status).toBe(400)
  }),
  common.loggedIn('a refused request changes nothing', async (platform, { sid }) => {
    await platform.call('logout', { sid, aud: 'other-service' })
    expect(await platform.status(sid, 'loggedin')).toMatchObject({ sts: 'loggedin', err: null })
  }),
]

const required: [operation: string, claims: Claims][] = [
  ['authenticate', { sid: 'x', usr: 'ada', pwd: 'correct-horse', ...device }],
  ['sessionstatus', { sid: 'x', lks: 'anon', ...device }],
  ['logout', { sid: 'x', ...device }],
  ['logoutall', { aid: 'A-ada', ...device }],
]

const missing = required.flatMap(([operation, claims]) =>
  Object.keys(claims).map((name) =>
    additional(`${operation} without ${name} is refused`, (platform) =>
      refusedToken(platform, operation, token(morning, { ...claims, [name]: undefined })),
    ),
  ),
)

const types: Check[] = [
  additional('an lks that is no state is refused', (platform) => refused(platform, () => ({ lks: 'unknown' }))),
  additional('an empty password is refused', (platform) =>
    refusedToken(platform, 'authenticate', token(morning, { ...device, sid: 'x', usr: 'ada', pwd: '' })),
  ),
  additional.anonymous('an empty ipa and uas are taken: a browser need not say what it is', async (platform, sid) => {
    expect(await platform.call('sessionstatus', { sid, lks: 'anon', ipa: '', uas: '' })).toMatchObject({ err: null })
  }),
]

export const requestTokenRequirements: Check[] = [
  ...refusals,
  ...headers,
  ...signatures,
  ...clients,
  ...missing,
  ...types,
]
