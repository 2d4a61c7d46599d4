import { DEFAULT_SSO_IDENTIFIER, type Operation } from '../../lib/protocol/claims'
import { identifyUrl, type OperationClaims, operationUrl, requestClaims } from '../../lib/protocol/requests'
import { signToken } from '../../lib/protocol/token'
import { isSignedWith, readJwt } from '../support/oracle'
import { keys, NOW, SECRET } from './expectations'

const caller = { clientId: 'the-site', organisationId: 'the-publisher', ssoIdentifier: DEFAULT_SSO_IDENTIFIER }
const common = { cid: 'the-site', nbf: NOW, exp: NOW + 10, iat: NOW, iss: 'the-publisher', aud: 'sso-service' }
const device = { ipa: '192.0.2.7', uas: 'Mozilla/5.0' }

const requests: { [O in Operation]: OperationClaims[O] } = {
  identify: {},
  authenticate: { ...device, sid: 's1', usr: 'ada@example.org', pwd: 'p\u00e4ss "word"' },
  sessionstatus: { ...device, sid: 's1', lks: 'anon' },
  logout: { ...device, sid: 's1' },
  logoutall: { ...device, aid: 'a1' },
}

test.each(Object.entries(requests))('a request of %s holds the common claims and its own alone', (_operation, own) => {
  const token = signToken(requestClaims(caller, own, NOW), keys)
  expect(isSignedWith(token, SECRET)).toBe(true)
  const { header, claims } = readJwt(token)
  expect({ header, claims }).toEqual({ header: { alg: 'HS256', typ: 'JWT' }, claims: { ...own, ...common } })
})

test('no additional claim replaces a common one', () => {
  const forged = { ...device, sid: 's1', iss: 'someone', exp: NOW + 9999, cid: 'other' }
  expect(requestClaims<'logout'>(caller, forged, NOW)).toEqual({ ...device, sid: 's1', ...common })
})

test.each([
  ['https://sso.example', 'https://sso.example/logout'],
  ['https://sso.example/base', 'https://sso.example/base/logout'],
  ['https://sso.example/base///', 'https://sso.example/base/logout'],
])('below %s the operation is at %s', (base, address) => {
  expect(operationUrl(base, 'logout')).toBe(address)
})

test.each([
  'https://news.example/',
  'https://news.example/a?b=c&d=e#f',
  'https://news.example/?t=forged&r=https://evil.example&debug_url=x',
  'https://news.example/sm%C3%B8rrebr%C3%B8d+og%20kaffe?q=%26%3D',
])('the Identify address carries exactly t and r, and gives %s back', (returnTo) => {
  const url = new URL(identifyUrl('https://sso.example/base/', 'h.p.s', returnTo))
  expect(url.origin + url.pathname + url.hash).toBe('https://sso.example/base/identify')
  expect([...url.searchParams]).toEqual([
    ['t', 'h.p.s'],
    ['r', returnTo],
  ])
})
