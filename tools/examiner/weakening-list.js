/**
 * Weakenings of each check: a change of the good site (`test/examiner/sites/by-hand.cjs`) on which the check must not pass.
 * Each `find` stands in the site exactly once. `found` is the verdict that the check must give.
 * The reason of the verdict, or its beginning, follows a colon where a check has several reasons.
 */
const { cells, HTTP } = require('../../test/examiner/table.js')

const weakenings = []

/** Adds a weakening for some checks. `changes` are pairs of what stands there and what replaces it. `facts` tell the checks of the change. */
function weakenTo(found, checks, name, changes, facts = {}) {
  for (const check of [checks].flat()) weakenings.push({ check, name, changes, found, facts })
}
const weaken = (checks, name, changes) => weakenTo('failed', checks, name, changes)
const change = (find, replace = '') => ({ find, replace })
const before = (find, code) => change(find, `${code}\n    ${find}`)
const after = (find, code) => change(find, `${find}\n    ${code}`)

/* identify */
const LANDED = 'isPending: isWanted && !user && !isEnded,\n    })\n    res.redirect(303, path)'
weaken('identify/first-visit', 'the landing redirects to the front page', [
  change(LANDED, LANDED.replace('path', "'/'")),
])
weaken('identify/request-token', 'the request token lives five minutes', [
  change('exp: now + 10 }', 'exp: now + 300 }'),
])
weaken('identify/return-address', 'the return address is the front page', [
  before("const back = `${site}${path}${path.includes('?')", "path = '/'"),
])
weaken('identify/navigations-only', 'every GET request is redirected to Identify', [
  change('const mayIdentify = isNavigation(req) &&', "const mayIdentify = req.method !== 'POST' &&"),
])
weaken('identify/without-cookies', 'the site does not notice that it has tried Identify before', [
  change('!hasTried && !isDown', '!isDown'),
])
const NO_ANONYMOUS = [change('if (old) sessions.delete(old.id)', 'if (!content.user) return')]
weaken('identify/once', 'an anonymous session is not kept', NO_ANONYMOUS)
weakenTo('failed', 'identify/once', 'a site on demand keeps no anonymous session', NO_ANONYMOUS, {
  isIdentifiedAlways: false,
})
for (const [what, find, replace] of [
  ['t is not a JWT', '/identify?t=${sign({})}&r=', '/identify?r='],
  ['the header is not HS256 and JWT', "{ alg: 'HS256', typ: 'JWT' }", "{ alg: 'HS256' }"],
  ["the signature is not made with the client's secret", 'mac(signed).', "mac(signed, 'another secret')."],
  ['cid is not the client ID', 'cid: env.SSO2_CLIENT_ID', "cid: 'site'"],
  ['iss is not the organisation ID', 'iss: env.SSO2_ORGANISATION_ID', "iss: 'site'"],
  ['aud is not the SSO system', 'aud: env.SSO2_IDENTIFIER', "aud: 'site'"],
  ['nbf and iat are not the same whole second', 'nbf: now,', 'nbf: now - 1,'],
  ['extra claims: sid', '${sign({})}', "${sign({ sid: '' })}"],
])
  weakenTo(`failed: ${what}`, 'identify/request-token', what, [change(find, replace)])
weakenTo('failed: r is not an absolute address', 'identify/return-address', 'the site sends no return address', [
  change('&r=${encodeURIComponent(back)}'),
])
weakenTo(
  'failed: r leads to http://other.invalid',
  'identify/return-address',
  'the return address is on another host',
  [change('const back = `${site}${path}', 'const back = `http://other.invalid${path}')],
)
const READ_TOKEN = 'const claims = tokens.length === 1 ? verify(tokens[0]) : undefined'
weakenTo(
  'failed: with X-Forwarded-Host',
  'identify/return-address',
  'the return address is built from a header of the request',
  [
    change(
      'const back = `${site}${path}',
      "const back = `http://${req.get('x-forwarded-host') ?? new URL(site).host}${path}",
    ),
  ],
)
weaken(
  [
    'identify/first-visit',
    'identify/without-cookies',
    'status/session-not-found',
    'clock/ahead-30-s',
    'rest/expired-token',
  ],
  'each visit goes through Identify five times',
  [
    change('let failures = 0', 'let failures = 0\n  let landings = 0'),
    before(READ_TOKEN, 'landings += 1\n    if (landings % 5 > 0) return identify(req, res, path)'),
  ],
)

/* landing: tokens */
const SIGNATURE = 'if (given.length !== expected.length || !crypto.timingSafeEqual(given, expected)) return undefined'
const ALGORITHM = "if (alg !== 'HS256' || typ !== 'JWT') return undefined"
const AUDIENCE = 'if (claims.aud !== env.SSO2_CLIENT_ID) return undefined'
const ISSUER = 'if (claims.iss !== env.SSO2_IDENTIFIER) return undefined'
const EXPIRY = 'if (!(now < claims.exp + LEEWAY_SECONDS)) return undefined'
const BEGIN = 'if (!(claims.nbf - LEEWAY_SECONDS <= now)) return undefined'
const STATUS = "if (!['anon', 'loggedin', 'terminated'].includes(claims.sts)) return undefined"
const USED = 'if (usedTokens.has(signature)) return res.redirect(303, path)'
const BOUND = 'const isBound = browser !== undefined && binding === bindingOf(browser, path)'
const UNSERVED = "const unserved = `${path}${path.includes('?') ? '&' : '?'}sso-tried=1`"
const NO_TICKET = "if (claims.sts === 'loggedin' && !claims.at) return res.redirect(303, unserved)"
const LOAD_USER = 'const user = isWanted ? await userOf(claims.at) : undefined'
const MEMORY = 'let lastResponseAt = 0'
const REFUSED_LANDING = 'if (!claims || claims.err || !isBound)'

