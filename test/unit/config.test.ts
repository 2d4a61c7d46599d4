import http from 'node:http'
import { inspect } from 'node:util'
import { makeConfig } from '../../lib/config'
import { optionSchemas } from '../../lib/config/schema'
import type { Sso2Options } from '../../lib/web/sso2-options'
import {
  clientSecret,
  clock,
  errorOf,
  make,
  optionsOf,
  problemsOf,
  required,
  sessionSecret,
} from '../support/configuration'

test('without any option every missing one is named at once, with its variable', () => {
  const { problems, message, code } = errorOf({})
  expect(problems.map(({ option, variable }) => `${option} ${variable}`).sort()).toEqual([
    'apiUrl SSO2_API_URL',
    'clientId SSO2_CLIENT_ID',
    'clientSecret SSO2_CLIENT_SECRET',
    'organisationId SSO2_ORGANISATION_ID',
    'sessionSecret SSO2_SESSION_SECRET',
    'siteUrl SSO2_SITE_URL',
    'ssoUrl SSO2_URL',
    'tokenUrl SSO2_TOKEN_URL',
  ])
  for (const { option, variable } of problems) expect(message).toContain(`${option} (${variable})`)
  // two secrets that are missing are not reported as equal
  for (const problem of problems) expect(problem.message).toMatch(/^is required/)
  expect(code).toBe('ERR_SSO2_CONFIG')
})

test('where no variable is set at all the error says so, and how a file of them is read', () => {
  const hint = /^no SSO2_ variable is set: .*node --env-file=\.env .*has them$/m
  expect(errorOf({}, { PATH: '/bin', REDIS_URL: 'redis://localhost:6379' }).message).toMatch(hint)
  expect(errorOf({ ...required, siteUrl: undefined }).message).not.toMatch(hint) // the site is configured in code
})

test('a variable with almost the name of one that is not set is named: in the error, and otherwise in the log', () => {
  const hint = 'SSO2_TIMEOUT is no variable of this package: the nearest name is SSO2_TIMEOUT_MS'
  expect(errorOf({}, { SSO2_TIMEOUT: '1', SSO2_URL: 'x' }).message).toContain(hint)
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line), info: () => {} }
  const others = { SSO2_URLS: '', SSO2_URL: required.ssoUrl, SSO2_MORNING_SITE: '' }
  makeConfig({ ...required, logger }, { ...others, SSO2_TIMEOUT: '1', SSO2_REDIS_URL: 'redis://localhost' }, clock)
  const redis = 'SSO2_REDIS_URL is no variable of this package: the nearest name is REDIS_URL'
  expect(lines).toEqual([expect.stringContaining(hint), expect.stringContaining(redis)])
})

test('a missing option is named with what it is for; a wrong one with what it must be', () => {
  const messages = new Map(errorOf({ clientId: 'two words' }).problems.map(({ option, message }) => [option, message]))
  const wanted = 'is required: an address such as https://sso.example. Base address of the SSO system'
  expect(messages.get('ssoUrl')).toBe(wanted)
  expect(messages.get('clientSecret')).toBe(
    "is required: a text of at least 32 bytes, or an array of such texts. The API client's secret",
  )
  expect(messages.get('clientId')).toBe('must be 1 to 200 printable characters without spaces')
})

test.each<[given: object, option: string, nearest: string]>([
  [{ identfy: 'VALUE' }, 'identfy', 'identify'],
  [{ redisUrl: 'VALUE' }, 'redisUrl', 'redis'],
  [{ sessionSecert: 'VALUE' }, 'sessionSecert', 'sessionSecret'],
  [{ cookieName: 'VALUE' }, 'cookieName', 'session.cookieName'],
  [{ session: { idleSecond: 1 } }, 'session.idleSecond', 'session.idleSeconds'],
  [{ secret: 'VALUE' }, 'secret', 'sessionSecret'], // of express-openid-connect and express-session
  [{ session: { rollingDuration: 1 } }, 'session.rollingDuration', 'session.idleSeconds'],
])('%p is reported as unknown, with the nearest name', (given, option, nearest) => {
  expect(problemsOf(given)).toEqual([{ option, message: `is no option: the nearest name is ${nearest}` }])
})

const [exchangeTicket, loadUser] = [() => 'token', () => ({ accountId: '1' })]

