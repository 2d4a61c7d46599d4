/**
 * The sites that prove the examiner, each with the verdicts that are expected. A check that is not named must pass.
 */

/** Not applicable to sites without pages of the REST API. */
const WITHOUT_REST = ['rest/marketplace', 'rest/gift', 'rest/administrators', 'rest/expired-token']
const [SENSITIVE, GRACE] = ['status/sensitive-page', 'outage/grace-period']
/** Not applicable to sites that have only a front page and a login. */
const SMALL = [...WITHOUT_REST, SENSITIVE, GRACE]

/** Names of the checks of one operation in an outage. */
const cells = (operation, ...failures) => failures.map((failure) => `outage/${operation}-${failure}`)
const HTTP = ['refused', 'down', 'hang', 'slow', 'status-500', 'status-503', 'garbage', 'empty', 'huge', 'redirect']

/** A naive site: what a developer writes in an afternoon. */
const naive = {
  'not applicable': ['logout/all-sessions', ...SMALL],
  warning: [
    'landing/other-secret',
    'landing/alg-none',
    'landing/no-typ',
    'landing/expired',
    'landing/not-yet-valid',
    'landing/second-site-token',
    'landing/oversized',
    'landing/not-canonical',
    'status/ten-at-once',
    'login/wrong-password',
    'login/frozen-account',
    'headers/version-banner',
    'calls/valid-tokens',
  ],
  failed: [
    'identify/navigations-only',
    'identify/without-cookies',
    'landing/alg-hs512',
    'landing/wrong-audience',
    'landing/wrong-issuer',
    'landing/parameters',
    'landing/login-csrf',
    'landing/replay-after-logout',
    'landing/open-redirect',
    'landing/prefetch',
    'ticket/once',
    'ticket/refused',
    'login/new-session-id',
    'login/return-address',
    'login/foreign-form',
    'login/double-submit',
    'login/lost-response',
    'login/password-stays-nowhere',
    'login/session-terminated',
    'login/session-not-found',
    'logout/by-post-only',
    'logout/foreign-form',
    'session/cookie-flags',
    'session/shared-cache',
    'session/browser-cache',
    ...cells('login', ...HTTP, 'wrong-signature').filter((name) => name !== 'outage/login-slow'),
    ...cells('logout', ...HTTP, 'wrong-signature'),
    ...cells('ticket', ...HTTP),
    ...cells('user', ...HTTP),
    'outage/new-visitors',
    'clock/ahead-3-s',
    'clock/ahead-30-s',
    'clock/behind-30-s',
    'clock/ahead-10-min',
    'clock/behind-10-min',
    'headers/login-framing',
    'headers/referrer-policy',
    'headers/cache-control',
    // these wait
    'status/wrong-signature',
    'status/wrong-session',
    'status/wrong-audience',
    'status/expired',
    'logout/platform-informed-later',
    ...cells('page', ...HTTP, 'wrong-signature'),
    'outage/few-calls',
  ],
}

/** A careful site in Python: its tokens are verified, and the flow is not bound to the browser. */
const python = {
  'not applicable': ['login/return-address', 'logout/all-sessions', ...SMALL],
  warning: ['status/ten-at-once', 'login/frozen-account', 'headers/version-banner'],
  failed: [
    'identify/navigations-only',
    'identify/without-cookies',
    'landing/login-csrf',
    'landing/replay-after-logout',
    'landing/prefetch',
    'ticket/once',
    'login/double-submit',
    ...cells('logout', ...HTTP),
    'outage/few-calls',
    'logout/platform-informed-later',
    'logout/landing-in-progress',
    'outage/new-visitors',
    'headers/login-framing',
    'headers/referrer-policy',
  ],
}

/** Sites that use the package and leave Express's banner on. */
const withPackage = { 'not applicable': SMALL, warning: ['headers/version-banner'] }

/** A site of this folder, and an example that uses the package. */
const own = (name, file, more) => ({ name, cwd: 'test/examiner/sites', command: ['node', file], ...more })
const example = (name, more) => {
  return { name, cwd: `examples/${name}`, command: ['node', 'site.mjs'], expected: withPackage, ...more }
}

const table = [
  own('by-hand', 'by-hand.cjs', {
    config: {
      graceSeconds: 20,
      pages: { sensitive: '/sensitive' },
      rest: { marketplace: '/market', gift: '/gift', administrators: '/administrators' },
    },
    env: { GRACE_SECONDS: '20' },
    expected: {},
  }),
  example('minimal'),
  own('fresh-page', 'fresh-page.mjs', {
    config: { graceSeconds: 20, pages: { sensitive: '/payments' } },
    env: { SSO2_GRACE_SECONDS: '20' },
    expected: { 'not applicable': WITHOUT_REST },
  }),
  own('example-app', 'example-app.cjs', {
    config: { rest: { marketplace: '/marketplace', gift: '/gift', administrators: '/administrators' } },
    expected: { 'not applicable': [SENSITIVE, GRACE] },
  }),
  example('existing-session', { env: { SESSION_SECRET: 'a-session-secret-for-examinations-only' } }),
  example('custom-form', { config: { pages: { account: '/api/reader' }, login: { page: '/login' } } }),
  example('on-demand-cdn', {
    expected: {
      warning: ['headers/version-banner'],
      'not applicable': [
        'identify/first-visit',
        'identify/navigations-only',
        'identify/without-cookies',
        'outage/new-visitors',
        ...SMALL,
      ],
    },
  }),
  example('nestjs', { command: ['node', 'dist/main.js'] }),
  example('two-sites', {
    address: 'http://morning.localhost',
    command: ['node', '../../test/examiner/sites/two-sites.mjs'],
  }),
  own('python', 'python.py', { program: 'python3', command: ['python3', 'python.py'], expected: python }),
  own('naive', 'naive.mjs', { expected: naive }),
]

/** Results that are not what the table expects of a site, in words. */
function differences(site, results) {
  const { expected } = table.find(({ name }) => name === site)
  const wanted = (check) => Object.entries(expected).find(([, names]) => names.includes(check))?.[0] ?? 'passed'
  return results
    .filter(({ name, verdict }) => verdict !== wanted(name))
    .map(({ name, verdict, reason }) => `${name}: ${verdict} instead of ${wanted(name)}, ${reason}`)
}

module.exports = { cells, differences, HTTP, table }