weaken(['landing/other-secret', 'status/wrong-signature'], 'the signature is not compared', [change(SIGNATURE)])
weaken('landing/alg-none', 'a token without a signature is accepted', [
  change(ALGORITHM, "if (alg === 'none') return JSON.parse(decode(body))"),
])
weaken('landing/alg-none', 'a token with alg None is accepted', [
  change(ALGORITHM, "if (alg === 'None') return JSON.parse(decode(body))"),
])
weaken('landing/partial-signature', 'the first bytes of a signature are compared', [
  change(SIGNATURE, 'if (!given.subarray(0, 8).equals(expected.subarray(0, 8))) return undefined'),
])
weaken('landing/partial-signature', 'a signature that is cut is accepted', [
  change(SIGNATURE, 'if (!expected.subarray(0, given.length).equals(given)) return undefined'),
])
const EXPECTED = 'const expected = mac(`${head}.${body}`)'
weaken('landing/other-key', 'the header of a token names its key', [
  change(
    EXPECTED,
    'const { jwk } = JSON.parse(decode(head))\n      const expected = mac(`${head}.${body}`, jwk ? Buffer.from(jwk.k, "base64url") : secret)',
  ),
])
weakenTo('failed: a token with the client ID as the key', 'landing/other-key', 'a token of a public key is accepted', [
  change(
    SIGNATURE,
    `const open = mac(\`\${head}.\${body}\`, env.SSO2_CLIENT_ID)\n      if (!given.equals(open)) ${SIGNATURE}`,
  ),
])
weaken('landing/alg-hs512', 'the token chooses its algorithm', [
  change(ALGORITHM),
  change(
    'const expected = mac(`${head}.${body}`)',
    "const expected = crypto.createHmac(alg === 'HS512' ? 'sha512' : 'sha256', secret).update(`${head}.${body}`).digest()",
  ),
])
weakenTo('warning', 'landing/no-typ', 'the type of a token is not compared', [change(" || typ !== 'JWT'")])
weaken(['landing/wrong-audience', 'status/wrong-audience'], 'the audience is not compared', [change(AUDIENCE)])
weaken('landing/wrong-issuer', 'the issuer is not compared', [change(ISSUER)])
weaken(['landing/expired', 'status/expired', 'clock/behind-10-min'], 'the end of a token is not looked at', [
  change(EXPIRY),
])
weaken(['landing/not-yet-valid', 'clock/ahead-10-min'], 'the beginning of a token is not looked at', [change(BEGIN)])
weaken('landing/second-site-token', 'neither signature nor audience are compared', [
  change(SIGNATURE),
  change(AUDIENCE),
])
weakenTo('warning', 'landing/oversized', 'a token may have any length', [
  change('if (token.length > MAX_TOKEN_LENGTH) return undefined'),
])
weakenTo('warning', 'landing/not-canonical', 'any spelling of a signature is accepted', [
  change("if (bytes.toString('base64url') !== part) throw new Error('the part is not canonical base64url')"),
])
weaken('landing/no-ticket', 'the site remembers the user of an SSO session', [
  change(MEMORY, `${MEMORY}\n  const remembered = new Map()`),
  change(NO_TICKET),
  change(
    LOAD_USER,
    'const user = claims.at ? await userOf(claims.at) : remembered.get(claims.sid)\n    remembered.set(claims.sid, user)',
  ),
])
weaken('landing/anonymous-with-ticket', 'a ticket is enough for a login', [
  change("const isWanted = claims.sts === 'loggedin' &&", 'const isWanted = Boolean(claims.at) &&'),
])
weaken('landing/request-token', 'any token that is signed with the secret is taken for a Session Token', [
  change(ISSUER),
  change(AUDIENCE),
  change(STATUS),
  before(LOAD_USER, 'claims.sts = claims.sts.toLowerCase()'),
])
weaken('landing/anonymous', 'an anonymous landing is an error', [
  change(NO_TICKET, "if (claims.sts === 'anon') throw new Error('no user')"),
])
weakenTo('failed: the visit ends with ECONNRESET', 'landing/anonymous', 'an anonymous landing gets no response', [
  change(NO_TICKET, "if (claims.sts === 'anon') return req.socket.destroy()"),
])
weakenTo(
  'failed: an anonymous visitor is shown a user',
  'landing/anonymous',
  'the front page greets one user for ever',
  [change('<a href="/login?next=/">Log in</a>', '<p>Hello Quolazor Throxeptune</p>')],
)
weakenTo('failed: the visit ends with 500', 'identify/first-visit', 'each landing is an error', [
  change(USED, "throw new Error('landed')"),
])
weaken(['landing/request-token', 'clock/ahead-30-s'], 'a token that is refused is an error', [
  before(REFUSED_LANDING, "if (!claims) throw new Error('refused')"),
])
weaken('landing/parameters', 'the landing page needs t', [
  change(
    READ_TOKEN,
    "if (!query.get('t').includes('.')) throw new Error('no token')\n    const claims = verify(query.get('t'))",
  ),
])