test.each<[given: object, option: string, message: RegExp]>([
  [{ routes: { login: '/x', logout: '/x' } }, 'routes.logout', /^is the path of routes\.login too$/],
  [{ siteUrl: 'https://www.example/news/sso2/landing' }, 'siteUrl', /^is the address of the landing page: leave out/],
  [{ contentSecurityPolicy: false, views: {} }, 'contentSecurityPolicy', /^has no effect without views/],
  [{ exchangeTicket, ticketExchange: { grantType: 'x' } }, 'ticketExchange.grantType', /with exchangeTicket/],
  [{ exchangeTicket, ticketExchange: { ticketParameter: 'x' } }, 'ticketExchange.ticketParameter', /exchangeTicket/],
  [{ loadUser, userPath: '/x' }, 'userPath', /^has no effect with loadUser/],
])('%p is refused', (given, option, message) => {
  expect(problemsOf(given)).toEqual([expect.objectContaining({ option, message: expect.stringMatching(message) })])
})

test('a hook beside a variable or an option that it leaves in use is accepted', () => {
  const given = { exchangeTicket, ticketExchange: { clientAuth: 'basic' }, loadUser }
  expect(() => make({ ...required, ...given }, { SSO2_USER_PATH: '/x' })).not.toThrow()
})

/** `Options` with every option present and undefined, nested ones too. Fails to compile where one refuses that. */
type AllUndefined<T> = { [Name in keyof T]-?: undefined }
const undefinedOptions = <T>(names: readonly (keyof T)[]) =>
  Object.fromEntries(names.map((name) => [name, undefined])) as AllUndefined<T>
type Inner<Name extends keyof Sso2Options> = Extract<NonNullable<Sso2Options[Name]>, object>

test('undefined counts as absent in every option, nested ones too', () => {
  const top = undefinedOptions<Sso2Options>(Object.keys(optionSchemas()) as (keyof Sso2Options)[])
  const options: Sso2Options = {
    ...top,
    ...required,
    session: undefinedOptions<Inner<'session'>>(['cookieName', 'prefix', 'idleSeconds', 'absoluteSeconds']),
    routes: undefinedOptions<Inner<'routes'>>(['landing', 'login', 'logout', 'logoutAll']),
    loginLimit: undefinedOptions<Inner<'loginLimit'>>(['attempts', 'perSeconds']),
    ticketExchange: undefinedOptions<Inner<'ticketExchange'>>(['grantType', 'ticketParameter', 'clientAuth']),
    views: undefinedOptions<Inner<'views'>>(['login', 'confirmLogout', 'problem']),
    brand: undefinedOptions<Inner<'brand'>>(['name', 'logoUrl', 'logoDarkUrl', 'color', 'stylesheetUrl']),
    links: undefinedOptions<Inner<'links'>>(['forgotPassword', 'createAccount', 'help']),
    texts: undefinedOptions<Inner<'texts'>>(['login_title']),
  }
  const { log: _log, ...config } = make(options)
  const { log: _other, ...plain } = make()
  expect(JSON.stringify(config)).toBe(JSON.stringify(plain))
  expect(config.texts.login_title).toBe('Log in')
  expect(make({ identfy: undefined, session: { idle: undefined } }).clientId).toBe('the-site')
})

test('what is not given has its default, and the configuration is frozen', () => {
  const config = make()
  expect(Object.isFrozen(config)).toBe(true)
  expect(config).toMatchObject({
    ssoIdentifier: 'sso-service',
    userPath: '/external/api/v1/me',
    siteUrl: 'https://news.example',
    mountPath: '',
    apiUrl: 'https://api.example',
    isSecure: true,
    prefix: 'the-site:',
    idleSeconds: 1_209_600,
    anonymousIdleSeconds: 86_400,
    absoluteSeconds: 7_776_000,
    routes: { landing: '/sso2/landing', login: '/login', logout: '/logout', logoutAll: '/logout-all' },
    identify: 'always',
    recheckSeconds: 360,
    graceSeconds: 900,
    timeoutMs: 2000,
    clockToleranceSeconds: 5,
    loginLimit: { attempts: 10, perSeconds: 60 },
    rememberDevices: true,
    loginMessages: 'detailed',
    returnPolicy: { origin: 'https://news.example', trustedOrigins: [] },
    clock,
  })
  expect(config.redis).toBeUndefined()
})

const environment = {
  SSO2_URL: 'https://sso.env.example',
  SSO2_CLIENT_ID: 'env-site',
  SSO2_CLIENT_SECRET: `${clientSecret}-env`,
  SSO2_ORGANISATION_ID: 'env-publisher',
  SSO2_SITE_URL: 'https://env.example',
  SSO2_API_URL: 'https://api.env.example',
  SSO2_TOKEN_URL: 'https://login.env.example/token',
  SSO2_SESSION_SECRET: `${sessionSecret}-env`,
  REDIS_URL: 'redis://localhost:6379',
  SSO2_IDENTIFIER: 'env-sso',
  SSO2_USER_PATH: '/env',
  SSO2_IDENTIFY: 'on-demand',
  SSO2_RECHECK_SECONDS: '60',
  SSO2_GRACE_SECONDS: '0',
  SSO2_TIMEOUT_MS: '500',
}

