/**
 * Defences by their files below lib, how each is taken out, and the suite that must notice.
 *
 * A row: what it comes to, a symbol of the file, a change, and the suite: the begin of its name below test, and the threats that the titles of
 * its tests name, or none. A change is one of these: `returns`: what the function returns from now on, '' being nothing; `value`: what the
 * constant is; `drop`: the statements that mention this name or text are left out; `property`: so is this property.
 */
const TWICE = "this.#ask('authenticate', claims).catch(() => this.#ask('authenticate', claims))"
const files = {
  'log/masking.ts': [['secrets are not masked in log lines', 'maskSecrets', { returns: 'text' }, 'unit/log', 'O6']],
  'config/index.ts': [
    ['cookies have no __Host-', 'cookieNames.name', { value: '(text: string) => text' }, 'security/cookies', 'S1'],
  ],
  'config/validators.ts': [
    ['addresses may be unencrypted', 'placeProblem', { returns: 'undefined' }, 'unit/config', 'O1'],
  ],
  'remote/sso2-client.ts': [
    ['a lost Authenticate is sent again', 'authenticate', { returns: TWICE }, 'security/limits', 'F6'],
  ],
  'remote/http.ts': [
    ['answers may have any size', 'readCapped', { drop: 'Sso2ResponseError' }, 'security/back-channel', 'T14'],
    ['the emulator in production', 'reasonToRefuse', { returns: 'undefined' }, 'remote/http'],
  ],
  'web/router.ts': [['the password stays on the request', 'takeBody', { drop: 'undefined' }, 'security/leaks', 'F8']],
  'web/limits.ts': [
    ['every browser is recognised', 'isRecognised', { returns: 'true' }, 'security/limits', 'F3'],
    ['logins have no limit', 'Limits.admit', { returns: '{ settle: async () => undefined }' }, 'security/limits', 'F3'],
    ['an address begins sessions without end', 'Limits.admitLanding', { returns: 'true' }, 'security/limits', 'S8'],
  ],
  'web/guards.ts': [['a guard does not ask `allow`', 'isAllowed', { returns: 'true' }, 'http/guards']],
  'web/http/request-facts.ts': [
    ['return_to is not judged', 'returnToOf', { returns: "String(value ?? '/')" }, 'security/return-addresses', 'F11'],
  ],
  'web/http/response-headers.ts': [
    ['the Referer is sent', 'setTokenHeaders', { drop: 'referrer-policy' }, 'security/headers', 'R10', 'R11', 'R13'],
    ['answers may be cached', 'setNoStore', { drop: 'no-store' }, 'security/headers', 'R10'],
    ['a shared cache may keep a guarded page', 'keepPrivate', { returns: '' }, 'security/headers', 'R10'],
  ],
  'web/pages/answers.ts': [
    ['the login form may be framed', 'setPageHeaders', { drop: 'x-frame-options' }, 'security/headers', 'R13'],
  ],
  'web/pages/views.ts': [
    ['values in pages are not escaped', 'renderValue', { returns: "String(value ?? '')" }, 'http/pages'],
  ],
  'web/routes/landing.ts': [
    ['a prefetch uses the token up', 'handleLanding', { drop: 'isPrefetch' }, 'security/landing', 'L12'],
    ['access logs see the token', 'takeQuery', { drop: 'withoutQuery' }, 'security/leaks', 'O7'],
  ],
  'web/routes/logout.ts': [
    [
      'a GET logs out',
      'showLogout',
      { value: '(scope: LogoutScope) => handleLogout(scope)' },
      'security/login-form',
      'F2',
    ],
  ],
  'web/session/site-sessions.ts': [
    ['the first of two cookies counts', 'sessionCookieReader', { drop: 'length' }, 'security/cookies', 'S2'],
    ['the session cookie needs no signature', 'sessionCookieReader.isGood', { value: 'true' }, 'security/cookies'],
  ],
  'web/context.ts': [
    ['a planted session logs in', 'Context.record', { returns: 'this.session.record' }, 'security/tossed-session'],
  ],
}

module.exports = Object.entries(files).flatMap(([file, rows]) =>
  rows.map(([name, symbol, change, test, ...threats]) => ({ name, file, symbol, change, test, threats })),
)