/* landing: flows */
weaken('landing/login-csrf', 'a landing is not bound to its browser', [change(BOUND, 'const isBound = true')])
weaken('landing/login-csrf', 'a landing without the binding parameter is accepted', [
  change(BOUND, `${BOUND.replace('binding ===', '(binding === undefined || binding ===')})`),
])
weaken('landing/login-csrf', 'a landing without its two parameters is accepted', [
  change('bindingOf(browserSecret(req, res), path)}`', 'bindingOf(browserSecret(req, res), path)}&version=1`'),
  change('([\\w-]{43})$/s.exec(r)', '([\\w-]{43})&version=1$/s.exec(r)'),
  change(
    BOUND,
    'const isBound =\n      !/sso=|version=/.test(returns[0]) || (browser !== undefined && binding === bindingOf(browser, path))',
  ),
])
const REMEMBERED_USERS = [
  change(USED),
  change(MEMORY, `${MEMORY}\n  const users = new Map()`),
  change(
    LOAD_USER,
    'const user = isWanted ? (users.get(claims.at) ?? (await userOf(claims.at))) : undefined\n    users.set(claims.at, user)',
  ),
]
weakenTo(
  'failed: after the logout',
  'landing/replay-after-logout',
  'the site remembers the user of a ticket, and no logout',
  [...REMEMBERED_USERS, change('endedHere.set(session.sid, true)')],
)
weakenTo(
  'failed: a reload of the landing address ends with 500',
  'landing/replay-after-logout',
  'a used landing address is an error',
  [change(USED, "if (usedTokens.has(signature)) throw new Error('used')")],
)
weaken(['landing/replay-after-logout', 'ticket/once'], 'a landing address works more than once', [change(USED)])
weaken(['landing/new-session-id', 'login/new-session-id'], 'a login keeps the ID of the session', [
  change('const id = random()', 'const id = sessionOf(req)?.id ?? random()'),
])
weaken('landing/replay-elsewhere', 'a landing address works more than once, in any browser', [
  change(BOUND, 'const isBound = true'),
  ...REMEMBERED_USERS,
])
weaken('landing/open-redirect', 'the return address is followed as it is', [
  change(
    "return { path: pathHere(page ?? r) ?? '/', binding }",
    'return { path: pathHere(page ?? r) ?? page ?? r, binding }',
  ),
])
weaken('landing/open-redirect', 'a return address elsewhere is an error', [
  change(
    'return isHere ? url.pathname + url.search : undefined',
    "if (!isHere) throw new Error('elsewhere')\n    return url.pathname + url.search",
  ),
])
weakenTo('failed: the token stays in the address', 'landing/leaves-nothing', 'the token stays in the address', [
  change(LANDED, LANDED.replace('(303, path)', '(303, `${path}?t=${tokens[0]}`)')),
])
weakenTo(
  'failed: the SSO session ID is in the page',
  'landing/leaves-nothing',
  'the front page has the SSO session ID',
  [change('`<p>Hello ${', '`<p id="${req.session.sid}">Hello ${')],
)
weaken('landing/prefetch', 'prefetches and HEAD requests land', [
  change("if (req.method !== 'GET' || isPrefetch(req)) return res.status(204).end()"),
])
weaken('landing/leaves-nothing', 'the SSO session ID is put into a cookie', [
  before('sessions.set(id, {', "res.append('Set-Cookie', `sso=${content.sid}; ${cookieFlags}`)"),
])

/* ticket */
const FAILED_USER_THROWS = [after(LOAD_USER, "if (isWanted && !user) throw new Error('no user')")]
weaken('ticket/refused', 'a refused ticket is an error', FAILED_USER_THROWS)
weakenTo('failed: the visitor gets ECONNRESET', 'ticket/refused', 'after a refused ticket, no page responds', [
  change(MEMORY, `${MEMORY}\n  let isBroken = false`),
  after(LOAD_USER, 'isBroken = isWanted && !user\n    if (isBroken) return identify(req, res, path)'),
  change('const found = sessionOf(req)', 'if (isBroken) return req.socket.destroy()\n    const found = sessionOf(req)'),
])
const LATER_LOGIN = "if (claims.sts === 'loggedin' && !session.user) endSession(session)"
const NO_LATER_LOGIN = change(LATER_LOGIN)
weaken('ticket/login-afterwards', 'a login that failed is not tried again', [
  change('(!session || shouldRetry)', '!session'),
  NO_LATER_LOGIN,
])
weaken('ticket/right-user', 'logins at the same time share one exchange', [
  change(
    'async function userOf(ticket) {',
    'let exchange\n  const userOf = (ticket) => (exchange ??= load(ticket).finally(() => (exchange = undefined)))\n  async function load(ticket) {',
  ),
])

/* status */
const FRESH = 'const session = found && (await fresh(req, found))'
const FORMS_UNCHECKED = [
  change(FRESH, "const session = found && (req.method === 'POST' ? found : await fresh(req, found))"),
]
weaken('login/stale-session', 'forms cause no status check', FORMS_UNCHECKED)
weakenTo('warning', 'logout/stale-session', 'forms cause no status check', FORMS_UNCHECKED)
const YOUNG = 'const isYoung = Date.now() - session.checkedAt < recheckMs'
weaken('status/young', 'every page causes a status check', [change(YOUNG, 'const isYoung = false')])
weaken('status/old', 'a session is never checked', [change(YOUNG, 'const isYoung = true')])
const CHECKING = 'session.checking ??= checkStatus(req, session)'
for (const [what, find, replace] of [
  [
    'the page of an old session is shown before the response of its status check',
    CHECKING,
    'setTimeout(() => checkStatus(req, session), 300)\n      session.checking = Promise.resolve()',
  ],
  ['one page causes 2 status checks', CHECKING, `await checkStatus(req, session)\n      ${CHECKING}`],
  ['lks is anon', "const lks = session.user ? 'loggedin' : 'anon'", "const lks = 'anon'"],
  ['ipa is missing', "ipa: req.socket.remoteAddress ?? ''", "ipa: ''"],
  ["uas is not the browser's User-Agent", "uas: req.get('user-agent') ?? ''", "uas: 'site'"],
  ['the user is not shown any more', "if (claims.sts === 'anon') session.user = undefined", 'session.user = undefined'],
])
  weakenTo(`failed: ${what}`, 'status/old', what, [change(find, replace)])