test('every variable of the environment is read', () => {
  const config = makeConfig({}, environment, clock)
  expect(config).toMatchObject({
    ssoUrl: environment.SSO2_URL,
    clientId: 'env-site',
    organisationId: 'env-publisher',
    siteUrl: 'https://env.example',
    apiUrl: 'https://api.env.example',
    tokenUrl: environment.SSO2_TOKEN_URL,
    redis: environment.REDIS_URL,
    ssoIdentifier: 'env-sso',
    userPath: '/env',
    identify: 'on-demand',
    recheckSeconds: 60,
    graceSeconds: 0,
    timeoutMs: 500,
  })
  const cookieSecrets = config.cookieKeys().map((key) => key.export().toString())
  expect([config.clientSecrets()[0], cookieSecrets]).toEqual([
    environment.SSO2_CLIENT_SECRET,
    [environment.SSO2_SESSION_SECRET],
  ])
})

test('an option wins over its variable, and an empty variable counts as none', () => {
  expect(make({}, environment).clientId).toBe('the-site')
  expect(make({}, { SSO2_IDENTIFIER: '', SSO2_RECHECK_SECONDS: '' })).toMatchObject({
    ssoIdentifier: 'sso-service',
    recheckSeconds: 360,
  })
})

test.each(['6m', '-1', ' 60'])('the number %j in a variable is refused', (text) => {
  expect(optionsOf({}, { SSO2_RECHECK_SECONDS: text })).toEqual(['recheckSeconds'])
})

const plain = ['http://localhost:3000', 'http://site.localhost', 'http://[::1]:3000']
const addresses = ['ssoUrl', 'siteUrl', 'apiUrl', 'tokenUrl'] as const
test.each(plain)('[O1, O11] the address %s is taken outside production only', (address) => {
  const options = Object.fromEntries(addresses.map((name) => [name, address]))
  expect(make(options)).toMatchObject({ ssoUrl: address, siteUrl: address })
  expect(optionsOf({ ...options, redis: 'redis://r' }, { NODE_ENV: 'production' })).toEqual([...addresses].sort())
})

const withoutTls = ['http://news.example', 'http://10.0.0.1', 'http://127.0.0.1.example']
const noAddresses = ['', 'ftp://localhost', 'https:news.example', 'https://news.example;x']
const surplus = ['https://user:pass@news.example', 'https://news.example?a', 'https://news.example#a']
test.each([...withoutTls, ...noAddresses, ...surplus])('[O1] the address %j is taken nowhere', (address) => {
  expect(optionsOf(Object.fromEntries(addresses.map((name) => [name, address])))).toEqual([...addresses].sort())
})

describe('an address is used as browsers write it', () => {
  test.each([
    ['HTTPS://NEWS.Example:443/Paper', 'https://news.example/Paper'],
    ['https://zażółć.example/münchen', 'https://xn--za-6ja4f8n1l.example/m%C3%BCnchen'],
    ['https://news.example/a b/../c%20d', 'https://news.example/c%20d'],
  ])('%s becomes %s', (given, used) => {
    const config = make(Object.fromEntries(addresses.map((name) => [name, given])))
    expect(addresses.map((name) => config[name])).toEqual(Array(addresses.length).fill(used))
    expect(config.returnPolicy.origin).toBe(new URL(used).origin)
    expect(config.loginPage).toBe(`${used}/login`)
    expect(config.mountPath).toBe(new URL(used).pathname.replace(/^\/$/, ''))
  })

  test.each([
    ['/zaloguj-się', '/zaloguj-si%C4%99'],
    ['/a/../in', '/in'],
  ])('the route %s is found at %s', (given, used) => {
    expect(make({ routes: { landing: given, login: '/x', logout: false } }).routes.landing).toBe(used)
    expect(make({ routes: { login: given } }).loginPage).toBe(`https://news.example${used}`)
  })

  test.each(['/in?a', '/a/..//host.example/', '/\\host.example', '/:in'])('the route %s is refused', (given) => {
    for (const name of ['landing', 'login', 'logout', 'logoutAll'])
      expect(optionsOf({ routes: { [name]: given } })).toEqual([`routes.${name}`])
  })
})

test.each<[name: string, secret: unknown]>([
  ['of 31 bytes', 'abcdefghijklmnopqrstuvwxyz01234'],
  ['of one character repeated', 'x'.repeat(64)],
  ['that ends with a line break', `${sessionSecret}-other\n`],
  ['of an empty list', []],
  ['of a list with a weak one', [clientSecret, 'weak']],
])('[T13] a secret %s is refused', (_name, secret) => {
  expect(optionsOf({ clientSecret: secret })).toEqual(['clientSecret'])
  expect(optionsOf({ sessionSecret: secret })).toEqual(['sessionSecret'])
})

