import type { ErrorRequestHandler, Express } from 'express'
import { type Sso2, type Sso2Options, sso2 } from '../../lib'
import { LANGUAGES, TEXTS } from '../../lib/config/texts'
import { EMAIL_TEXTS } from '../../lib/config/texts/email'
import { Browser } from '../support/agent'
import { ada, present, sessionSecret } from '../support/setup'
import { type SiteOptions, type Sites, startSites } from '../support/sites'

/* What the pages of one site may load, say and look like: by its brand, its language, and views of its own. */

let sites: Sites
const helmetLike = (app: Express) =>
  void app.use((_req, res, next) => {
    res.set('content-security-policy', "default-src 'self'; upgrade-insecure-requests")
    res.set('referrer-policy', 'no-referrer') // with it, old browsers send `Origin: null` with a form
    next()
  })
const answerItself: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).send('the site')
const ownViews = {
  login: ({ nonce, action }: { nonce: string; action: string }) => `<script nonce="${nonce}"></script>${action}`,
  confirmLogout: ({ nonce }: { nonce: string }) => `own ${nonce}`,
}
const site = (options: Partial<Sso2Options>, more: Partial<SiteOptions> = {}): SiteOptions => ({
  options: () => options,
  ...more,
})
/** The function of the site's policy, as it must not be. */
let makePolicy: () => unknown
const all: Record<string, SiteOptions> = {
  plain: site({}),
  paths: site({ brand: { name: 'A & <B>', logoUrl: '/logo.svg', stylesheetUrl: '/look.css', color: '#ffd400' } }),
  hosts: site({
    brand: { logoUrl: 'https://logos.example/a/logo.svg?v=1', stylesheetUrl: 'https://styles.example:8443/a.css' },
    links: {
      forgotPassword: '/forgot?a=%22b%22',
      createAccount: 'https://shop.example/new',
      help: '/help',
    },
  }),
  night: site({ brand: { logoUrl: '/logo.svg', logoDarkUrl: 'https://night.example/logo.svg' } }),
  guarded: site(
    {},
    {
      after: (app, sso) => {
        app.get('/admin', sso.requireLogin({ allow: () => false }))
        app.post('/fresh', sso.requireLogin({ fresh: true }))
      },
    },
  ),
  email: site({ loginName: 'email', texts: { invalid_request: 'Both, please.' } }),
  ...Object.fromEntries(LANGUAGES.map((language) => [language, site({ language })])),
  none: site({ views: ownViews }, { before: helmetLike }),
  off: site({ views: ownViews, contentSecurityPolicy: false }),
  fixed: site({ views: ownViews, contentSecurityPolicy: "script-src 'self'" }, { before: helmetLike }),
  made: site({ views: ownViews, contentSecurityPolicy: (nonce) => `script-src 'nonce-${nonce}'` }),
  headed: site(
    {
      views: {
        login: ({ action }, req, res) =>
          JSON.stringify([action, req.session.saved, req.sso2.status, req.sso2.loginUrl(), res.locals['paper']]),
        confirmLogout: (_context, req) => JSON.stringify([req.session.saved, req.sso2.user?.accountId]),
      },
    },
    {
      before: (app) =>
        void app.use((_req, res, next) => {
          res.locals['paper'] = 'The Morning Post'
          next()
        }),
      after: (app) => {
        app.get('/save', (req, res) => {
          req.session.saved = 'a basket'
          res.end()
        })
        app.all('/link', (req, res) => void res.send(req.sso2.loginUrl(present(req.get('x-to')) || undefined)))
      },
    },
  ),
  wrong: site(
    { views: { ...ownViews, problem: () => 'own problem' }, contentSecurityPolicy: () => makePolicy() as string },
    { after: (app) => void app.use(answerItself) },
  ),
}

beforeAll(async () => {
  sites = await startSites(all)
})
afterAll(() => sites.close())

/** Forms as a script, which is not redirected to Identify. A problem as a browser, because a script gets JSON. */
const get = (name: string, path = '/login') =>
  path === '/sso2/landing' ? new Browser().visit(sites.at(name, path)) : new Browser().fetchJson(sites.at(name, path))
const policyOf = async (name: string, path?: string) => (await get(name, path)).headers['content-security-policy']
const directives = (policy: string | string[] | undefined) =>
  Object.fromEntries(
    String(policy)
      .split('; ')
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  )
const hash = expect.stringMatching(/^'sha256-[\w+/=]{44}'$/)
const strict = { 'default-src': "'none'", 'base-uri': "'none'", 'frame-ancestors': "'none'" }