const BUSY = [
  change(
    'req.session = session\n',
    'if (session?.isBusy) return identify(req, res)\n    if (session) session.isBusy = true\n    await new Promise((done) => setTimeout(done, 20))\n    if (session) session.isBusy = false\n    req.session = session\n',
  ),
]
weakenTo(
  'failed: one of ten pages at once loses the user',
  'status/ten-at-once',
  'a session serves one request at a time',
  BUSY,
)
weakenTo('warning', 'status/ten-at-once', 'status checks of a session are not shared', [
  change('session.checking ??= ', 'session.checking = '),
])
weaken('status/new-session-id', 'the login of a status check keeps the session ID', [
  change(LATER_LOGIN, "if (claims.sts === 'loggedin' && !session.user) session.user = await userOf(claims.at)"),
])
weaken('status/login-elsewhere', 'a login on another site is not noticed', [NO_LATER_LOGIN])
weaken(['status/logout-elsewhere', 'status/other-account'], 'a terminated SSO session does not end the session', [
  change("if (claims.sts === 'terminated' || claims.err ===", 'if (claims.err ==='),
])
weaken('status/logout-while-reading', 'each page moves the next status check on', [
  before(
    'if (!isForced && (isYoung || isDown)) return session',
    'if (!isForced && isYoung) session.checkedAt = Date.now()',
  ),
])
weakenTo(
  'failed: the next page responds 500',
  ['status/logout-elsewhere', 'status/logout-while-reading'],
  'the cookie of a session that has ended is an error',
  [after('const found = sessionOf(req)', "if (!found && cookieOf(req, 'session')) throw new Error('ended')")],
)
const HAS_ENDED = "if (claims.sts === 'terminated' || claims.err === 'session_not_found')"
weakenTo('failed: the page responds 500', 'status/session-not-found', 'a removed SSO session is an error', [
  change(HAS_ENDED, "if (claims.err) throw new Error(claims.err)\n    if (claims.sts === 'terminated')"),
])
weakenTo(
  'failed: the second user is not logged in here',
  'status/other-account',
  'a browser whose session has ended stays anonymous',
  [
    change(
      'const mayIdentify = isNavigation(req)',
      "const mayIdentify = !cookieOf(req, 'session') && isNavigation(req)",
    ),
  ],
)
weaken('status/session-not-found', 'a removed SSO session does not end the session', [
  change(HAS_ENDED, "if (claims.sts === 'terminated' && !claims.err)"),
])
const REFUSED = "if (!claims || (claims.sid !== session.sid && claims.err !== 'session_not_found')) return"
weaken('status/wrong-session', 'the session in a response is not compared', [change(REFUSED, 'if (!claims) return')])
weakenTo(
  'failed: a response with a wrong signature: the page of a logged-in user responds 500',
  'status/wrong-signature',
  'a refused response is an error',
  [before(REFUSED, "if (!claims) throw new Error('refused')")],
)
weakenTo('failed: the page responds 500', 'status/sensitive-page', 'a sensitive page for nobody is an error', [
  change("if (!session?.user) return res.redirect(303, '/login?next=/sensitive')"),
])
weaken('status/sensitive-page', 'a sensitive page relies on the last status check', [
  change('await fresh(req, req.session, true)', 'await fresh(req, req.session)'),
  change('const isVerified = Date.now() - session.verifiedAt < 5000', 'const isVerified = true'),
])

/* login */
const CALL_AUTHENTICATE = "const claims = await callSso('authenticate', { sid, usr, pwd, ...deviceOf(req) })"
const LOGGED_IN = 'beginSession(req, res, { sid: session.sid, user: result.user })\n    res.redirect(303, next)'
weakenTo('failed: the login ends with 500', 'login/right-password', 'a login ends with an error', [
  change(LOGGED_IN, LOGGED_IN.replace('redirect(303, next)', "status(500).send('')")),
])
weakenTo('failed: one login causes 2 Authenticate calls', 'login/right-password', 'Authenticate is called twice', [
  after(CALL_AUTHENTICATE, "await callSso('authenticate', { sid, usr, pwd, ...deviceOf(req) })"),
])
weakenTo(
  'failed: the cookies of before the login are logged in too (the site sets a new cookie',
  'login/new-session-id',
  'the old session is logged in too',
  [before(LOGGED_IN, 'session.user = result.user'), change('if (old) sessions.delete(old.id)', 'void old')],
)
weaken('login/right-password', 'Authenticate gets another User-Agent', [
  change("uas: req.get('user-agent') ?? ''", "uas: 'site'"),
])
weaken(['login/new-session-id', 'session/not-fixed-by-attacker'], 'a login keeps the session ID of the browser', [
  change('const id = random()\n', "const id = cookieOf(req, 'session') ?? random()\n"),
  change('if (old) sessions.delete(old.id)', 'void old'),
])
weaken('login/return-address', 'the return address of the form is followed as it is', [
  change("const next = pathHere(req.body?.next) ?? '/'", "const next = req.body?.next ?? '/'"),
])
weaken('login/return-address', 'the login page redirects a logged-in user to any address that begins with a slash', [
  after(
    "app.get('/login', (req, res) => {",
    "const to = String(req.query.next ?? '/')\n    if (req.user) return res.redirect(303, to.startsWith('/') && !to.startsWith('//') ? to : '/')",
  ),
])
weaken('login/return-address', 'the login page puts any return address into its form, and the form is trusted', [
  change("res.send(loginForm(pathHere(req.query.next) ?? '/'))", "res.send(loginForm(req.query.next ?? '/'))"),
  change("const next = pathHere(req.body?.next) ?? '/'", "const next = req.body?.next ?? '/'"),
])
weaken('login/return-address', 'the logout redirects to any return address', [
  change(
    '<form method="post" action="/logout"><button>',
    '<form method="post" action="/logout"><input type="hidden" name="next" value="/"><button>',
  ),
  change(
    "logouts.delete(session.sid)\n    }\n    res.redirect(303, '/')",
    "logouts.delete(session.sid)\n    }\n    res.redirect(303, req.body.next ?? '/')",
  ),
])
weaken('login/return-address', 'the login page redirects every visitor to a whole address', [
  after(
    "app.get('/login', (req, res) => {",
    'if (/^https?:/.test(req.query.next)) return res.redirect(303, req.query.next)',
  ),
])
weakenTo(
  'not applicable',
  'login/return-address',
  'neither the login nor the logout has a return address',
  [change('<input type="hidden" name="next" value="${escapeHtml(next)}">'), change('/login?next=/">', '/login">')],
  { returnField: undefined, logoutAll: undefined },
)
weaken('login/foreign-form', 'a form of any origin logs in', [
  change("app.post('/login', sameOrigin, postLogin)", "app.post('/login', postLogin)"),
])
weaken('login/double-submit', 'each click calls Authenticate', [change('await logins.get(key)', 'await login(req)')])
weakenTo('failed: one of the two clicks gets a server error', 'login/double-submit', 'the second click is an error', [
  change('if (!logins.has(key))', "if (logins.has(key)) throw new Error('twice')\n    if (!logins.has(key))"),
])
weakenTo('failed: the user gets 500', 'login/lost-response', 'a lost response is an error', [
  change('if (!claims) return { status: 503, message: NOT_NOW }', "if (!claims) throw new Error('lost')"),
])
weaken('login/lost-response', 'Authenticate is repeated', [
  change(
    CALL_AUTHENTICATE,
    "const again = { sid, usr, pwd, ...deviceOf(req) }\n    const claims = (await callSso('authenticate', again)) ?? (await callSso('authenticate', again))",
  ),
])
weaken('login/password-stays-nowhere', 'the form is logged', [
  before(CALL_AUTHENTICATE, "console.log('login', req.body)"),
])
const SHOW_FORM =
  "return res.status(result.status).send(loginForm(next, result.message, String(req.body?.username ?? '')))"
