const suites = (folder, names) => names.split(' ').map((name) => `${folder}/${name}`)

/** The folders whose code is mutated, and for each the suites that notice a mutant within seconds, by folder or by name. */
module.exports = {
  protocol: { mutate: ['lib/protocol/*.ts'], suites: ['protocol'] },
  decide: { mutate: ['lib/decide/*.ts'], suites: ['decide'] },
  storage: {
    mutate: ['lib/storage/*.ts', 'lib/deadline.ts'],
    suites: [
      'deadline',
      ...suites('storage', 'contract pending-logouts-and-login-locks masters opening outage records'),
      ...suites('storage', 'redis-guard session-index site-store'),
      'web/deferred-logouts',
    ],
  },
  platform: {
    mutate: ['lib/emulator/platform/*.ts'],
    suites: suites('emulator', 'calls controls flow requirements/in-process scale world'),
  },
  session: {
    mutate: ['lib/web/session/*.ts', 'lib/web/stored-record.ts'],
    suites: [
      ...suites('web', 'session session-moves session-outage session-store session-surroundings shape stored-record'),
      ...suites('regressions', 'own-session-options passport session-and-login'),
      'differential/session',
      'regressions/cookies-in-front',
    ],
  },
  actions: {
    mutate: ['lib/web/actions/*.ts'],
    suites: [
      ...suites('flows', 'access-token eviction first-visit identify-guard login logout status deferred-logout'),
      ...suites('flows', 'own-login-page'),
      ...suites('regressions', 'asked-again body-parsers endless-redirects failure-log final-logout fresh-pages'),
      ...suites('regressions', 'hook-errors landed-logout login-hooks logout-again logout-all many-sessions'),
      ...suites('regressions', 'session-and-login session-index site-data'),
      ...suites('safety', 'login-limits login-while-logged-in operation-events races tabs tossed-session trips'),
      ...suites('web', 'deferred-logouts finish-logout identify-redirects log-out-steps'),
      ...suites('web', 'login-single-flight login-steps logout-retry-worker lost-login session-moves'),
      ...suites('web', 'session-outage sign-in-steps'),
    ],
  },
  routes: {
    mutate: ['lib/web/routes/*.ts', 'lib/web/router.ts'],
    suites: [
      ...suites('flows', 'first-visit login logout own-login-page sso-away store-away'),
      ...suites('regressions', 'body-parsers clocks csrf-middleware endless-redirects failure-log hook-errors'),
      ...suites('regressions', 'landed-logout login-hooks'),
      ...suites('safety', 'headers landing landing-limit leaks login-form login-limits operation-events'),
      ...suites('safety', 'redirects tabs tokens trips'),
      ...suites('web', 'doctor-report landing-steps pages route-paths'),
    ],
  },
  limits: {
    mutate: ['lib/web/limits.ts'],
    suites: [...suites('safety', 'landing-limit login-limits'), ...suites('web', 'login-limits ip-network')],
  },
  remote: {
    mutate: ['lib/remote/*.ts'],
    suites: [
      ...suites('remote', 'breaker client-keys http identify-health make-clients outages platform-api'),
      ...suites('remote', 'platform-rules platform-time platform-types service-token sso2 sso2-calls ticket'),
    ],
  },
}
