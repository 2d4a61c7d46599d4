import { createEmulator, type EmulatorOptions } from '../../lib/emulator'
import { Sso2ConfigError } from '../../lib/errors'
import { configuration } from './configuration'

function problems(options: object): Record<string, string> {
  try {
    createEmulator(options as EmulatorOptions)
  } catch (error) {
    if (error instanceof Sso2ConfigError) return Object.fromEntries(error.problems.map((p) => [p.option, p.message]))
    throw error
  }
  return {}
}

test('everything that is wrong is said at once, each with its path and without its value', () => {
  const found = problems({
    ...configuration,
    organisationId: '',
    clients: [{ clientId: 'a', clientSecret: 'very-secret', landingPage: '/relative', colour: 'red' }],
    accounts: [{ accountId: 'x', username: 'y' }],
    limits: { tokenSeconds: 0 },
    tokenTime: 'maybe',
  })
  expect(Object.keys(found).sort()).toEqual([
    'accounts[0].password',
    'clients[0]',
    'clients[0].landingPage',
    'limits.tokenSeconds',
    'organisationId',
    'tokenTime',
  ])
  expect(JSON.stringify(found)).not.toContain('very-secret')
  expect(Object.keys(problems([]))).toEqual(['options'])
})

const account = (accountId: string, username: string) => ({ accountId, username, password: 'p' })
const landingAt = (landingPage: string) => ({ clients: [{ ...configuration.clients[0], landingPage }] })
const sessionOf = (status: string, accountId: string) => ({ sessions: [{ sid: 's', browser: 'b', status, accountId }] })

test.each<[string, object, string]>([
  ['an unknown key', { colour: 'red' }, 'options'],
  ['a client ID twice', { clients: [...configuration.clients, configuration.clients[0]] }, 'clients[3].clientId'],
  ['a user name twice', { accounts: [account('a', 'x'), account('b', 'x')] }, 'accounts[1].username'],
  ['an organisation like the SSO system', { organisationId: 'same', ssoIdentifier: 'same' }, 'ssoIdentifier'],
  ['a landing page with a fragment', landingAt('http://a/#b'), 'clients[0].landingPage'],
  ['a fault that makes no sense', { faults: [{ operation: 'me', kind: 'expired' }] }, 'faults[0].kind'],
  ['a session of an unknown account', sessionOf('loggedin', 'n'), 'sessions[0].accountId'],
])('refused: %s', (_what, options, path) => {
  expect(Object.keys(problems({ ...configuration, ...options }))).toContain(path)
})

test('what is left out comes from the demo data, limits from their defaults', () => {
  const exported = createEmulator({ limits: { otpSeconds: 30 }, campaigns: [{ productCode: 'DAILY' }] }).export()
  expect(exported.organisationId).toBe('demo-press')
  expect(exported.accounts?.map(({ username, active }) => [username, active])).toEqual([
    ['ada', true],
    ['grace', true],
    ['edsger', false],
  ])
  expect(exported.campaigns).toEqual([{ productCode: 'DAILY', name: 'DAILY', conflictsWith: [] }])
  expect(exported.limits).toMatchObject({ otpSeconds: 30, tokenSeconds: 10 })
  expect([exported.tokenTime, exported.production, exported.marketplaceEnabled]).toEqual(['virtual', false, true])
})