const POSTED = "const next = pathHere(req.body?.next) ?? '/'"
const TYPED_USERNAME = "String(req.body?.username ?? '')"
for (const [what, find, replace] of [
  ['an address', LOGGED_IN, LOGGED_IN.replace('next)', '`${next}?typed=${encodeURIComponent(req.body.password)}`)')],
  ['a cookie', POSTED, `${POSTED}\n    res.append('Set-Cookie', \`typed=\${encodeURIComponent(req.body.password)}\`)`],
  ['a page', TYPED_USERNAME, TYPED_USERNAME.replace('username', 'password')],
])
  weakenTo(`failed: the password is in ${what}`, 'login/password-stays-nowhere', `the password is in ${what}`, [
    change(find, replace),
  ])
weaken('login/password-stays-nowhere', 'the form is logged, and gone after a wrong password', [
  change(SHOW_FORM, 'return res.status(401).send(result.message)'),
  before(CALL_AUTHENTICATE, "console.log('login', req.body)"),
])
const REFUSED_LOGIN = 'if (claims.err) return { status: 401, message: messageOf(claims) }'
weakenTo(
  'failed: the user is logged in, though',
  'login/wrong-password',
  'the user is logged in without a look at the response',
  [change(REFUSED_LOGIN, 'if (claims.err) return { user: { id: usr, name: usr } }')],
)
weakenTo('failed: the user gets an empty page', 'login/wrong-password', 'the page is empty after a wrong password', [
  change(SHOW_FORM, 'return res.status(401).end()'),
])
weakenTo('failed: the page keeps the password in the form', 'login/wrong-password', 'the form keeps the password', [
  change('name="password" type="password">', 'name="password" type="password" value="kept">'),
])
weakenTo(
  'warning: the page does not say that 4 attempts are left',
  'login/wrong-password',
  'the page does not count the attempts',
  [change(' ${raa} attempts are left.')],
)
weaken('login/wrong-password', 'the form is gone after a wrong password', [
  change(SHOW_FORM, 'return res.status(401).send(result.message)'),
])
const LOCKED = '`The account is locked for ${Math.ceil(frf / 3600)} hours.`'
weakenTo('warning', 'login/frozen-account', 'the message of a frozen account has no time', [
  change(LOCKED, "'The account is locked.'"),
])
const throwing = (code) => [
  after('function messageOf({ err, raa, frf }) {', `if (err === '${code}') throw new Error(err)`),
]
weakenTo(
  'failed: the user gets 500',
  'login/frozen-account',
  'a frozen account is an error',
  throwing('account_frozen'),
)
weakenTo(
  'warning: the page says the same as for a wrong password',
  'login/frozen-account',
  'a frozen account is taken for a wrong password',
  [change(LOCKED, "'Username or password is wrong. 4 attempts are left.'")],
)
weaken('login/inactive-account', 'an inactive account is an error', throwing('account_not_active'))
weaken('login/session-limit', 'too many sessions are an error', throwing('session_limit_reached'))
weaken(
  'login/expired-one-time-password',
  'an expired one-time password is an error',
  throwing('otp_consumed_or_expired'),
)
weaken('login/one-time-password', 'short passwords are not sent', [
  before(CALL_AUTHENTICATE, "if (pwd.length < 8) return { status: 401, message: 'Too short.' }"),
])
weaken('login/session-terminated', 'a terminated SSO session is kept', [
  change("['session_terminated', 'session_not_found']", "['session_not_found']"),
])
weaken('login/session-not-found', 'a removed SSO session is kept', [
  change("['session_terminated', 'session_not_found']", "['session_terminated']"),
])
const IS_OVER = "if (isOver || claims.err === 'session_already_logged_in_on_another_account') return { isOver: true }"
weakenTo(
  'failed: the user gets 500',
  ['login/session-terminated', 'login/session-not-found'],
  'an SSO session that is over is an error',
  [before(IS_OVER, "if (isOver) throw new Error('over')")],
)
weakenTo(
  'failed: the user is logged in here, and not at the platform',
  ['login/session-terminated', 'login/session-not-found'],
  'an SSO session that is over logs the user in',
  [before(IS_OVER, 'if (isOver) return { user: { id: usr, name: usr } }')],
)
weakenTo('failed: the user gets 500', 'login/other-account', 'another account is an error', [
  change(
    IS_OVER,
    "if (isOver) return { isOver: true }\n    if (claims.err?.startsWith('session_already')) throw new Error(claims.err)",
  ),
])
weaken('login/other-account', 'the user who was typed is shown', [
  change(
    IS_OVER,
    "if (isOver) return { isOver: true }\n    if (claims.err?.startsWith('session_already')) return { user: { id: usr, name: usr } }",
  ),
])

const TYPED = "const { username: usr = '', password: pwd = '' } = req.body ?? {}"
for (const [what, name, code] of [
  ['a space at its end', 'the password is trimmed', 'trim()'],
  ['letters beyond ASCII', 'the password is made ASCII', "replace(/[^ -~]/g, '')"],
  ['the sign +', 'a plus becomes a space', "replaceAll('+', ' ')"],
  ['100 characters', 'the password is cut', 'slice(0, 72)'],
])
  weakenTo('failed: a password with', 'login/any-password', `${name}: ${what}`, [
    change(TYPED, `const { username: usr = '', password = '' } = req.body ?? {}\n    const pwd = password.${code}`),
  ])
