import type { RequestListener } from 'node:http'
import { examine } from '../../lib/examiner'
import { type Check, passed, warning } from '../../lib/examiner/check'
import { allChecks } from '../../lib/examiner/checks'
import { discover } from '../../lib/examiner/discovery'
import { type Progress, runChecks } from '../../lib/examiner/run'
import { readSettings } from '../../lib/examiner/settings'
import type { Stage } from '../../lib/examiner/stage'
import { beside, besideMade, type Changes, createSite, type Environment, factsOf } from './beside'

/* How a site is discovered, and how checks run on it. The site is the good one by hand, with a change. */

const form = '<form method=post action=/login>'
const password = '<input type=password name=password>'
const nameless = `${form}${password}</form>`

test.each<[what: string, change: { settings?: object; env?: Environment; pages?: Changes }, message: string]>([
  ['sends no login', { pages: { 'POST /login': 'Hello' } }, 'Authenticate was never called'],
  ['has no first page', { pages: { 'GET /': 404 } }, '/ responds 404: name a page as pages.public in examine.json'],
  ['signs otherwise', { env: { SSO2_CLIENT_SECRET: 'x'.repeat(40) } }, "Compare the site's settings with --settings"],
  ['asks no username', { pages: { 'GET /login': nameless } }, 'the login form has no field for the user'],
  ['loads nobody', { env: { SSO2_TOKEN_URL: 'http://127.0.0.1:1' } }, 'the site did not ask the REST API for the user'],
  ['shows no user', { settings: { pages: { account: '/login' } } }, 'no page shows the user after the login: name one'],
  [
    'has no logout',
    { settings: { pages: { account: '/sensitive' } }, pages: { 'GET /': 'Hello', 'GET /logout': 404 } },
    'no way to log out was found: name the form as logout.form in examine.json',
  ],
  ['hides its login', { settings: { login: { page: '/' } } }, 'no page with a password field was found: name it as'],
])('a site that %s cannot be examined', (_what, { settings = {}, ...change }, message) =>
  besideMade(createSite, change, async (platform) => {
    const found = discover(platform, readSettings(settings), platform.accounts[0])
    await expect(found).rejects.toThrow(message)
  }),
)

test.each<[logout: object, expected: string]>([
  [{}, 'POST / /logout /logout-all (found)'],
  [{ logout: { form: '/logout' } }, 'POST / /logout /logout-all'],
  [{ logout: { page: '/sensitive', form: '/bye' }, logoutAll: '/all' }, 'POST /sensitive /bye /all'],
])('examine.json with %j makes the logout %s', (given, expected) =>
  besideMade(createSite, {}, async (platform) => {
    const pages = { login: { page: '/login' }, pages: { account: '/sensitive', sensitive: '/profile' } }
    const { facts, notes } = await discover(platform, readSettings({ ...pages, ...given }), platform.accounts[0])
    const { page, action, method } = facts.logout
    const paths = [page, action, facts.logoutAll?.action ?? ''].map((address) => new URL(address).pathname)
    const isFound = notes.some((note) => /^logout: .* \(found\)$/.test(note))
    expect([method, ...paths, ...(isFound ? ['(found)'] : [])].join(' ')).toBe(expected)
    expect(notes.slice(0, 2)).toEqual(['login page: /login', 'page that shows the user: /sensitive'])
    expect(facts.restUserPage).toBe('/profile')
  }),
)

test('checks are left out by their names, by examine.json, and because they are slow or like others', () =>
  besideMade(createSite, {}, async (platform) => {
    const settings = readSettings({ skip: { 'login/right-password': 'a reason' } })
    const slow = ['status/old', 'status/sensitive-unverified', 'rest/marketplace', 'outage/logout-hang']
    const only = ['login/right-password', 'logout/here', ...slow, 'identify']
    const skip = ['logout', 'identify']
    const { results, skipped } = await examine({ platform, settings, only, skip, isQuick: true })
    expect(results).toEqual([])
    const others = skipped.filter(({ name }) => !name.startsWith('identify/'))
    expect([others.length < skipped.length, others.map(({ name, reason }) => `${name}: ${reason}`)]).toEqual([
      true,
      [
        'status/old: --quick: the check waits',
        'status/sensitive-unverified: --quick: the check waits',
        'login/right-password: a reason',
        'logout/here: --skip',
        'outage/logout-hang: --quick: a check like it has run',
        'rest/marketplace: --quick: the check waits if the site keeps responses for a minute',
      ],
    ])
  }))

