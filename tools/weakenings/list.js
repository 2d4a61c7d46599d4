/**
 * Defences by the suites that must notice and their files below lib, and how each is taken out.
 *
 * A suite: the begin of its name below test. A row: what it comes to, a symbol of the file, a change, and the threats that the titles of the
 * tests name, or none. A change is one of these: `returns`: what the function returns from now on, '' being nothing; `value`: what the
 * constant is; `drop`: the statements that mention this name or text are left out; `property`: so is this property.
 */
const TWICE = "this.#ask('authenticate', claims).catch(() => this.#ask('authenticate', claims))"
const suites = {
  'security/token-answers': {
    'protocol/token.ts': [
      ['the algorithm in the header is not looked at', 'checkHeader', { drop: 'alg' }, 'T1', 'T2'],
      ['no signature', 'verifySignature', { returns: '{ index: 0, fault: undefined }' }, 'T2', 'T5'],
      ['the audience is not checked', 'verifySignature', { property: 'audience' }, 'L6'],
      ['a token for several sites is taken', 'verifyToken', { drop: 'aud' }, 'L6'],
      ['the issuer is not checked', 'verifySignature', { property: 'issuer' }, 'L5'],
      ['segments are decoded loosely', 'decodeCanonical', { drop: 'encoding' }, 'T5'],
      ['critical headers are ignored', 'FORBIDDEN_HEADERS', { value: '[]' }, 'T4'],
      ['expired tokens are taken', 'checkTimes', { drop: 'expired' }, 'T11'],
      ['tokens of the future are taken', 'checkTimes', { drop: 'not_yet_valid' }, 'T11'],
      ['times may be anything', 'readTime', { returns: 'Number(ownValue(claims, name))' }, 'T9', 'T10'],
      ['oversized tokens are looked into', 'MAX_TOKEN_LENGTH', { value: '1e9' }, 'T14'],
    ],
    'protocol/session-token.ts': [['the answer may be about another session', 'checkSubject', { returns: '' }, 'L8']],
  },
  'unit/tokens': {
    'protocol/session-token.ts': [['any combination of status and ticket', 'checkCombination', { returns: '' }, 'L7']],
  },
  'security/landing': {
    'decide/signatures.ts': [['a landing needs no binding', 'redirectStart', { returns: 'now' }, 'L1']],
    'storage/locks.ts': [['a used token is taken again', 'Locks.useToken', { returns: 'Promise.resolve(true)' }, 'L3']],
    'web/routes/landing.ts': [['a prefetch uses the token up', 'handleLanding', { drop: 'isPrefetch' }, 'L12']],
  },
  'security/return-addresses': {
    'decide/return-to.ts': [['every return address is taken', 'validateReturnTo', { returns: 'String(value)' }, 'R1']],
    'web/http/request-facts.ts': [
      ['return_to is not judged', 'returnToOf', { returns: "String(value ?? '/')" }, 'F11'],
    ],
  },
  'security/login-form': {
    'decide/navigation.ts': [['forms of other sites are taken', 'isSameOriginPost', { returns: 'true' }, 'F1']],
    'decide/login.ts': [['the form tells which accounts exist', 'neutralised', { returns: 'failure' }, 'F7']],
    'web/routes/logout.ts': [
      ['a GET logs out', 'showLogout', { value: '(scope: LogoutScope) => handleLogout(scope)' }, 'F2'],
    ],
  },
  'http/landing-loops': {
    'decide/loop-guard.ts': [['nothing stops a loop', 'blockReason', { returns: 'undefined' }, 'R8']],
  },
  'http/logout-again': {
    'decide/logout-mark.ts': [['a landing undoes a logout', 'isTokenVoidedBy', { returns: 'false' }]],
  },
  'unit/decisions': {
    'decide/record.ts': [['an end of the SSO session is not believed', 'decideStatus', { drop: 'terminated' }]],
  },
  'unit/log': { 'log/masking.ts': [['secrets are not masked in log lines', 'maskSecrets', { returns: 'text' }, 'O6']] },
  'security/cookies': {
    'config/index.ts': [['cookies have no __Host-', 'cookieNames.name', { value: '(text: string) => text' }, 'S1']],
    'web/session/site-sessions.ts': [
      ['the first of two cookies counts', 'sessionIdIn', { drop: 'length' }, 'S2'],
      ['the session cookie needs no signature', 'sessionIdIn.isGood', { value: 'true' }],
    ],
  },
  'unit/config': {
    'config/validators.ts': [['addresses may be unencrypted', 'placeProblem', { returns: 'undefined' }, 'O1']],
  },
  'storage/locks': {
    'storage/locks.ts': [
      [
        'each submit is an Authenticate',
        'Locks.once',
        { returns: "run().then((result) => ({ outcome: 'ran' as const, result }))" },
        'F5',
      ],
    ],
  },
  'http/logout-final': {
    'storage/account-index.ts': [
      ['a login that was slow survives a logout', 'AccountIndex.isVoided', { returns: 'Promise.resolve(false)' }],
    ],
  },
  'security/leaks': {
    'storage/site-store.ts': [['keys in the store hold the session ID', 'sessionKey', { returns: 'sessionId' }, 'S4']],
    'storage/records.ts': [
      ['a secret of the store is not encrypted', 'Records.seal', { returns: 'JSON.stringify(secrets)' }],
    ],
    'web/router.ts': [['the password stays on the request', 'takeBody', { drop: 'undefined' }, 'F8']],
    'web/routes/landing.ts': [['access logs see the token', 'takeQuery', { drop: 'withoutQuery' }, 'O7']],
  },
  'security/limits': {
    'remote/sso2-client.ts': [['a lost Authenticate is sent again', 'authenticate', { returns: TWICE }, 'F6']],
    'web/limits.ts': [
      ['every browser is recognised', 'isRecognised', { returns: 'true' }, 'F3'],
      ['logins have no limit', 'Limits.admit', { returns: '{ settle: async () => undefined }' }, 'F3'],
      ['an address begins sessions without end', 'Limits.admitLanding', { returns: 'true' }, 'S8'],
    ],
  },
  'security/back-channel': {
    'remote/http.ts': [['answers may have any size', 'readCapped', { drop: 'Sso2ResponseError' }, 'T14']],
  },
  'remote/http': { 'remote/http.ts': [['the emulator in production', 'reasonToRefuse', { returns: 'undefined' }]] },
  'http/guards': { 'web/guards.ts': [['a guard does not ask `allow`', 'isAllowed', { returns: 'true' }]] },
  'security/headers': {
    'web/http/response-headers.ts': [
      ['the Referer is sent', 'setTokenHeaders', { drop: 'referrer-policy' }, 'R10', 'R11', 'R13'],
      ['answers may be cached', 'setNoStore', { drop: 'no-store' }, 'R10'],
      ['a shared cache may keep a guarded page', 'keepPrivate', { returns: '' }, 'R10'],
    ],
    'web/pages/answers.ts': [['the login form may be framed', 'setPageHeaders', { drop: 'x-frame-options' }, 'R13']],
  },
  'http/pages': {
    'web/pages/views.ts': [['values in pages are not escaped', 'renderValue', { returns: "String(value ?? '')" }]],
  },
  'security/tossed-session': {
    'web/context.ts': [['a planted session logs in', 'Context.record', { returns: 'this.session.record' }]],
  },
  'http/status-check': { 'decide/record.ts': [['the grace has no end', 'isWithinGrace', { returns: 'true' }, 'S11']] },
}

module.exports = Object.entries(suites).flatMap(([test, files]) =>
  Object.entries(files).flatMap(([file, rows]) =>
    rows.map(([name, symbol, change, ...threats]) => ({ name, file, symbol, change, test, threats })),
  ),
)