weakenTo("failed: the username o'neil+news", 'login/any-password', 'a plus in the username becomes a space', [
  change(TYPED, `${TYPED.replace('username: usr', 'username')}\n    const usr = username.replaceAll('+', ' ')`),
])
weakenTo('failed: the page after a login', 'login/escaped-input', 'the username is not escaped', [
  change(TYPED_USERNAME, TYPED_USERNAME.replace('String(req.body?.username', '(req.body?.username')),
  change('value="${escapeHtml(username)}"', 'value="${username}"'),
])
weakenTo('failed: the page after a login', 'login/escaped-input', 'the return address is not escaped', [
  change('value="${escapeHtml(next)}"', 'value="${decodeURIComponent(next)}"'),
])
weakenTo('failed: the form is answered with 307', 'login/right-password', 'the login redirects with 307', [
  change('res.redirect(303, next)', 'res.redirect(307, next)'),
  change("app.get('/login', (req", "app.post('/', (_req, res) => res.redirect(303, '/'))\n  app.get('/login', (req"),
])
weakenTo('passed', 'login/frozen-account', 'the message of a frozen account has its minutes', [
  change(LOCKED, '`Das Konto ist noch ${Math.ceil(frf / 60)} Minuten gesperrt.`'),
])
const ORIGINS =
  "const isOwn = from === undefined ? req.get('origin') === site : from === 'same-origin' || from === 'none'"
const ANY_ORIGIN = "if (isOwn && ['null', site, undefined].includes(req.get('origin'))) return next()"
for (const [what, code] of [
  ['begins', "(req.get('origin') ?? '').startsWith(site)"],
  ['ends', "(req.get('origin') ?? '').endsWith(new URL(site).host)"],
])
  weakenTo(
    `failed: a form whose Origin ${what} like`,
    ['login/foreign-form', 'logout/foreign-form'],
    `an origin that ${what} like that of the site is accepted`,
    [
      change(ORIGINS, ORIGINS.replace("req.get('origin') === site", code)),
      change(ANY_ORIGIN, 'if (isOwn) return next()'),
    ],
  )
weakenTo(
  'failed: a form on a sibling domain',
  ['login/foreign-form', 'logout/foreign-form'],
  'forms of sibling domains are accepted',
  [
    change(ORIGINS, ORIGINS.replace("from === 'same-origin'", "from.startsWith('same-')")),
    change(ANY_ORIGIN, 'if (isOwn) return next()'),
  ],
)

/* logout */
const END_ALL_OF_SID = 'for (const one of [...sessions.values()]) if (one.sid === session.sid) endSession(one)'
const REMEMBER_END = 'endedHere.set(session.sid, true)'
weaken('logout/here', 'a logout removes the cookie only', [
  change(END_ALL_OF_SID, "res.append('Set-Cookie', 'session=; Max-Age=0; Path=/')"),
  change(REMEMBER_END),
])
const CALL_LOGOUT =
  "if (!isDown && (await callSso('logout', { sid: session.sid, ...deviceOf(req) }))) logouts.delete(session.sid)"
const KEEP_LOGOUT = 'logouts.set(session.sid, deviceOf(req))'
weakenTo(
  'failed: the user is still logged in; the next page logs the user in again; the platform is not informed',
  'logout/here',
  'a logout ends the session of the site only',
  [change(CALL_LOGOUT), change(KEEP_LOGOUT), change(REMEMBER_END)],
)
weakenTo('failed: the logout ends with 500', 'logout/here', 'a logout is an error', [
  change(CALL_LOGOUT, `${CALL_LOGOUT}\n      throw new Error('logged out')`),
])
weaken('logout/identify-afterwards', 'the browser keeps its SSO session after the logout', [
  change(END_ALL_OF_SID, 'beginSession(req, res, { sid: session.sid })'),
  change(REMEMBER_END),
])
const BY_GET = [
  change("app.get('/logout', (_req, res) => {\n    res.send(logoutForms)\n  })", "app.get('/logout', logout)"),
]
weaken('logout/by-post-only', 'a GET request logs out', BY_GET)
weakenTo('failed: the site logs out by GET', 'logout/foreign-form', 'the logout is a link', BY_GET, {
  logout: { page: '/', action: '/logout', method: 'GET' },
})
weaken('logout/foreign-form', 'a form of any origin logs out', [
  change("app.post('/logout', sameOrigin, logout)", "app.post('/logout', logout)"),
])
weaken('logout/platform-informed-later', 'a logout that failed is forgotten', [change(KEEP_LOGOUT)])
weakenTo(
  'failed',
  'logout/platform-informed-later',
  'a logout that is tried again sends its first token',
  [
    change(
      'async function callSso(operation, claims) {',
      'async function callSso(operation, claims, t = sign(claims)) {',
    ),
    change('JSON.stringify({ t: sign(claims) })', 'JSON.stringify({ t })'),
    change(KEEP_LOGOUT, 'logouts.set(session.sid, sign({ sid: session.sid, ...deviceOf(req) }))'),
    change(
      "for (const [sid, device] of logouts) if (await callSso('logout', { sid, ...device })) logouts.delete(sid)",
      "for (const [sid, token] of logouts)\n      if ((await callSso('logout', {}, token))?.sts === 'terminated') logouts.delete(sid)",
    ),
  ],
  { logoutAll: undefined },
)
weaken('logout/platform-informed-later', 'a logout of all sessions that failed is forgotten', [
  change('logouts.set(one.sid, deviceOf(req))'),
])
weaken('logout/landing-in-progress', 'a landing does not look for a logout that came meanwhile', [
  change('const isEnded = endedHere.has(claims.sid) // a logout may have come meanwhile', 'const isEnded = !isWanted'),
  change('if (endedHere.has(session.sid)) return renewAfterLogout(session)'),
])
const CALL_LOGOUT_ALL = "await callSso('logoutall', { aid: id, ...deviceOf(req) })"
weaken('logout/all-sessions', 'the platform is not informed', [change(CALL_LOGOUT_ALL)])
weakenTo(
  'failed: the platform is not informed',
  'logout/all-sessions',
  'no page has the form, and the platform is not informed',
  [
    change('\n<form method="post" action="/logout-all"><button>Log out of all sessions</button></form>'),
    change(CALL_LOGOUT_ALL),
  ],
)
weakenTo(
  'failed: another session of the account is still logged in here',
  'logout/all-sessions',
  'the site ends the session of one browser',
  [change('if (one.user?.id !== id) continue', 'if (one !== req.session) continue')],
)
weakenTo(
  'failed: this session is still logged in; another session',
  'logout/all-sessions',
  'only the platform ends the sessions',
  [change('endSession(one)\n      endedHere.set(one.sid, true)')],
)

