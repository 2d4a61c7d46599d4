/** The sites that prove the examiner, each with the verdicts that are expected. A check that is not named must pass. */

/** Checks of a group, and of one operation in an outage. */
const of = (group, ...names) => names.map((name) => `${group}/${name}`)
const cells = (operation, ...failures) => of('outage', ...failures.map((failure) => `${operation}-${failure}`))
const HTTP = [
  'refused',
  'down',
  'hang',
  'slow',
  'status-500',
  'status-503',
  'garbage',
  'null',
  'empty',
  'huge',
  'redirect',
  'drip',
]

/** Not applicable to sites without pages of the REST API. */
const WITHOUT_REST = [
  ...of('rest', 'marketplace', 'gift', 'administrators', 'user'),
  ...of('rest', 'kept-failure', 'expired-token', 'own-token'),
]
const SENSITIVE = of('status', 'sensitive-page', 'sensitive-unverified')
const [GRACE, HEALTH] = of('outage', 'grace-period', 'health-page')
const DATA = of('session', 'equal-names', 'former-form')
/** Not applicable to sites that have only a front page and a login. */
const SMALL = [...WITHOUT_REST, ...SENSITIVE, ...DATA, GRACE, HEALTH]

/** Not applicable to sites whose first page load does not go through Identify. */
const ON_FIRST_LOAD = [
  ...of('identify', 'first-visit', 'navigations-only', 'without-cookies', 'shared-address'),
  'outage/new-visitors',
]

/** A naive site: what a developer writes in an afternoon. */
const naive = {
  'not applicable': ['logout/all-sessions', ...SMALL],
  undecided: ['identify/shared-address'],
  warning: [
    ...of('landing', 'other-secret', 'alg-none', 'no-typ', 'not-yet-valid', 'second-site-token'),
    ...of('landing', 'partial-signature', 'other-key', 'oversized', 'not-canonical', 'prefetch'),
    'status/ten-at-once',
    'logout/stale-session',
    ...of('login', 'wrong-password', 'frozen-account'),
    'headers/version-banner',
    'calls/valid-tokens',
  ],
  failed: [
    ...of('identify', 'navigations-only', 'without-cookies'),
    ...of('landing', 'alg-hs512', 'wrong-audience', 'wrong-issuer', 'expired', 'request-token'),
    'landing/anonymous-with-ticket',
    ...of('landing', 'parameters', 'login-csrf', 'replay-after-logout', 'open-redirect', 'new-session-id'),
    ...of('ticket', 'once', 'user-without-id', 'login-form'),
    ...of('login', 'new-session-id', 'return-address', 'foreign-form', 'double-submit', 'lost-response'),
    ...of(
      'login',
      'escaped-input',
      'password-stays-nowhere',
      'session-terminated',
      'session-not-found',
      'other-account',
    ),
    ...of('logout', 'by-post-only', 'foreign-form'),
    ...of('session', 'cookie-flags', 'shared-cache', 'browser-cache', 'escaped-name'),
    'calls/secrets-in-output',
    ...cells('login', ...HTTP, 'wrong-signature', 'wrong-session', 'status-429').filter(
      (name) => name !== 'outage/login-slow',
    ),
    ...cells('logout', ...HTTP, 'wrong-signature'),
    ...cells('ticket', ...HTTP, 'status-502'),
    ...cells('user', ...HTTP),
    'outage/new-visitors',
    ...of('clock', 'ahead-3-s', 'ahead-30-s', 'behind-30-s', 'ahead-10-min', 'behind-10-min'),
    ...of('headers', 'login-framing', 'referrer-policy', 'cache-control', 'stack-trace', 'server-errors'),
    // these wait
    ...of('status', 'wrong-signature', 'wrong-session', 'wrong-audience', 'expired', 'new-session-id', 'retry-pause'),
    ...of('status', 'login-elsewhere', 'logout-elsewhere'),
    'logout/platform-informed-later',
    ...cells('page', ...HTTP, 'wrong-signature', 'status-429'),
    'outage/few-calls',
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
  // all pages that the examiner knows
  own('by-hand', 'by-hand.cjs', {
    config: {
      graceSeconds: 20,
      pages: { sensitive: '/sensitive', data: '/notes' },
      rest: { marketplace: '/market', gift: '/gift', administrators: '/administrators', user: '/profile' },
    },
    env: { GRACE_SECONDS: '20' },
    expected: {},
  }),
  own('python', 'python.py', {
    program: 'python3',
    command: ['python3', 'python.py'],
    config: { graceSeconds: 20 },
    env: { GRACE_SECONDS: '20' },
    expected: { 'not applicable': [...WITHOUT_REST, ...SENSITIVE, ...DATA, HEALTH] },
  }),
  example('minimal'),
  own('fresh-page', 'fresh-page.mjs', {
    config: { graceSeconds: 20, pages: { sensitive: '/payments' } },
    env: { SSO2_GRACE_SECONDS: '20' },
    expected: { 'not applicable': [...WITHOUT_REST, ...DATA, HEALTH] },
  }),
  own('example-app', 'example-app.cjs', {
    config: { rest: { marketplace: '/marketplace', gift: '/gift', administrators: '/administrators' } },
    expected: { 'not applicable': [...SENSITIVE, ...DATA, GRACE, HEALTH, 'rest/user'] },
  }),
  example('existing-session', { env: { SESSION_SECRET: 'a-session-secret-for-examinations-only' } }),
  example('custom-form', { config: { pages: { account: '/api/reader' }, login: { page: '/login' } } }),
  example('on-demand-cdn', {
    expected: {
      warning: ['headers/version-banner'],
      'not applicable': [...ON_FIRST_LOAD, ...SMALL],
    },
  }),
  example('nestjs', { command: ['node', 'dist/main.js'] }),
  example('two-sites', {
    address: 'http://morning.localhost',
    command: ['node', '../../test/examiner/sites/two-sites.mjs'],
  }),
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