test('[O11] a weak client secret may be allowed, a weak session secret never, and the message says what to do', () => {
  expect(errorOf({ ...required, clientSecret: 'short' }).message).toMatch(/32 bytes.* set allowWeakSecret: true$/m)
  expect(errorOf({ ...required, sessionSecret: 'short' }).message).toMatch(/32 bytes: openssl rand -hex 32 makes one$/m)
  expect(make({ clientSecret: 'short', allowWeakSecret: true }).clientSecrets()).toEqual(['short'])
  expect(optionsOf({ sessionSecret: 'short', allowWeakSecret: true })).toEqual(['sessionSecret'])
  expect(optionsOf({ clientSecret: '', allowWeakSecret: true })).toEqual(['clientSecret'])
})

test('a session secret that is the client secret too is refused and not quoted', () => {
  const error = errorOf({ ...required, sessionSecret: [sessionSecret, clientSecret] })
  expect(error.problems).toContainEqual({
    option: 'sessionSecret',
    variable: 'SSO2_SESSION_SECRET',
    message: 'must differ from clientSecret, which the platform knows too',
  })
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(clientSecret)
})

test('[O11] in production the store in memory is refused', () => {
  expect(optionsOf({}, { NODE_ENV: 'production' })).toEqual(['redis'])
  expect(make({ redis: 'rediss://r' }, { NODE_ENV: 'production' }).redis).toBe('rediss://r')
})

test.each<[option: string, value: unknown]>([
  ['exchangeTicket', 'VALUE'],
  ['views', 'VALUE'],
  ['logger', { warn: () => {}, info: 'VALUE' }],
  ['clock', { now: 'VALUE' }],
  ['clock', 'VALUE'],
])('%s that is %p is refused along with all other problems', (option, value) => {
  const { problems, message } = errorOf({ ...required, [option]: value, graceSeconds: -1 })
  expect(problems.map((one) => one.option).sort()).toEqual(['graceSeconds', option].sort())
  expect(message).not.toContain('VALUE')
})

test('a site that exchanges tickets itself needs no token address', () => {
  expect(make({ tokenUrl: undefined, exchangeTicket: () => 'token' }).tokenUrl).toBeUndefined()
  expect(optionsOf({ tokenUrl: undefined })).toEqual(['tokenUrl'])
})

test.each([
  ['the organisation as the SSO system', { organisationId: 'sso-service' }, ['organisationId']],
  ['the organisation as the client', { organisationId: 'the-site' }, ['organisationId']],
  ['the client as the SSO system', { clientId: 'sso-service' }, ['clientId']],
  ['recheckSeconds of zero', { recheckSeconds: 0 }, ['recheckSeconds']],
  ['graceSeconds of more than an hour', { graceSeconds: 3601 }, ['graceSeconds']],
  ['clockToleranceSeconds of 61', { clockToleranceSeconds: 61 }, ['clockToleranceSeconds']],
])('%s is refused', (_name, options, names) => {
  expect(optionsOf(options)).toEqual(names)
})

const cookieNames = (stem: string) => ({
  session: `${stem}.sid`,
  binding: `${stem}.b`,
  loop: `${stem}.l`,
  logout: `${stem}.o`,
  device: `${stem}.d`,
})
test.each([
  ['https', {}, cookieNames('__Host-sso2')],
  ['http', { siteUrl: 'http://localhost:3000' }, cookieNames('sso2')],
  ['https with a name of the site', { session: { cookieName: 'news.sid' } }, cookieNames('__Host-news')],
  [
    'http with a name that has the prefix',
    { siteUrl: 'http://localhost', session: { cookieName: '__Host-news.sid' } },
    cookieNames('news'),
  ],
])('over %s the cookies have their names', (_name, options, cookies) => {
  expect(make(options).cookies).toEqual(cookies)
})

test('the client {a} keeps its data under a prefix where Redis Cluster reads no hash tag', () => {
  expect(make({ clientId: '{a}' }).prefix).toBe('%7Ba%7D:')
})

test.each<[what: string, agent: unknown, problem: string]>([
  ['for http, and an address with https', new http.Agent(), 'is an agent for http: addresses, and'],
  ['under the wrong scheme', { https: new http.Agent() }, 'is an agent for http: addresses, and'],
  ['that is an address', 'http://proxy.example:3128', 'must be an http.Agent or https.Agent, or { http, https }'],
])('an agent %s is refused', (_what, agent, problem) => {
  expect(problemsOf({ agent })[0]).toEqual({ option: 'agent', message: expect.stringContaining(problem) })
})