/* session */
const CACHE = "'Cache-Control': 'private, no-store',"
for (const [what, replace] of [
  ['scripts can read the session cookie', 'SameSite=Lax; Path=/'],
  ['no SameSite=Lax or Strict', 'HttpOnly; Path=/'],
  ['no Path', 'HttpOnly; SameSite=Lax'],
  ['is sent to other hosts', 'HttpOnly; SameSite=Lax; Domain=localhost; Path=/'],
])
  weaken('session/cookie-flags', what, [change('HttpOnly; SameSite=Lax; Path=/', replace)])
weaken('session/cookie-content', 'a cookie has the name of the user', [
  before(
    'sessions.set(id, {',
    "res.append('Set-Cookie', `name=${encodeURIComponent(content.user?.name)}; ${cookieFlags}`)",
  ),
])
weaken(['session/shared-cache', 'headers/cache-control'], 'every page may be kept by shared caches', [
  change(CACHE, "'Cache-Control': 'public, max-age=60',"),
])
weaken('session/browser-cache', 'every page may be kept by the browser', [
  change(CACHE, "'Cache-Control': 'private, max-age=60',"),
])
weakenTo('warning', 'session/browser-cache', 'the browser asks before it shows a page again', [
  change(CACHE, "'Cache-Control': 'private, no-cache',"),
])
weakenTo(
  'failed: one of twelve requests at once loses the login',
  'session/parallel-requests',
  'a session serves one request at a time',
  BUSY,
)
weaken('session/parallel-requests', 'each request writes its session back at its end', [
  change(
    'req.session = session\n',
    "req.session = session\n    if (session) res.on('finish', () => setTimeout(() => sessions.set(session.id, session), 50))\n    if (session) endedHere.delete(session.sid)\n",
  ),
  change(REMEMBER_END),
])

weakenTo('failed: /sensitive shows a user', 'session/shared-cache', 'one page may be kept by shared caches', [
  before('res.send(`<p>Payments of', "res.set('Cache-Control', 'public, max-age=60')"),
])
weakenTo('warning: / shows a user to users', 'session/shared-cache', 'visitors get a page that shared caches keep', [
  before('res.send(\n      req.user ?', "if (!req.user) res.set('Cache-Control', 'public, max-age=60')"),
])
weaken('session/random-id', 'session IDs are counted', [
  change(
    "const random = () => crypto.randomBytes(24).toString('base64url')",
    'let count = 1000\nconst random = () => `session-${(count += 1)}`',
  ),
])
weaken('session/random-id', 'the session ID is a hash of the user', [
  change(
    'const id = random()',
    "const id = content.user ? crypto.createHash('sha256').update(content.user.id).digest('hex') : random()",
  ),
])
weaken('session/escaped-name', 'the name is not escaped', [
  change('<p>Hello ${escapeHtml(req.user.name)}', '<p>Hello ${req.user.name}'),
])
weaken('session/tokens-stay-on-server', 'the front page has the access token', [
  change('`<p>Hello ${', '`<p data-token="${req.user.access}">Hello ${'),
])
const REMOTE = "ipa: req.socket.remoteAddress ?? ''"
weakenTo('failed: ipa of authenticate is 127.0.0.1', 'calls/user-address', 'ipa is constant', [
  change(REMOTE, "ipa: '127.0.0.1'"),
])
weakenTo(
  'failed: ipa of authenticate and logout is the first',
  'calls/user-address',
  'ipa is what the browser writes',
  [change(REMOTE, "ipa: (req.get('x-forwarded-for') ?? req.socket.remoteAddress).split(',')[0]")],
)
weakenTo('warning', 'calls/user-address', 'ipa is the address of a container', [change(REMOTE, "ipa: '172.17.0.1'")])
for (const [what, code] of [
  ['a request token', 'console.log(`calling ${operation} with ${sign(claims)}`)'],
  ['the client secret', 'console.log(env)'],
])
  weakenTo(`failed: ${what}`, 'calls/secrets-in-output', `${what} is printed`, [
    after('async function callSso(operation, claims) {', code),
  ])
weakenTo('failed: an access token is in', 'calls/secrets-in-output', 'access tokens are printed', [
  before("if (typeof access !== 'string') return undefined", 'console.log(`Bearer ${access}`)'),
])
weakenTo('failed: the value of the cookie', 'calls/secrets-in-output', 'cookies are printed', [
  after('const found = sessionOf(req)', 'console.log(req.headers.cookie)'),
])
weakenTo('failed: the token is in the site', 'landing/leaves-nothing', 'the access log has the query', [
  before(READ_TOKEN, 'console.log(req.method, req.originalUrl)'),
])
weakenTo('failed: the password is in the site', 'login/password-stays-nowhere', 'the tokens of calls are printed', [
  after('async function callSso(operation, claims) {', "console.log('-'.repeat(operation.length), sign(claims))"),
])

weaken('login/log-injection', 'usernames are logged as they are', [
  before('const { sid } = req.session', 'console.log(`login of ${usr}`)'),
])
weaken('headers/stack-trace', 'errors are shown', [
  change("send('<p>This request could not be read.</p>')", 'send(error.stack)'),
  change(
    'const { path, binding } = splitReturn',
    "if (!query.get('t')?.includes('.')) throw new Error('no token')\n    const { path, binding } = splitReturn",
  ),
])