test('rest/own-token is undecided if the only page of the REST API makes no call', () =>
  besideMade(createSite, { pages: { 'GET /profile': 'Hello' } }, async (platform) => {
    const checks = allChecks.filter(({ name }) => name === 'rest/own-token')
    const settings = readSettings({ rest: { user: '/profile' } })
    const options = { platform, settings, facts: factsOf(platform.siteUrl), patienceMs: 0 }
    expect(await runChecks(checks, options)).toEqual([expect.objectContaining({ verdict: 'undecided' })])
  }))

const dummy = { name: 'login/right-password' }

test.each([
  ['1', '200'],
  ['43200', '429'],
])('a login that is refused once with 429 and Retry-After: %s ends with %s', (retryAfter, expected) => {
  const pages: Record<string, RequestListener> = {
    'POST /login': (_req, res) => {
      delete pages['POST /login']
      res.writeHead(429, { 'retry-after': retryAfter }).end()
    },
  }
  const run = async (stage: Stage) => {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    return warning(String((await stage.submit(browser, form, stage.account())).status))
  }
  return besideMade(createSite, { pages }, async (platform) => {
    const options = { platform, settings: readSettings({}), facts: factsOf(platform.siteUrl) }
    expect(await runChecks([{ ...dummy, run }], options)).toEqual([expect.objectContaining({ reason: expected })])
  })
})

test('a check that breaks is undecided, and so is one without an account', () =>
  beside(undefined, async (platform) => {
    const checks: Check[] = [
      { ...dummy, run: () => Promise.reject(new Error('no page')) },
      { ...dummy, run: () => Promise.reject('no page') },
      {
        ...dummy,
        run: async (stage) => {
          for (;;) stage.account()
        },
      },
    ]
    const facts = factsOf(platform.siteUrl)
    const results = await runChecks(checks, { platform, settings: readSettings({}), facts, patienceMs: 0 })
    expect(results.map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual([
      'undecided: the examiner failed: no page',
      'undecided: the examiner failed: the check itself has failed',
      'undecided: the examiner has no account left',
    ])
  }))

test.each([true, false])('a site recovers before the next check, with Identify at the first page: %s', (isAlways) => {
  const pages: Record<string, number> = {}
  return besideMade(createSite, { pages }, async (platform) => {
    const begun: string[] = []
    const check = (name: string, more: Partial<Check>): Check => {
      const run = async () => {
        begun.push(`${name} ${JSON.stringify(pages)}`)
        return passed()
      }
      return { name, run, ...more }
    }
    const breakFor = async () => {
      pages['GET /login'] = 503
      setTimeout(() => delete pages['GET /login'], 200)
      return warning('odd', 'another effect')
    }
    const checks = [
      check('calls/valid-tokens', { isLast: true }),
      check('login/right-password', { isRough: true, run: breakFor }),
      check('logout/here', {}),
      check('status/old', { isSlow: true }),
    ]
    const progress: Progress[] = []
    const facts = { ...factsOf(platform.siteUrl), isIdentifiedAlways: isAlways }
    const settings = readSettings({ recheckSeconds: 100 })
    const onProgress = (now: Progress) => progress.push(now)
    const results = await runChecks(checks, { platform, settings, facts, onProgress })
    expect(results.map(({ name, text }) => [name, text.effect === 'another effect'])).toEqual(
      checks.map(({ name, isRough = false }) => [name, isRough]),
    )
    expect(results[1]?.flow.steps).toEqual([]) // the evidence has nothing of the recovery
    expect(begun).toEqual(['status/old {}', 'logout/here {}', 'calls/valid-tokens {}'])
    expect(progress.map(({ name, done }) => `${done} ${name}`)).toEqual([
      '0 status/old',
      '1 login/right-password',
      '2 logout/here',
      '3 calls/valid-tokens',
    ])
    expect(progress[0]?.leftSeconds).toBeLessThanOrEqual(120)
    expect(progress[0]?.leftSeconds).toBeGreaterThan(110) // a busy machine may need some until then
  })
})

const waiting = (...times: number[]) => {
  return ({ run }: Stage) => Promise.all(times.map((ms) => (ms > 0 ? run.wait(ms) : Promise.reject(new Error()))))
}

test.each([
  ['parts of a check wait at once', waiting(10, 60), 'passed'],
  ['a part of a check fails while another one waits', waiting(20, 0), 'undecided'],
])('%s → the next check has its turn', (_what, act, verdict) =>
  beside(undefined, async (platform) => {
    const checks = [act, waiting(40)].map((run, index): Check => {
      return { name: `status/${['old', 'young'][index]}`, isSlow: true, run: (stage) => run(stage).then(passed) }
    })
    const options = { platform, settings: readSettings({}), facts: factsOf(platform.siteUrl) }
    const results = await runChecks(checks, options)
    expect(results.map((result) => result.verdict)).toEqual([verdict, 'passed'])
  }),
)