test.each<[name: string, loads: object]>([
  ['plain', { 'style-src': hash }],
  ['paths', { 'style-src': expect.stringMatching(/^'sha256-\S+ 'self'$/), 'img-src': "'self'", 'font-src': "'self'" }],
  [
    'hosts',
    {
      'style-src': expect.stringMatching(/^'sha256-\S+ https:\/\/styles\.example:8443$/),
      'img-src': 'https://logos.example https://styles.example:8443',
      'font-src': 'https://styles.example:8443',
    },
  ],
  ['night', { 'style-src': hash, 'img-src': "'self' https://night.example" }],
])('[R13] the policy of the built-in pages allows what the brand names and nothing else: %s', async (name, loads) => {
  for (const path of ['/login', '/logout', '/logout-all', '/sso2/landing']) {
    const { 'form-action': targets, ...rest } = directives(await policyOf(name, path))
    expect([path, rest]).toEqual([path, { ...strict, ...loads }])
    expect(targets).toBe(["'self'", new URL(sites.emulator.url).origin, sites.at(name)].join(' '))
  }
})

test('the brand stands on every page, written so that nothing of it is markup', async () => {
  for (const path of ['/login', '/logout', '/logout-all', '/sso2/landing']) {
    const { body } = await get('paths', path)
    expect(body).toContain('<img src="/logo.svg" alt="A &amp; &lt;B&gt;">')
    expect(body).toContain(' – A &amp; &lt;B&gt;</title>')
    expect(body).toContain('<link rel="stylesheet" href="/look.css">')
    expect(body).toContain('--brand:#ffd400;--on-brand:#000000')
    expect(body.indexOf('</style>')).toBeLessThan(body.indexOf('/look.css'))
  }
})

test('the links stand on the login page alone', async () => {
  const links = (await get('hosts')).body.matchAll(/<a href="([^"]*)">([^<]*)/g)
  expect([...links].map(([, href, text]) => [href, text])).toEqual([
    [`${sites.at('hosts')}/`, ''],
    ['/forgot?a=%22b%22', TEXTS.en.forgot_password],
    ['https://shop.example/new', TEXTS.en.create_account],
    ['/help', TEXTS.en.help],
    [`${sites.at('hosts')}/`, TEXTS.en.back],
  ])
  expect((await get('hosts', '/logout')).body).not.toMatch(/forgot|shop\.example|help/)
  expect((await get('plain')).body).not.toMatch(/<header|<img|<link|New here/)
})

test.each(LANGUAGES)('in %s no text asks a user who logs in with an e-mail address for a username', (language) => {
  const word = /user ?name|användarnamn|brukernavn|brugernavn|käyttäjätunnu|benutzername/i
  const texts = Object.values({ ...TEXTS[language], ...EMAIL_TEXTS[language] })
  expect(texts.filter((text) => word.test(text))).toEqual([])
})

test('the field for an e-mail address has its type and label, and texts of the site come first', async () => {
  const { body } = await get('email')
  expect(body).toMatch(/<label for="username">E-mail<\/label>\s*<input id="username" name="username" type="email"/)
  const user = new Browser({ now: () => sites.emulator.clock.now() })
  await user.visit(sites.at('email', '/login'))
  const empty = await user.submit(sites.at('email', '/login'), { username: '', password: '' })
  expect(empty.body).toContain('Both, please.')
  expect(empty.body).toContain('<title>Error: Log in</title>')
})

test('a problem page says what helps: who has no access learns the way to another account', async () => {
  sites.emulator.reset()
  const user = new Browser({ now: () => sites.emulator.clock.now() })
  await user.visit(sites.at('guarded', '/'))
  await user.submit(sites.at('guarded', '/login'), { ...ada, return_to: '/' })
  const { status, body } = await user.visit(sites.at('guarded', '/admin'))
  expect([status, body]).toEqual([403, expect.stringContaining('<h1>No access</h1>')])
  expect(body).toContain(
    `href="${sites.at('guarded', '/logout?return_to=')}${encodeURIComponent(sites.at('guarded', '/admin'))}"`,
  )
})

test.each(LANGUAGES)('in %s every page says its language, and its title in it', async (language) => {
  const titles = { '/login': 'login_title', '/logout': 'logout_title', '/sso2/landing': 'problem_title' } as const
  for (const [path, code] of Object.entries(titles)) {
    const { body } = await get(language, path)
    expect(body).toContain(`<html lang="${language}">`)
    expect(body).toContain(`<h1>${TEXTS[language][code]}</h1>`)
  }
})

describe("pages that the site's own views make", () => {
  test('have a new nonce for each answer, which the policy is made with', async () => {
    const answers = [await get('made'), await get('made')]
    const nonces = answers.map(({ body }) => present(/nonce="([\w-]{22})"/.exec(body)?.[1]))
    const policies = answers.map(({ headers }) => headers['content-security-policy'])
    expect(policies).toEqual(nonces.map((nonce) => `script-src 'nonce-${nonce}'`))
    expect(nonces[0]).not.toBe(nonces[1])
  })

  test.each([
    ['none', "default-src 'self'; upgrade-insecure-requests"],
    ['off', undefined],
    ['fixed', "script-src 'self'"],
  ])('%s: have the policy %s', async (name, policy) => {
    const { headers } = await get(name, '/logout')
    expect([await policyOf(name), headers['content-security-policy']]).toEqual([policy, policy])
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    })
  })

  test.each<[what: string, make: () => unknown]>([
    ['two lines', () => 'a\r\nset-cookie: b'],
    ['an error', () => Promise.reject(new Error('no policy'))],
  ])(
    'with a function that makes %s are an error of the site, and a problem has the built-in page',
    async (_what, make) => {
      makePolicy = make
      expect(await get('wrong')).toMatchObject({ status: 500, body: 'the site' })
      const problem = await get('wrong', '/sso2/landing')
      expect(problem.body).toContain(TEXTS.en.bad_request)
      expect(directives(problem.headers['content-security-policy'])).toMatchObject(strict)
    },
  )
})

describe('views and links of the site', () => {
  const browser = () => new Browser({ now: () => sites.emulator.clock.now() })

  test('a view gets request and response, so a header shows the basket and the user', async () => {
    const visitor = browser()
    await visitor.visit(sites.at('headed', '/save'))
    const login = '/login?return_to=%2Fnews&x=1'
    const shown = [sites.at('headed', login), 'a basket', 'anon', sites.at('headed', '/login?return_to=%2Fnews')]
    const form = await visitor.visit(sites.at('headed', login))
    expect(JSON.parse(form.body)).toEqual([...shown, 'The Morning Post'])
    const wrong = await visitor.submit(sites.at('headed', login), { ...ada, password: 'no' })
    expect([wrong.status, JSON.parse(wrong.body)]).toEqual([401, [...shown, 'The Morning Post']])
    await visitor.submit(sites.at('headed', '/login'), ada)
    const logout = await visitor.visit(sites.at('headed', '/logout'))
    expect(JSON.parse(logout.body)).toEqual(['a basket', 'account-ada'])
  })

  test('a view is shown no user whose browser has logged out, where Redis did not take the logout', async () => {
    const [user, other] = [browser(), browser()]
    for (const each of [user, other]) {
      await each.visit(sites.at('headed', '/'))
      await each.submit(sites.at('headed', '/login'), ada)
    }
    await other.submit(sites.at('headed', '/logout'), {})
    user.takeCookie(`sso2.o=${present(other.cookie('sso2.o'))}; Path=/`, sites.at('headed', '/')) // as such a logout sets it
    expect(JSON.parse((await user.visit(sites.at('headed', '/logout'))).body)).toEqual([null, null])
  })

  test.each<[what: string, to: string, options: object, returnTo: string]>([
    ['of a page', '', {}, '/link?a=1'],
    ['to a page elsewhere', 'https://evil.example/', {}, '/'],
    ['of a script', '', { script: '/article?b=2' }, '/article?b=2'],
  ])('req.sso2.loginUrl() %s leads back to the right page', async (_what, to, options, returnTo) => {
    const { script } = options as { script?: string }
    const headers = { 'x-to': to, ...(script && { referer: sites.at('headed', script) }) }
    const url = sites.at('headed', '/link?a=1')
    const { body } =
      script === undefined ? await browser().visit(url, { headers }) : await browser().fetchJson(url, { headers })
    expect(body).toBe(sites.at('headed', `/login?return_to=${encodeURIComponent(returnTo)}`))
  })
})

describe('sso.text()', () => {
  const text = (options: Partial<Sso2Options>, ...args: Parameters<Sso2['text']>) => {
    const sso = sso2({ ...sites.emulator.siteOptions('plain'), siteUrl: sites.at('plain'), sessionSecret, ...options })
    return sso.close().then(() => sso.text(...args))
  }

  test('says of each failed login what the login page says, in the language of the site', async () => {
    const { invalid_credentials, invalid_credentials_attempts, too_many_attempts_minutes } = TEXTS.sv
    const sv = { language: 'sv', texts: { login_title: 'Välkommen' } } as const // the other texts stay
    const held = { remainingAttempts: 0, retryAfterSeconds: 880 }
    expect([
      await text(sv, 'invalid_credentials', { remainingAttempts: 2 }),
      await text(sv, 'invalid_credentials', held),
    ]).toEqual([
      invalid_credentials_attempts.replace('{attempts}', '2'),
      `${invalid_credentials} ${too_many_attempts_minutes.replace('{minutes}', '15')}`,
    ])
  })

  test('keeps to the texts of the site, and to loginMessages', async () => {
    expect(await text({ texts: { invalid_otp: 'Once only!' } }, 'invalid_otp')).toBe('Once only!')
    const braces = 'Once {constructor} only!'
    expect(await text({ texts: { invalid_otp: braces } }, 'invalid_otp')).toBe(braces) // no value has this name
    const unknown = '{attempts} left' // the platform does not say how many
    expect(await text({ texts: { invalid_credentials: unknown } }, 'invalid_credentials')).toBe(unknown)
    const neutral = { loginMessages: 'neutral' } as const
    expect(await text(neutral, 'account_frozen', { frozenForSeconds: 60 })).toBe(TEXTS.en.login_failed)
  })
})