/* outage */
const TOKENS = [...HTTP, 'wrong-signature']
const late = ['hang', 'slow']
const prompt = TOKENS.filter((name) => !late.includes(name))
const NO_RESPONSE = 'if (!claims || (claims.sid !== session.sid'
const CHECKED = 'if ((claims.sid !== session.sid'
const LATE = [change('const CALL_TIMEOUT_MS = 2000', 'const CALL_TIMEOUT_MS = 30_000')]
weaken(cells('page', ...late), 'a call has no time limit', LATE)
weakenTo(
  'failed',
  ['status/wrong-signature', 'status/wrong-audience', 'status/expired'],
  'a response that does not verify ends the session',
  [change(NO_RESPONSE, `if (!claims) return endSession(session)\n    ${CHECKED}`)],
)
weakenTo(
  'failed: a response about another session',
  'status/wrong-session',
  'a response about another session ends it',
  [change('(claims.sid !== session.sid', '(claims.sid !== session.sid && endSession(session)')],
)
weaken(cells('page', ...TOKENS), 'a failed status check ends the session', [
  change(NO_RESPONSE, `if (!claims) return endSession(session)\n    ${CHECKED}`),
])
weaken(cells('page', ...prompt), 'a failed status check is an error', [
  change(NO_RESPONSE, `if (!claims) throw new Error('no response')\n    ${CHECKED}`),
])
for (const status of [403, 503])
  weakenTo(`failed: the user gets ${status}`, 'outage/page-down', `a failed status check is answered with ${status}`, [
    change(NO_RESPONSE, `if (!claims) throw Object.assign(new Error('down'), { status: ${status} })\n    ${CHECKED}`),
  ])
weakenTo(
  'failed: the next Identify redirect logs the user in again',
  'outage/logout-down',
  'Identify logs in a user whose logout has failed',
  [change(REMEMBER_END)],
)
weaken(cells('login', ...TOKENS), 'a failed call is taken for a wrong password', [
  change(
    'if (!claims) return { status: 503, message: NOT_NOW }',
    "if (!claims) return { status: 401, message: messageOf({ err: 'invalid_credentials', raa: 4 }) }",
  ),
])
weaken(cells('logout', ...TOKENS), 'the session ends only when the platform has confirmed the logout', [
  change(
    END_ALL_OF_SID,
    "const isConfirmed = await callSso('logout', { sid: session.sid, ...deviceOf(req) })\n      if (!isConfirmed) return res.status(500).send('The logout did not work.')\n      endSession(session)",
  ),
])
weaken(cells('ticket', ...HTTP), 'a failed exchange is an error', FAILED_USER_THROWS)
weaken(cells('user', ...HTTP), 'a user that cannot be loaded is an error', FAILED_USER_THROWS)
weaken('outage/new-visitors', 'visitors are redirected to a dead platform', [
  change('!hasTried && !isDown', '!hasTried'),
])
weakenTo('failed: new visitors get 500', 'outage/new-visitors', 'a visitor without a session is an error', [
  change('const mayIdentify =', "if (isDown && !session) throw new Error('down')\n    const mayIdentify ="),
])
weaken('outage/recovery', 'the site never notices that the platform is back', [
  change('isDown = false\n      lastResponseAt', 'lastResponseAt'),
])
weaken('outage/few-calls', 'every page calls a dead platform', [
  change('(isYoung || isDown)', 'isYoung'),
  change('Date.now() - recheckMs + RETRY_LOGIN_MS', 'session.checkedAt'),
])
weaken('outage/grace-period', 'a user stays logged in for ever', [
  change('Date.now() - verifiedAt > recheckMs + graceMs', 'false && verifiedAt'),
])

/* clock, headers, rest */
weaken('clock/ahead-3-s', 'the clocks must be the same', [
  change('const LEEWAY_SECONDS = 5', 'const LEEWAY_SECONDS = 0'),
])
weaken('clock/behind-3-s', 'a token must be of this very moment', [
  change(EXPIRY, 'if (Math.abs(now - claims.iat) > 2) return undefined'),
])
weaken(['clock/ahead-30-s', 'clock/behind-30-s'], 'a refused token is asked for again and again', [
  change(UNSERVED, 'const unserved = path'),
  change('if (failures >= MAX_FAILURES) isDown = true'),
])
weaken('headers/login-framing', 'pages can be framed', [change("; frame-ancestors 'none'")])
weaken('headers/referrer-policy', 'the address is sent to other sites', [
  change("'Referrer-Policy': 'no-referrer',", "'Referrer-Policy': 'unsafe-url',"),
])
weakenTo('warning', 'headers/version-banner', 'responses name Express', [change("app.disable('x-powered-by')")])
weaken(
  ['rest/marketplace', 'rest/gift', 'rest/administrators', 'rest/expired-token'],
  'a refused call of the REST API is an error',
  [before('const { session } = req\n    const isFirst', "if (response?.status !== 200) throw new Error('refused')")],
)
weakenTo('failed: the page responds 500', 'rest/marketplace', 'a page that has called the REST API is an error', [
  before('if (response?.status === 200)', "if (response?.status === 200) throw new Error('called')"),
])
weakenTo(
  'failed: with 401 from the REST API, the page responds 500',
  'rest/gift',
  'a form without an empty field calls the REST API, and a refused call is an error',
  [
    change(
      "app.get('/gift', restPage('Gift', 'POST', '/external/api/v1/me/order/validate_gift_receiver', gift))",
      `const sendGift = restPage('Gift', 'POST', '/external/api/v1/me/order/validate_gift_receiver', gift)
  const inputs = '<input name="city"><input name="zip"><input name="number"><input name="country">'
  app.get('/gift', (_req, res) => res.send(\`<form method="post"><input type="hidden" name="kept">\${inputs}</form>\`))
  app.post('/gift', (req, res) => {
    const { city, zip, number, country } = req.body
    return [city, zip, number, country].every(Boolean) ? sendGift(req, res) : res.send('Fill in every field.')
  })`,
    ),
    change('const isFirst =', "if (response?.status !== 200) throw new Error('refused')\n    const isFirst ="),
  ],
)

weakenTo('undecided: the page /market did not call', 'rest/marketplace', 'a cache has the answer of the REST API', [
  change(
    'const response = await rest(method, path, req.user.access, body)',
    'const response = { status: 200, json: { items: [] } }',
  ),
])

/* calls */
weakenTo('warning', 'calls/valid-tokens', 'the token of a logout has expired', [
  change(
    'JSON.stringify({ t: sign(claims) })',
    "JSON.stringify({ t: sign(operation === 'logout' ? { ...claims, exp: 1 } : claims) })",
  ),
])

module.exports = { weakenings }
