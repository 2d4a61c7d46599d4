/**
 * Weakenings of each check: a change of the good site (`test/examiner/sites/by-hand.cjs`) on which the check must not pass.
 * Each `find` stands in the site exactly once. `found` is the verdict that the check must give.
 * The beginning of its reason follows a colon where a check has several reasons. Each check has one.
 */
const { cells, HTTP } = require('../../test/examiner/table.js')

const weakenings = []

/** Adds a weakening for some checks. `facts` tell the checks of the change. */
function weakenTo(found, checks, name, changes, facts = {}) {
  for (const check of [checks].flat()) weakenings.push({ check, name, changes, found, facts })
}
const weaken = (checks, name, changes) => weakenTo('failed', checks, name, changes)
const change = (find, replace = '') => ({ find, replace })
const before = (find, code) => change(find, `${code}\n    ${find}`)
const after = (find, code) => change(find, `${find}\n    ${code}`)

/* identify */
const LANDED = 'isPending: isWanted && !user && !isEnded,\n    })\n    res.redirect(303, path)'
weakenTo('failed: the visit asks for /?examined=a%20b', 'identify/first-visit', 'the landing decodes once more', [
  change(LANDED, LANDED.replace('path', 'decodeURIComponent(path)')),
])
weaken('identify/request-token', 'the request token lives five minutes', [
  change('exp: now + 10 }', 'exp: now + 300 }'),
])
const BACK = "const back = `${site}${path}${path.includes('?')"
const OTHER_PAGE = [before(BACK, "if (path.startsWith('/?')) path = '/news'")]
weakenTo('failed: r leads to', 'identify/return-address', 'the return address is another page', OTHER_PAGE)
weaken('identify/navigations-only', 'every GET request is redirected to Identify', [
  change('const mayIdentify = isNavigation(req) &&', "const mayIdentify = req.method !== 'POST' &&"),
])
weakenTo('failed: a browser without cookies redirects to', 'identify/without-cookies', 'all redirects are forgotten', [
  change('!hasTried && !isDown', '!isDown'),
])
const NO_ANONYMOUS = [change('if (old) sessions.delete(old.id)', 'if (!content.user) return')]
weaken('identify/once', 'an anonymous session is not kept', NO_ANONYMOUS)
const READ_TOKEN = 'const claims = tokens.length === 1 ? verify(tokens[0]) : undefined'

/* landing: tokens */
const SIGNATURE = 'if (given.length !== expected.length || !crypto.timingSafeEqual(given, expected)) return undefined'
const ALGORITHM = "if (alg !== 'HS256' || typ !== 'JWT') return undefined"
const AUDIENCE = 'if (claims.aud !== env.SSO2_CLIENT_ID) return undefined'
const ISSUER = 'if (claims.iss !== env.SSO2_IDENTIFIER) return undefined'
const EXPIRY = 'if (!(now < claims.exp + LEEWAY_SECONDS)) return undefined'
const BEGIN = 'if (!(claims.nbf - LEEWAY_SECONDS <= now)) return undefined'
const USED = 'if (usedTokens.has(signature)) return res.redirect(303, path)'
const BOUND = 'const isBound = browser !== undefined && binding === bindingOf(browser, path)'
const UNSERVED = "const unserved = `${path}${path.includes('?') ? '&' : '?'}sso-tried=${Date.now()}`"
const NO_TICKET = "if (claims.sts === 'loggedin' && !claims.at) return res.redirect(303, unserved)"
const LOAD_USER = 'const user = isWanted ? await userOf(claims.at) : undefined'
const MEMORY = 'let lastResponseAt = 0'
const REFUSED_LANDING = 'if (!claims || claims.err || !isBound)'

weaken(['landing/other-secret', 'status/wrong-signature'], 'the signature is not compared', [change(SIGNATURE)])
weaken('landing/alg-none', 'a token without a signature is accepted', [
  change(ALGORITHM, "if (alg === 'none') return JSON.parse(decode(body))"),
])
weaken('landing/partial-signature', 'the first bytes of a signature are compared', [
  change(SIGNATURE, 'if (!given.subarray(0, 8).equals(expected.subarray(0, 8))) return undefined'),
])
const EXPECTED = 'const expected = mac(`${head}.${body}`)'
weaken('landing/other-key', 'the header of a token names its key', [
  change(
    EXPECTED,
    'const { jwk } = JSON.parse(decode(head))\n      const expected = mac(`${head}.${body}`, jwk ? Buffer.from(jwk.k, "base64url") : secret)',
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
weaken('clock/behind-10-min', 'the end of a token is not looked at', [change(EXPIRY)])
const UNTIL_LATER = [change(EXPIRY, EXPIRY.replace('LEEWAY_SECONDS', '300'))]
weaken('status/expired', 'a token is taken five minutes after its end', UNTIL_LATER)
weakenTo('failed: exp is compared with a', 'landing/expired', 'tokens live for five minutes more', UNTIL_LATER)
weakenTo('failed: exp is not', 'landing/expired', 'the end of a token is not looked at', [change(EXPIRY)])
weakenTo('failed: exp is compared in another', 'landing/expired', 'the unit of exp is wrong', [
  change('now < claims', 'now < 1e3 * claims'),
])
weaken(['landing/not-yet-valid', 'clock/ahead-10-min'], 'the beginning of a token is not looked at', [change(BEGIN)])
weaken('landing/second-site-token', 'neither signature nor audience are compared', [
  change(SIGNATURE),
  change(AUDIENCE),
])
weakenTo('warning', 'landing/oversized', 'a token may have any length', [
  change('if (token.length > MAX_TOKEN_LENGTH) return undefined'),
])
const CANONICAL = "if (bytes.toString('base64url') !== part) throw new Error('the part is not canonical base64url')"
weakenTo('warning', 'landing/not-canonical', 'any spelling of a signature is accepted', [change(CANONICAL)])
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
weaken('landing/anonymous', 'an anonymous landing is an error', [
  change(NO_TICKET, "if (claims.sts === 'anon') throw new Error('no user')"),
])
weaken(['landing/request-token', 'clock/ahead-30-s'], 'a token that is refused is an error', [
  before(REFUSED_LANDING, "if (!claims) throw new Error('refused')"),
])
const STATES = "if (!['anon', 'loggedin', 'terminated'].includes(claims.sts)) return undefined"
weakenTo('failed: the request token logs', 'landing/request-token', 'a token without sts is that of a visitor', [
  ...[ISSUER, AUDIENCE, STATES].map((find) => change(find)),
])
weaken('landing/parameters', 'the landing page needs t', [
  change(
    READ_TOKEN,
    "if (!query.get('t').includes('.')) throw new Error('no token')\n    const claims = verify(query.get('t'))",
  ),
])

/* landing: flows */
weaken('landing/login-csrf', 'a landing is not bound to its browser', [change(BOUND, 'const isBound = true')])
weaken('landing/replay-after-logout', 'a landing address works more than once', [change(USED)])
weaken('landing/new-session-id', 'a login keeps the ID of the session', [
  change('const id = random()', 'const id = sessionOf(req)?.id ?? random()'),
])
weaken('landing/replay-elsewhere', 'a landing address works more than once, in any browser', [
  change(BOUND, 'const isBound = true'),
  change(USED),
  change(MEMORY, `${MEMORY}\n  const users = new Map()`),
  change(
    LOAD_USER,
    'const user = isWanted ? (users.get(claims.at) ?? (await userOf(claims.at))) : undefined\n    users.set(claims.at, user)',
  ),
])
weaken('landing/open-redirect', 'the return address is followed as it is', [
  change("pathHere(page ?? r) ?? '/'", 'pathHere(page ?? r) ?? page ?? r'),
])
weakenTo('failed: the token stays in the address', 'landing/leaves-nothing', 'the token stays in the address', [
  change(LANDED, LANDED.replace('(303, path)', '(303, `${path}?t=${tokens[0]}`)')),
])
weakenTo('warning', 'landing/prefetch', 'prefetches and HEAD requests land', [
  change("if (req.method !== 'GET' || isPrefetch(req)) return res.status(204).end()"),
])

/* ticket */
const FAILED_USER_THROWS = [after(LOAD_USER, "if (isWanted && !user) throw new Error('no user')")]
weaken('ticket/refused', 'a refused ticket is an error', FAILED_USER_THROWS)
const LATER_LOGIN = "if (claims.sts === 'loggedin' && !session.user) endSession(session)"
const NO_LATER_LOGIN = change(LATER_LOGIN)
const NO_RETRY = change('(!session || shouldRetry)', '!session')
weakenTo('failed: the site has called', 'ticket/login-afterwards', 'a login that failed is not tried again', [
  NO_RETRY,
  NO_LATER_LOGIN,
])
const YOUNG = 'const isYoung = Date.now() - session.checkedAt < recheckMs'
const NEVER_CHECKED = change(YOUNG, 'const isYoung = true')
weakenTo('failed: the site has not asked', 'ticket/login-afterwards', 'a session is checked no more', [
  NO_RETRY,
  NEVER_CHECKED,
])
const EXCHANGED = 'failed: a used ticket is exchanged again if the landing address is opened'
const NOTE_USED = 'usedTokens.set(signature, claims.exp)'
weakenTo(`${EXCHANGED} 5 times`, 'ticket/once', 'tokens are noted after the login', [
  change(NOTE_USED),
  after(LOAD_USER, NOTE_USED),
])
const EARLY = change(NOTE_USED, `${NOTE_USED}\n    setTimeout(() => usedTokens.delete(signature), 900)`)
weakenTo(`${EXCHANGED} again a second later: the`, 'ticket/once', 'the note of a used token lives for milliseconds', [
  EARLY,
])
weakenTo(`${EXCHANGED} in another`, 'ticket/once', 'the text of a used token is noted', [change(CANONICAL)])
weaken('ticket/right-user', 'logins at the same time share one exchange', [
  change(
    'async function userOf(ticket) {',
    'let exchange\n  const userOf = (ticket) => (exchange ??= load(ticket).finally(() => (exchange = undefined)))\n  async function load(ticket) {',
  ),
])

const ID = "return typeof item?.account_id === 'string' ? { id: item.account_id,"
weaken('ticket/user-without-id', 'the ID of the user is made a text', [
  change(ID, 'return item ? { id: String(item.account_id),'),
])

/* status */
const FRESH = 'const session = found && (await fresh(req, found))'
const FORMS_UNCHECKED = [
  change(FRESH, "const session = found && (req.method === 'POST' ? found : await fresh(req, found))"),
]
weaken('login/stale-session', 'forms cause no status check', FORMS_UNCHECKED)
weakenTo('warning', 'logout/stale-session', 'forms cause no status check', FORMS_UNCHECKED)
weakenTo('failed: a form', 'status/logout-elsewhere', 'forms cause no status check', FORMS_UNCHECKED)
weaken('status/young', 'every page causes a status check', [change(YOUNG, 'const isYoung = false')])
weakenTo('failed: the page of an old session', 'status/old', 'a session is never checked', [NEVER_CHECKED])
weakenTo('failed: the session has just been checked', 'status/old', 'the time of a check is not noted', [
  change('session.checkedAt = claims ? Date.now() : Date.now() - recheckMs + RETRY_LOGIN_MS'),
])
weakenTo('warning: ten pages at once cause 10 status checks, at', 'status/ten-at-once', 'checks are not shared', [
  change('session.checking ??= ', 'session.checking = '),
])
const SHARED = 'session.checking ??= checkStatus(req, session)'
weakenTo('warning: ten pages at once cause 10 status checks, one', 'status/ten-at-once', 'each page checks in turn', [
  change(SHARED, 'session.checking = Promise.resolve(session.checking).then(() => checkStatus(req, session))'),
])
weaken('status/new-session-id', 'the login of a status check keeps the session ID', [
  change(LATER_LOGIN, "if (claims.sts === 'loggedin' && !session.user) session.user = await userOf(claims.at)"),
])
weaken('status/login-elsewhere', 'a login on another site is not noticed', [NO_LATER_LOGIN])
weaken(['status/logout-elsewhere', 'status/other-account'], 'a terminated SSO session does not end the session', [
  change("if (claims.sts === 'terminated' || claims.err ===", 'if (claims.err ==='),
])
weaken('status/logout-while-reading', 'each page moves the next status check on', [
  before('if (!isForced && (isYoung', 'if (!isForced && isYoung) session.checkedAt = Date.now()'),
])
const HAS_ENDED = "if (claims.sts === 'terminated' || claims.err === 'session_not_found')"
weakenTo('failed: the page responds 500', 'status/session-not-found', 'a removed SSO session is an error', [
  change(HAS_ENDED, "if (claims.err) throw new Error(claims.err)\n    if (claims.sts === 'terminated')"),
])
weakenTo('failed: no page load', 'status/session-not-found', 'a removed SSO session is kept without its user', [
  before(HAS_ENDED, 'if (claims.err) return void (session.user = undefined)'),
])
const REFUSED = "if (!claims || (claims.sid !== session.sid && claims.err !== 'session_not_found')) return"
weaken('status/wrong-session', 'the session in a response is not compared', [change(REFUSED, 'if (!claims) return')])
const SERVED = change('const isVerified = Date.now() - session.verifiedAt < 5000', 'const isVerified = true')
weaken('status/sensitive-unverified', 'a sensitive page does not look whether its status check worked', [SERVED])
weaken('status/sensitive-page', 'a sensitive page relies on the last status check', [
  change('await fresh(req, req.session, true)', 'await fresh(req, req.session)'),
  SERVED,
])

/* login */
const CALL_AUTHENTICATE = "const claims = await callSso('authenticate', { sid, usr, pwd, ...deviceOf(req) })"
const LOGGED_IN = 'beginSession(req, res, { sid: session.sid, user: result.user })\n    res.redirect(303, next)'
weakenTo('failed: the login ends with 500', 'login/right-password', 'a login ends with an error', [
  change(LOGGED_IN, LOGGED_IN.replace('redirect(303, next)', "status(500).send('')")),
])
weaken(['login/new-session-id', 'session/not-fixed-by-attacker'], 'a login keeps the session ID of the browser', [
  change('const id = random()\n', "const id = cookieOf(req, 'session') ?? random()\n"),
  change('if (old) sessions.delete(old.id)', 'void old'),
])
weaken('login/return-address', 'the return address of the form is followed as it is', [
  change("const next = pathHere(req.body?.next) ?? '/'", "const next = req.body?.next ?? '/'"),
])
weakenTo('failed: a form on another site (Sec-Fetch-Site: cross-site', 'login/foreign-form', 'all forms log in', [
  change("app.post('/login', sameOrigin, postLogin)", "app.post('/login', postLogin)"),
])
const FOREIGN_FORMS = ['login/foreign-form', 'logout/foreign-form']
weakenTo('failed: a form on a page of a sibling domain (Sec-Fetch-Site: same-site', FOREIGN_FORMS, 'siblings may', [
  before("const from = req.get('sec-fetch-site')", "if (req.get('sec-fetch-site') === 'same-site') return next()"),
])
weaken('login/double-submit', 'each click calls Authenticate', [change('await logins.get(key)', 'await login(req)')])
weakenTo('failed: two clicks with a wrong', 'login/double-submit', 'a login that fails is not shared', [
  change('await logins.get(key)', 'await logins.get(key).then((done) => (done.user ? done : login(req)))'),
])
weaken('login/same-username', 'a login in progress is shared by its username', [
  change('const key = session.id', "const key = String(req.body?.username ?? '')"),
])
const MODULE = 'const logins = new Map()'
weaken('login/guesses-at-once', 'an attempt is counted after its answer', [
  change(
    "const claims = await callSso('authenticate', { sid, usr, pwd, ...deviceOf(req) })",
    "const count = (name) => sessions.get(`wrong ${name}`)?.count ?? 0\n    if (count(usr) > 2) return { status: 429, message: NOT_NOW }\n    const claims = await callSso('authenticate', { sid, usr, pwd, ...deviceOf(req) })\n    if (claims?.err) sessions.set(`wrong ${usr}`, { count: count(usr) + 1 })",
  ),
])
weaken('login/two-users', 'the ticket is a variable of the module', [
  before(MODULE, 'let lastTicket'),
  after(
    'async function userOf(ticket) {',
    'lastTicket = ticket\n    await new Promise((done) => setTimeout(done, 200))\n    ticket = lastTicket',
  ),
])
weaken('rest/own-token', 'the access token is a variable of the module', [
  before(MODULE, 'let access'),
  change('const access = token?.status', 'access = token?.status'),
])
const CALL_REST = 'const response = await rest(method, path, req.user.access, body)'
weakenTo('passed', 'rest/own-token', 'calls are repeated in the background', [
  before(CALL_REST, 'setTimeout(() => rest(method, path, req.user?.access, body), 10)'),
])
weakenTo('failed: the page /gift of a user', 'rest/own-token', 'responses are kept for all users', [
  before(MODULE, 'const kept = {}'),
  change(CALL_REST, CALL_REST.replace('await', 'kept[path] ??= await')),
])
const REPEATED = change(
  'async function callSso(',
  `const callSso = async (...words) =>
    (await callOnce(...words)) ?? (await callOnce(...words)) ?? (await callOnce(...words)) ?? callOnce(...words)
  async function callOnce(`,
)
weakenTo('failed: the password was sent 2 times (so is', 'login/lost-response', 'calls are repeated', [REPEATED])
weakenTo('failed: the site sends the call that fails 4 times', 'outage/page-hang', 'calls are repeated', [REPEATED])
weakenTo('failed: the site calls Session Status 4', 'outage/page-status-429', 'calls are repeated', [REPEATED])
weaken('login/password-stays-nowhere', 'the form is logged', [
  before(CALL_AUTHENTICATE, "console.log('login', req.body)"),
])
const COUNTED = ['login/wrong-password', 'login/frozen-account']
weakenTo('warning: the page does not say', COUNTED, 'the numbers are those of every page', [
  change('<h1>Log in</h1>', '<h1>Log in: step 1 (12:30)</h1>'),
  change(' ${raa} attempts are left.'),
  change(' for ${Math.ceil(frf / 3600)} hours'),
])
for (const [check, code] of [
  ['login/inactive-account', 'account_not_active'],
  ['login/session-limit', 'session_limit_reached'],
  ['login/expired-one-time-password', 'otp_consumed_or_expired'],
])
  weaken(check, `${code} is an error`, [
    after('function messageOf({ err, raa, frf }) {', `if (err === '${code}') throw new Error(err)`),
  ])
weaken('login/one-time-password', 'short passwords are not sent', [
  before(CALL_AUTHENTICATE, "if (pwd.length < 8) return { status: 401, message: 'Too short.' }"),
])
const IS_OVER = "if (isOver || claims.err === 'session_already_logged_in_on_another_account') return { isOver: true }"
const SESSION_OVER = ['login/session-terminated', 'login/session-not-found']
weakenTo('failed: the user gets 500', SESSION_OVER, 'an SSO session that is over is an error', [
  before(IS_OVER, "if (isOver) throw new Error('over')"),
])
weakenTo('failed: the user gets 500', 'login/other-account', 'another account is an error', [
  before(IS_OVER, "if (claims.err?.startsWith('session_already')) throw new Error(claims.err)"),
])

const TYPED = "const { username: usr = '', password: pwd = '' } = req.body ?? {}"
weakenTo("failed: the username O'Neil+News", 'login/any-password', 'a plus in the username becomes a space', [
  change(TYPED, `${TYPED.replace('username: usr', 'username')}\n    const usr = username.replaceAll('+', ' ')`),
])
weakenTo('failed: the page after a login', 'login/escaped-input', 'the return address is not escaped', [
  change('value="${escapeHtml(next)}"', 'value="${decodeURIComponent(next)}"'),
])

/* logout */
const LOG_OUT = 'const { session } = req\n    if (session) {'
const END_ALL_OF_SID = 'for (const one of [...sessions.values()]) if (one.sid === session.sid) endSession(one)'
const REMEMBER_END = 'endedHere.set(session.sid, true)'
const CALL_LOGOUT =
  "if (!isDown && (await callSso('logout', { sid: session.sid, ...deviceOf(req) }))) logouts.delete(session.sid)"
const KEEP_LOGOUT = 'logouts.set(session.sid, deviceOf(req))'
weakenTo('failed: the user is still logged in', 'logout/here', 'a logout ends the session of the site only', [
  change(CALL_LOGOUT),
  change(KEEP_LOGOUT),
  change(REMEMBER_END),
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
weaken('logout/platform-informed-later', 'a logout that failed is forgotten', [change(KEEP_LOGOUT)])
const ENDED_MEANWHILE = 'const isEnded = endedHere.has(claims.sid) // a logout may have come meanwhile'
weaken('logout/landing-in-progress', 'a landing does not look for a logout that came meanwhile', [
  change(ENDED_MEANWHILE, 'const isEnded = !isWanted'),
  change('if (endedHere.has(session.sid)) return renewAfterLogout(session)'),
])
const CALL_LOGOUT_ALL = "await callSso('logoutall', { aid: id, ...deviceOf(req) })"
weaken('logout/all-sessions', 'the platform is not informed', [change(CALL_LOGOUT_ALL)])

/* session */
const CACHE = "'Cache-Control': 'private, no-store',"
for (const [what, replace] of [
  ['scripts can read the session cookie', 'SameSite=Lax; Path=/'],
  ['no SameSite=Lax or Strict', 'HttpOnly; Path=/'],
  ['no Path', 'HttpOnly; SameSite=Lax'],
  ['is sent to other hosts', 'HttpOnly; SameSite=Lax; Domain=127.0.0.1; Path=/'],
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
weakenTo('failed: one of twelve', 'session/parallel-requests', 'a session serves one request at a time', [
  change(
    'req.session = session\n',
    'if (session?.isBusy) return identify(req, res)\n    if (session) session.isBusy = true\n    await new Promise((done) => setTimeout(done, 20))\n    if (session) session.isBusy = false\n    req.session = session\n',
  ),
])
weaken('session/escaped-name', 'the name is not escaped', [
  change('<p>Hello ${escapeHtml(req.user.name)}', '<p>Hello ${req.user.name}'),
])
weaken('session/tokens-stay-on-server', 'the front page has the access token', [
  change('`<p>Hello ${', '`<p data-token="${req.user.access}">Hello ${'),
])
weakenTo('failed: an SSO session ID', 'session/tokens-stay-on-server', 'a cookie has the SSO session ID', [
  before('const found = sessionOf(req)', "res.cookie('sso', sessionOf(req)?.sid)"),
])
const REMOTE = "ipa: req.socket.remoteAddress ?? ''"
weakenTo('warning', 'calls/user-address', 'ipa is the address of a container', [change(REMOTE, "ipa: '172.17.0.1'")])
weakenTo("failed: an access token is in the site's output (printed", 'calls/secrets-in-output', 'tokens are printed', [
  before("if (typeof access !== 'string') return undefined", 'console.log(`Bearer ${access}`)'),
])

weaken('login/log-injection', 'usernames are logged as they are', [
  before('const { sid } = req.session', 'console.log(`login of ${usr}`)'),
])
weaken('headers/stack-trace', 'errors are shown', [
  change("send('<p>This request could not be read.</p>')", 'send(error.stack)'),
  before('const { path, binding } = splitReturn', "if (!query.get('t')?.includes('.')) throw new Error('no token')"),
])

/* outage */
const TOKENS = [...HTTP, 'wrong-signature']
const NO_RESPONSE = 'if (!claims || (claims.sid !== session.sid'
const CHECKED = 'if ((claims.sid !== session.sid'
weaken(cells('page', ...TOKENS, 'status-429'), 'a failed status check ends the session', [
  change(NO_RESPONSE, `if (!claims) return endSession(session)\n    ${CHECKED}`),
])
weaken(cells('login', ...TOKENS, 'status-429'), 'a failed call is taken for a wrong password', [
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
weaken(cells('ticket', ...HTTP, 'status-502'), 'a failed exchange is an error', FAILED_USER_THROWS)
weaken(cells('user', ...HTTP), 'a user that cannot be loaded is an error', FAILED_USER_THROWS)
weaken('outage/new-visitors', 'visitors are redirected to a dead platform', [
  change('!hasTried && !isDown', '!hasTried'),
])
weaken('outage/recovery', 'the site never notices that the platform is back', [
  change('isDown = false\n      lastResponseAt', 'lastResponseAt'),
])
const NOT_NOTED = change('Date.now() - recheckMs + RETRY_LOGIN_MS', 'session.checkedAt')
weaken('status/retry-pause', 'the time of a check that failed is not noted', [NOT_NOTED])
weaken('outage/few-calls', 'every page calls a dead platform', [change('(isYoung || isDown)', 'isYoung'), NOT_NOTED])
const DOWN = 'failed: the platform does not respond, and the user is '
weakenTo(`${DOWN}still shown`, 'outage/grace-period', 'a user stays logged in for ever', [
  change('Date.now() - verifiedAt > recheckMs + graceMs', 'false && verifiedAt'),
])
weakenTo(`${DOWN}shown again`, 'outage/grace-period', 'a failed check begins the grace period again', [
  before(FRESH, 'const isPast = found && isPastGrace(found)'),
  change('session && !isPastGrace(session) ?', 'session && !isPast ?'),
  change(NO_RESPONSE, `session.verifiedAt = Date.now()\n    ${NO_RESPONSE}`),
])

weaken('session/shared-cache', 'a page that does not exist shows the user, and may be kept', [
  before(
    "app.get('/sensitive'",
    "app.get('/examined-page-that-does-not-exist', (req, res) =>\n    res.status(404).set('Cache-Control', 'public, max-age=60').send(`<p>Not found, ${escapeHtml(req.user?.name ?? '')}</p>`))",
  ),
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
const REST_CHECKS = ['rest/marketplace', 'rest/gift', 'rest/administrators', 'rest/user', 'rest/expired-token']
weaken(REST_CHECKS, 'a refused call of the REST API is an error', [
  before('const { session } = req\n    const isFirst', "if (response?.status !== 200) throw new Error('refused')"),
])
const OF_GROUPS = ['rest/marketplace', 'rest/expired-token']
weakenTo('passed', OF_GROUPS, 'the groups of the start are kept for a minute', [
  before(MODULE, 'const until = Date.now() + 60_000'),
  change(CALL_REST, CALL_REST.replace('await', '/groups/.test(path) && Date.now() < until ? { status: 200 } : await')),
])
weaken('rest/kept-failure', 'each response is kept, also a failure', [
  before(MODULE, 'const kept = {}'),
  change(CALL_REST, `${CALL_REST.replace('await ', 'await (kept[path + req.user.access] ??= ')})`),
])
weaken('rest/expired-token', 'an access token is given up after some seconds', [
  before(
    'const response = await rest(method, path, req.user.access, body)',
    'req.session.began ??= Date.now()\n    if (Date.now() - req.session.began > 3600) return identify(req, res)',
  ),
])

/* calls */
weakenTo('warning', 'calls/valid-tokens', 'the token of a logout has expired', [
  change(
    'JSON.stringify({ t: sign(claims) })',
    "JSON.stringify({ t: sign(operation === 'logout' ? { ...claims, exp: 1 } : claims) })",
  ),
])
weaken('landing/anonymous', 'err of a landing token is not looked at', [
  change(REFUSED_LANDING, 'if (!claims || !isBound)'),
])
weakenTo('failed: after a landing whose token has err, its', 'landing/anonymous', 'a login needs sid', [
  change(REFUSED_LANDING, 'if (!claims || !isBound)'),
  before('const { sid } = req.session', 'if (!req.session.sid) return { status: 400, message: NOT_NOW }'),
])
weaken('landing/other-secret', 'a ticket is exchanged before its token is verified', [
  before(
    READ_TOKEN,
    "const { at } = JSON.parse(Buffer.from(String(tokens[0]).split('.')[1] ?? '', 'base64url').toString() || '{}')\n    const early = at ? await userOf(at) : undefined",
  ),
  change(LOAD_USER, 'const user = isWanted ? early : undefined'),
])
weakenTo(`${EXCHANGED} again a second later, by a browser whose cookie`, 'ticket/once', 'a login sets no new cookie', [
  EARLY,
  change("sessions.get(cookieOf(req, 'session'))", "sessions.get(cookieOf(req, 'browser'))"),
  change('const id = random()', "const id = cookieOf(req, 'browser')"),
  change("res.append('Set-Cookie', `session=${id}; ${cookieFlags}`)"),
])
weaken('ticket/once', 'used landing tokens are noted by their SSO session', [
  change('usedTokens.has(signature)', 'usedTokens.has(claims.sid)'),
  change('usedTokens.set(signature,', 'usedTokens.set(claims.sid,'),
])
weaken(['ticket/refused', 'identify/no-loop'], 'a login that failed is tried again at once', [
  change('const RETRY_LOGIN_MS = 2000', 'const RETRY_LOGIN_MS = -1'),
])
weaken('identify/navigations-only', 'Sec-Purpose is compared as a whole', [
  change(
    "/prefetch|prerender/i.test(req.get('sec-purpose') ?? req.get('purpose') ?? '')",
    "(req.get('sec-purpose') ?? req.get('purpose')) === 'prefetch'",
  ),
])
weaken('status/login-elsewhere', 'lks is always loggedin', [
  change("const lks = session.user ? 'loggedin' : 'anon'", "const lks = 'loggedin'"),
])
weaken('status/logout-while-reading', 'sessions are checked ten times too often', [
  change('(env.RECHECK_SECONDS ?? 360) * 1000', '(env.RECHECK_SECONDS ?? 360) * 100'),
])
weakenTo('failed: while Session Status', 'identify/no-loop', 'a sensitive page identifies without a count', [
  change("res.redirect(303, '/login?next=/sensitive')", 'identify(req, res)'),
])
weakenTo('undecided: the site did not call token', 'identify/no-loop', 'a landing logs nobody in', [
  change("if (claims.sts === 'loggedin' && !claims.at)", "if (claims.sts === 'loggedin')"),
])
weaken('ticket/others-after-refusals', 'a refused ticket counts as a failure of the platform', [
  before('const access = token?.status', 'if (token?.status !== 200 && (failures += 1) > 2) isDown = true'),
  before("const claims = await callSso('authenticate'", 'if (isDown) return { status: 503, message: NOT_NOW }'),
])
weakenTo('failed: after a login whose', 'login/way-back', 'the return address is lost on the way through Identify', [
  change('`/login?next=${encodeURIComponent(next)}`)\n    if (!result.user)', "'/login')\n    if (!result.user)"),
])
weaken('login/return-address', 'the return address is lost', [
  change(LOGGED_IN, LOGGED_IN.replace('303, next', "303, '/'")),
])
weaken('login/escaped-input', 'a form without its fields is an error', [
  change(TYPED, 'const { username, password: pwd } = req.body\n    const usr = username.normalize()'),
])
weakenTo('failed: the name', 'login/any-password', 'responses are read as Latin-1', [
  change("toString('utf8')", "toString('latin1')"),
])
const LOGIN_PAGE = "app.get('/login', (req, res) => {"
weaken('login/foreign-form', 'a link logs in', [
  after(LOGIN_PAGE, 'if (req.query.password) return postLogin(Object.assign(req, { body: req.query }), res)'),
])
weakenTo('failed: after three wrong', 'login/wrong-password', 'a wrong password counts as a failure of the platform', [
  change('if (answer) {\n      failures = 0', 'if (answer && !answer.err) {\n      failures = 0'),
])
weaken('logout/foreign-form', 'a form of any origin logs out of all sessions', [
  change("app.post('/logout-all', sameOrigin, logoutAll)", "app.post('/logout-all', logoutAll)"),
])
weaken('logout/all-sessions', 'aid is not the ID of the account', [
  change(CALL_LOGOUT_ALL, CALL_LOGOUT_ALL.replace('aid: id', 'aid: req.user.name')),
])
weaken('outage/login-wrong-session', 'the session in the response of Authenticate is not compared', [
  change('if (claims.sid !== sid || claims.sts', 'if (claims.sts'),
])
weaken('headers/cross-origin', 'every origin may read the pages', [
  before(
    'app.use(whoIsIt)',
    "app.use((req, res, next) => {\n      res.set({ 'Access-Control-Allow-Origin': req.get('origin') ?? '*', 'Access-Control-Allow-Credentials': 'true' })\n      next()\n    })",
  ),
])
weaken('rest/gift', 'the call has no content type', [
  change(", 'content-type': 'application/json' },\n      ...(body", ' },\n      ...(body'),
])
weaken('landing/two-tabs', 'each Identify redirect overwrites the cookie of the one before', [
  change('if (known !== undefined) return known', 'void known'),
])
const LOST_QUERY = [before(BACK, "path = path.split('?', 1)[0]")]
weakenTo('failed: each tab ends at / without the query', 'landing/two-tabs', 'the query is lost', LOST_QUERY)
weakenTo(
  'failed: the redirect to Identify has lost the query',
  'identify/return-address',
  'the query is lost',
  LOST_QUERY,
)
weakenTo('not applicable', 'login/way-back', 'the query is lost', LOST_QUERY)
weakenTo('failed: 5 tabs', 'landing/two-tabs', 'three redirects can be in flight', [
  before(MODULE, 'const issued = []'),
  before(BACK, 'issued.push(path)'),
  change(BOUND, `${BOUND} && issued.slice(-3).includes(path)`),
])
weakenTo('failed: the page after the login shows Quolazor', 'login/right-password', 'the user is kept for all', [
  before(MODULE, 'let kept'),
  change('await userOf(claims.at)\n    return user', '(kept ??= await userOf(claims.at))\n    return user'),
])
weakenTo('warning: a second tab', 'landing/other-account', 'the landing page keeps who is logged in', [
  before(USED, 'if (current?.user) return res.redirect(303, path)'),
])
weakenTo('failed: the page of a visitor', 'ticket/refused', 'the session counts as logged in without a user', [
  change(LOAD_USER, 'const user = isWanted ? ((await userOf(claims.at)) ?? {}) : undefined'),
])
weakenTo('failed: the next call', 'status/wrong-session', 'the session takes over sid of each response', [
  before(REFUSED, 'if (claims?.sid && session.user) session.sid = claims.sid'),
])
weakenTo('failed: after a script', 'login/way-back', 'each GET request is the page to return to', [
  before('const hasTried =', "if (session && req.path === '/') session.last = req.originalUrl"),
  change('pathHere(req.body?.next)', 'pathHere(req.session?.last ?? req.body?.next)'),
])
weakenTo('failed: the platform responds session_not_found', 'logout/here', 'err of a logout is an error', [
  change(
    CALL_LOGOUT,
    "if ((await callSso('logout', { sid: session.sid, ...deviceOf(req) }))?.err) throw new Error('over')",
  ),
])
weakenTo('failed: a cookie that cannot', 'session/not-fixed-by-attacker', 'a cookie of the page must be JSON', [
  before('const found = sessionOf(req)', "JSON.parse(cookieOf(req, 'prefs') ?? '{}')"),
])
weaken('session/revalidation', 'the ETag is that of the article', [
  change(CACHE, "'Cache-Control': 'private, no-cache',\n      ETag: '\"article\"',"),
])
weaken('session/spellings', 'the path is compared with a text', [
  change('app.use((_req, res, next) => {', 'app.use((req, res, next) => {'),
  change(CACHE, "...(/^\\/\\w*$/.test(req.path) && { 'Cache-Control': 'private, no-store' }),"),
])
weakenTo('warning: the page /notes', 'session/equal-names', 'notes are public', [
  change('notes.get(req.user?.id)', 'notes.get(0)'),
  change('notes.set(req.user.id', 'notes.set(0'),
])
weakenTo('failed: the page /notes shows the reader with', 'session/equal-names', 'IDs are numbers', [
  change('notes.get(req.user?.id)', 'notes.get(Number(req.user?.id) || req.user?.id)'),
  change('notes.set(req.user.id', 'notes.set(Number(req.user.id) || req.user.id'),
])
weaken('landing/unknown-claim', 'a token with one more claim is refused', [
  before('if (claims.iss !== env.SSO2_IDENTIFIER)', 'if (claims.added_later) return undefined'),
])
weaken('identify/return-address', 'the return address has the host of the request', [
  change('const back = `${site}${path}', "const back = `http://${req.get('host')}${path}"),
])
weaken('status/invalid-token', 'any err ends the session', [
  change(HAS_ENDED, "if (claims.sts === 'terminated' || claims.err)"),
])
weaken('outage/grace-period', 'only a user who is shown can log out', [
  before(LOG_OUT, "if (!req.user) return res.redirect(303, '/')"),
])
weaken('status/visitor-session-ended', 'the end of an anonymous SSO session is not looked at', [
  before(HAS_ENDED, 'if (!session.user && (claims.err || claims.sts === "terminated")) return'),
])
weaken('ticket/login-form', 'a user that cannot be loaded after a login is an error', [
  change('return user ? { user } : { isOver: true }', "if (!user) throw new Error('no user')\n    return { user }"),
])
weaken('login/right-password', 'the user is what was typed', [
  change('await userOf(claims.at)\n    return user', '{ id: usr, name: usr }\n    return user'),
])
weaken('login/second-tab', 'a logged-in user cannot log in', [
  before('const { sid } = req.session', "if (req.user) throw new Error('logged in already')"),
])
weakenTo('warning', 'logout/older-tab', 'the form of the logout has a token of its session', [
  change('</p>${logoutForms}`', '</p>${logoutForms.replace(\'/logout"\', `/logout?for=${req.session.id}"`)}`'),
  before(LOG_OUT, 'if (req.query.for !== req.session?.id) return res.sendStatus(403)'),
])
weaken('logout/here', 'a logout ends all sessions', [change(END_ALL_OF_SID, 'sessions.clear()')])
weaken('session/cookie-flags', 'the cookies are SameSite=Strict', [change('SameSite=Lax', 'SameSite=Strict')])
for (const [what, replace] of [
  ['the ID is a hash of the SSO session ID', "crypto.createHash('sha256').update(content.sid).digest('hex')"],
  ['only some signs of the ID are random', '`${Date.now().toString(16)}-${Math.random().toString(16).slice(2, 10)}`'],
])
  weaken('session/random-id', what, [change('const id = random()', `const id = ${replace}`)])
const COOKIE_HEADER = "(req.headers.cookie ?? '')"
weakenTo('failed: with the cookie odd=', 'session/foreign-cookies', 'a cookie that is odd hides all others', [
  change(`${COOKIE_HEADER}\n`, `(/"/.test(req.headers.cookie) ? '' : ${COOKIE_HEADER})\n`),
])
weaken('session/foreign-cookies', 'the first cookie is found whose name ends like that of the session', [
  change(
    "sessions.get(cookieOf(req, 'session'))",
    "sessions.get(/session=([^;]*)/.exec(req.headers.cookie ?? '')?.[1])",
  ),
])
weakenTo('failed: while sessionstatus of one', 'outage/one-slow-user', 'one call of the SSO system at a time', [
  change(
    'async function callSso(',
    'let last = Promise.resolve()\n  const callSso = (...words) => (last = last.then(() => callNow(...words)))\n  async function callNow(',
  ),
])
weaken('identify/fresh-token', 'one request token serves every redirect', [
  change('identify?t=${sign({})}', 'identify?t=${(env.shared ??= sign({}))}'),
])
weakenTo('failed: iat of', 'identify/fresh-token', 'request tokens are dated back', [
  change('const now = Math.floor(Date.now() / 1000)', 'const now = Math.floor(Date.now() / 1000) - 3'),
])
weakenTo('failed: GET / of a new browser gets Set-Cookie', 'session/shared-connection', 'cookies to set are kept', [
  change("res.append('Set-Cookie', `session=", "res.append('Set-Cookie', req.socket.line = `session="),
  before("const known = cookieOf(req, 'browser')", "if (req.socket.line) res.append('Set-Cookie', req.socket.line)"),
])
weakenTo('failed: GET / of a new browser shows', 'session/shared-connection', 'the user is kept', [
  change('req.user = session &&', 'req.user = req.socket.user ??= session &&'),
])
weaken('calls/device', 'a logout has no User-Agent', [
  change(
    "callSso('logout', { sid: session.sid, ...deviceOf(req) })",
    "callSso('logout', { sid: session.sid, ...deviceOf(req), uas: 'site' })",
  ),
])
weaken('headers/server-errors', 'the User-Agent is needed', [
  change("uas: req.get('user-agent') ?? ''", "uas: req.get('user-agent').trim()"),
])
weaken('outage/login-redirect', 'redirects are followed', [change("redirect: 'manual'", "redirect: 'follow'")])
const EXCHANGE = 'await request(env.SSO2_TOKEN_URL, {'
weaken('outage/ticket-down', 'an exchange that failed is repeated', [
  change(EXCHANGE, `(${EXCHANGE} method: 'POST', body: new URLSearchParams(form) })) ?? ${EXCHANGE}`),
])
weaken('landing/anonymous-tab', 'an anonymous landing always begins a session', [
  change("claims.sts === 'anon' && current?.user && current.sid === claims.sid", 'current === 0'),
])
weaken('login/other-visitors', 'wrong passwords are counted for the whole site', [
  before(MODULE, 'let wrong = 0'),
  before(CALL_AUTHENTICATE, 'if (wrong > 4) return { status: 429, message: NOT_NOW }'),
  before('if (claims.err) return { status: 401', 'if (claims.err) wrong += 1'),
])
for (const field of ['name', 'username'])
  weaken('session/equal-names', `notes are found by ${field}`, [
    change('name: String(item.name), access }', 'name: String(item.name), username: item.username, access }'),
    change('notes.get(req.user?.id)', `notes.get(req.user?.${field})`),
    change('notes.set(req.user.id', `notes.set(req.user.${field}`),
  ])
weakenTo('failed: another account with the same display name', 'logout/all-sessions', 'sessions are found by name', [
  change('if (one.user?.id !== id) continue', 'if (one.user?.name !== req.user.name) continue'),
])
weakenTo('warning: a browser without', 'identify/shared-address', 'the mark of a redirect holds for ever', [
  change('Math.abs(Date.now() - triedAt) < MARK_MS', 'triedAt > 0'),
])
weakenTo('warning: a known bot', 'identify/navigations-only', 'bots are not known', [change('/(?<!cu)bot|', '/')])
weakenTo('failed: a phone', 'identify/navigations-only', 'CUBOT is taken for a bot', [change('/(?<!cu)bot|', '/bot|')])
weakenTo('failed: a prefetch gets', 'identify/navigations-only', 'a prefetched page is kept', [
  before('const found = sessionOf(req)', "if (isPrefetch(req)) res.set('Cache-Control', 'max-age=60')"),
])
weakenTo('failed: a fetch', 'identify/navigations-only', 'Accept: */* is a page load', [
  change("/text\\/html/i.test(req.get('accept') ?? '')", "req.accepts('html')"),
])
weakenTo('failed: iat of', 'identify/fresh-token', 'times are rounded', [
  change('const now = Math.floor(', 'const now = Math.round('),
])
weakenTo('failed: the page / has a link', 'identify/fresh-token', 'a link to Identify is made with the page', [
  change(
    '<a href="/login?next=/">Log in</a>\'',
    '<a href="/login?next=/">Log in</a>\' + `<a href="${env.SSO2_URL}/identify?t=${sign({})}">Log in</a>`',
  ),
])
weakenTo('failed: with a t of an hour', 'landing/parameters', 'an expired token ends the session', [
  before(REFUSED_LANDING, 'if (!claims && tokens[0]?.length > 9 && sessionOf(req)) endSession(sessionOf(req))'),
])
weakenTo('failed: after a wrong password', 'login/way-back', 'the return address is that of Referer', [
  change("loginForm(pathHere(req.query.next) ?? '/')", "loginForm(pathHere(req.get('referer')) ?? '/')"),
  change('.send(loginForm(next, result.message', ".send(loginForm(pathHere(req.get('referer')), result.message"),
])
weakenTo('failed: a login that begins', 'login/way-back', 'the link to the login has an address without encoding', [
  change('\'<a href="/login?next=/">', '`<a href="/login?next=${escapeHtml(req.originalUrl)}">'),
  change('">Log in</a>\',', '">Log in</a>`,'),
])
weakenTo('failed: the second try', 'login/other-account', 'another account is an error like any other', [
  change(IS_OVER, 'if (isOver) return { isOver: true }'),
])
weakenTo('failed: while the platform takes', 'login/double-submit', 'the session is locked during a login', [
  before(
    'const found = sessionOf(req)',
    'while (sessionOf(req)?.isBusy) await new Promise((done) => setTimeout(done, 20))',
  ),
  before('const result = await logins.get(key)', 'session.isBusy = true'),
  after('const result = await logins.get(key)', 'session.isBusy = false'),
])
weakenTo('failed: a browser that sends no', 'login/right-password', 'uas may be missing', [
  change("uas: req.get('user-agent') ?? ''", "uas: req.get('user-agent')"),
])
for (const [found, check, key] of [
  ['failed: the user has another name', 'login/new-name', 'account_id'],
  ['failed: of two users', 'login/without-email', 'contact_email'],
])
  weakenTo(found, check, `the name of the first login is kept by ${key}`, [
    before(MODULE, 'const names = {}'),
    change('name: String(item.name)', `name: (names[item.${key}] ??= String(item.name))`),
  ])
weakenTo('failed: a user whose name has 150', 'login/new-name', 'a header has the name', [
  before('sessions.set(id, {', "if (content.user) res.set('X-Reader', content.user.name)"),
])
const OF_OWNER = 'req.user && req.body?.owner === ownerOf(req)'
weaken('session/former-form', 'a form is stored for whoever is logged in', [change(OF_OWNER, 'req.user')])
weakenTo('failed: a form', 'status/other-account', 'a form is kept over Identify', [
  before(`if (${OF_OWNER})`, 'if (!req.user) env.kept = req.body'),
  before('const owner = `', 'if (req.user && env.kept) notes.set(req.user.id, env.kept.note)'),
])
weakenTo('failed: the page after', 'logout/here', 'the way back from Identify leads to the logout', [
  ...BY_GET,
  after(CALL_LOGOUT, "return identify(req, res, '/logout')"),
])
const WITH_API = change(
  '<p>Hello ${escapeHtml(req.user.name)}',
  '<p data-api="/api/me">Hello ${escapeHtml(req.user.name)}',
)
weakenTo('failed: a fetch call', 'status/logout-elsewhere', 'a route for scripts stands before the status check', [
  WITH_API,
  before('app.use(whoIsIt)', "app.get('/api/me', (req, res) => res.json(sessionOf(req)?.user ?? {}))"),
])
weakenTo('failed: with what a script had', 'logout/here', 'scripts have a credential of their own', [
  WITH_API,
  before(MODULE, 'const keys = {}'),
  before('sessions.set(id, {', 'keys[id] = content.user\n    res.append("Set-Cookie", `api=${id}`)'),
  before('app.use(whoIsIt)', "app.get('/api/me', (req, res) => res.json(keys[cookieOf(req, 'api')] ?? {}))"),
])
weakenTo('failed: the page of a visitor', 'ticket/user-without-id', 'a login may have a user without name', [
  change('return user ? { user } : { isOver: true }', "return { user: user ?? { id: '', name: '' } }"),
])
weakenTo('failed: the page of a visitor', 'ticket/login-form', 'a user without data is made up', [
  change('access } : undefined', "access } : { id: null, name: 'Reader', access }"),
])
weaken('outage/health-page', 'the health page asks the platform', [
  change(
    "(_req, res) => res.send('This process runs.')",
    'async (_req, res) => res.sendStatus((await probe()) ? 200 : 503)',
  ),
])
weakenTo('failed: GET /login responds 503', 'headers/cache-control', 'caches keep an error page', [
  after(LOGIN_PAGE, "if (isDown) return res.status(503).set('Cache-Control', 'max-age=300').send('')"),
])
weakenTo('failed: a visit of http://localhost', 'identify/return-address', 'a landing without its cookie is an error', [
  before(REFUSED_LANDING, "if (!browser) return res.status(400).send('Invalid state.')"),
])
weakenTo('failed: the page shows a value', 'login/session-limit', 'raa is shown for each refusal', [
  after('function messageOf({ err, raa, frf }) {', "if (err === 'session_limit_reached') return `${raa} left`"),
])
const NO_SESSION = "if (!session) return res.redirect(303, '/login')"
weaken(['session/escaped-name', 'login/escaped-input'], 'the page after an old login form escapes nothing', [
  before(NO_SESSION, 'if (req.user) return res.status(409).send(req.user.name + req.body.username)'),
])
const READ_WHOLE = [change('if (size > MAX_RESPONSE_BYTES) return undefined')]
const HUGE = ['page', 'login', 'logout', 'ticket', 'user'].map((operation) => `outage/${operation}-huge`)
weakenTo('failed: the site reads a response of 20 MB', HUGE, 'responses are read whole', READ_WHOLE)
weakenTo('failed: with 20 MB from the REST API', 'rest/gift', 'responses are read whole', READ_WHOLE)
const LATE = before(CALL_REST, 'await new Promise((done) => setTimeout(done, isLate() ? 6000 : 0))')
for (const [found, name, isLate] of [
  ['undecided: while the REST API works', 'the machine is busy', 'const isLate = () => true'],
  ['passed', 'the machine is busy for a moment', 'let calls = 0\n  const isLate = () => (calls += 1) === 2'],
])
  weakenTo(found, 'rest/gift', name, [before(MODULE, isLate), LATE])
weakenTo('failed: after the access token was renewed', 'rest/expired-token', 'a page keeps its first access token', [
  change('renewedAt: old?.renewedAt })', 'renewedAt: old?.renewedAt, first: old?.first ?? content.user?.access })'),
  change(CALL_REST, CALL_REST.replace('req.user', "(path.endsWith('/me') ? { access: req.session.first } : req.user)")),
  change('if (!isFirst) return res.send(', 'if (!isFirst) return res.status(503).send('),
])
weakenTo('failed: after a Logout that failed', 'logout/platform-informed-later', 'a left logout stops all pages', [
  before('const found = sessionOf(req)', "if (logouts.size > 0) throw new Error('a logout is left')"),
])
weakenTo('undecided: while the platform takes', 'logout/platform-informed-later', 'one logout may be left', [
  before(LOG_OUT, 'if (logouts.size > 0) return res.sendStatus(429)'),
])
weakenTo('passed', 'logout/platform-informed-later', 'a logout of all sessions is refused openly', [
  before(
    'const { id } = req.user',
    "if (!(await callSso('logoutall', { aid: req.user.id }))) return res.sendStatus(503)",
  ),
])
weakenTo('passed', 'logout/landing-in-progress', 'a landing takes all that was begun for its return address', [
  before(MODULE, 'const taken = new Set()'),
  change(BOUND, `${BOUND} && !taken.has(binding) && taken.add(binding)`),
])
weakenTo('failed: a landing that began before the logout, and', 'logout/landing-in-progress', 'sessions are compared', [
  change(ENDED_MEANWHILE, 'const isEnded = sessionOf(req) !== current'),
  change('if (endedHere.has(session.sid)) return renewAfterLogout(session)'),
])
const IS_OWN = "if (isOwn && ['null', site, undefined].includes(req.get('origin'))) return next()"
weaken(FOREIGN_FORMS, 'a token of any browser will do', [
  change(
    '<input type="hidden" name="next"',
    '<input type="hidden" name="csrf" value="7"><input type="hidden" name="next"',
  ),
  change('action="/logout">', 'action="/logout"><input type="hidden" name="csrf" value="7">'),
  change(IS_OWN, "if (req.body?.csrf === '7') return next()"),
])
weakenTo('failed: a script with Origin: https://attacker.invalid can read /api', 'headers/cross-origin', 'the API', [
  WITH_API,
  before(
    "app.get('/sensitive'",
    "app.get('/api/me', (req, res) =>\n    res.set({ 'Access-Control-Allow-Origin': req.get('origin'), 'Access-Control-Allow-Credentials': 'true' }).json(req.user))",
  ),
])
weaken('login/return-address', 'the login page has a link to the return address', [
  change('<h1>Log in</h1>', '<h1>Log in</h1><a href="${escapeHtml(env.back)}">Cancel</a>'),
  after(LOGIN_PAGE, 'env.back = req.query.next'),
])
weakenTo('not applicable', 'outage/health-page', 'every address is the front page', [
  change("app.get('/healthz', (_req, res) => res.send('This process runs.'))"),
  before('app.use((error, _req, res, _next)', "app.use((_req, res) => res.send('News'))"),
])
weakenTo('failed: 10 s after', 'outage/recovery', 'logins that failed for the platform are counted for ever', [
  before(MODULE, 'let missed = 0'),
  before(CALL_AUTHENTICATE, 'if (missed > 3) return { status: 503, message: NOT_NOW }'),
  before('if (!claims) return { status: 503', 'if (!claims) missed += 1'),
])

/* what is unusual is an error, or is lost */
const LANDINGS = ['unknown-claim', 'replay-after-logout', 'two-tabs', 'anonymous-tab', 'other-account', 'anonymous']
const UNUSUAL = "if (claims && (claims.added_later || claims.err || sessionOf(req))) throw new Error('unusual')"
weaken(
  [...LANDINGS, 'open-redirect'].map((name) => `landing/${name}`),
  'an unusual landing is an error',
  [before(REFUSED_LANDING, UNUSUAL), change("pathHere(page ?? r) ?? '/'", 'pathHere(page ?? r).toString()')],
)
const REFUSAL = ".send(loginForm(next, result.message, String(req.body?.username ?? '')))"
const INACTIVE = 'login/inactive-account'
weakenTo('failed: the user gets an empty', [...COUNTED, INACTIVE], 'a refusal is empty', [change(REFUSAL, ".send('')")])
const limited = (tries, key) => `if ((${key} = (${key} ?? 0) + 1) > ${tries}) return { status: 429, message: NOT_NOW }`
// biome-ignore format: a table
for (const [found, checks, what, find, replace] of [
  ['failed: with a wrong t: a logged-in', 'landing/parameters', 'a wrong token ends the session', REFUSED_LANDING, `if (!claims && sessionOf(req)) endSession(sessionOf(req))\n    ${REFUSED_LANDING}`],
  ['failed: the form is gone', 'login/wrong-password', 'a refusal has no form', REFUSAL, '.send(result.message)'],
  ['failed: the page keeps the password', 'login/wrong-password', 'the form keeps the password', 'type="password"', 'type="password" value="kept"'],
  ['failed: after a wrong password, the', 'login/wrong-password', 'a session has one try', CALL_AUTHENTICATE, `${limited(1, 'req.session.tries')}\n    ${CALL_AUTHENTICATE}`],
  ['warning: of 8', 'login/guesses-at-once', 'each spelling has its limit', CALL_AUTHENTICATE, `${limited(3, 'env[usr]')}\n    ${CALL_AUTHENTICATE}`],
  ['warning: the page says the same', ['login/frozen-account', INACTIVE], 'all refusals are one sentence', 'messageOf({ err, raa, frf }) {', "messageOf({ err, raa, frf }) {\n    if (err) return 'No.'"],
  ['failed: the form is answered with 307', 'login/right-password', 'the login is 307', LOGGED_IN, LOGGED_IN.replace('303', '307')],
  ['failed: one of the two', 'login/double-submit', 'a second click is an error', 'if (!logins.has(key))', "if (logins.has(key)) throw new Error('busy')\n    else"],
  ['failed: a password with', 'login/any-password', 'passwords are trimmed', CALL_AUTHENTICATE, CALL_AUTHENTICATE.replace('pwd,', 'pwd: pwd.trim(),')],
  ['failed: a user without an e-mail address', 'login/without-email', 'the address is needed', ID, ID.replace('typeof', 'item?.contact_email && typeof')],
  ['failed: the cookies of before the login are logged in too (the site', 'login/new-session-id', 'the old session stays', 'if (old) sessions.delete(old.id)', 'if (old) Object.assign(old, content)'],
  ['failed: the page of an old session is shown before', 'status/old', 'a page does not wait for its check', 'await session.checking\n', '\n'],
  ['failed: one of ten pages', 'status/ten-at-once', 'a session has one page at a time', SHARED, `if (session.checking) return undefined\n      ${SHARED}`],
  ['failed: the user of a removed', 'status/session-not-found', 'a removed SSO session is not seen', HAS_ENDED, `if (claims.err) return\n    ${HAS_ENDED}`],
  ['failed: the page responds 500', 'status/sensitive-page', 'nobody is an error', "res.redirect(303, '/login?next=/sensitive')", 'res.sendStatus(500)'],
  ['failed: a response with a wrong signature: the page', 'status/wrong-signature', 'no answer is an error', REFUSED, `if (!claims && !session.user) throw new Error('none')\n    ${REFUSED}`],
  ['failed: t is not a JWT', 'identify/request-token', 't is no token', 'identify?t=${sign({})}', 'identify?t=none'],
  ['failed: the visit ends with 404', 'identify/first-visit', 'a query is not known', "app.get('/', (req, res) => {", "app.get('/', (req, res) => {\n    if (req.query.examined) return res.sendStatus(404)"],
  ['failed: the first page load goes', 'identify/first-visit', 'the first landing is not kept', REFUSED_LANDING, `if (!cookieOf(req, 'landed')) return res.cookie('landed', '1').redirect(303, path)\n    ${REFUSED_LANDING}`],
  ['failed: r is not an absolute', 'identify/return-address', 'r is a path', 'encodeURIComponent(back)', 'encodeURIComponent(path)'],
  ['failed: r leads to http://www', 'identify/return-address', 'r has another host', 'const back = `${site}', 'const back = `http://www.invalid'],
  ['failed: the redirect to Identify has the', 'identify/return-address', 'the query goes along', 'encodeURIComponent(back)}', 'encodeURIComponent(back)}&${new URL(req.originalUrl, site).searchParams}'],
  ['failed: a visit of /examined%2F', 'identify/return-address', 'a landing decodes slashes', LANDED, LANDED.replace('path', "path.replace('%2F', '/')")],
  ['failed: a visit of //', 'identify/return-address', 'two slashes are a host', 'app.use(whoIsIt)', "app.use((req, res, next) => (req.path.startsWith('//') ? res.redirect(req.path) : next()))\n  app.use(whoIsIt)"],
  ['failed: ipa of', 'calls/user-address', 'any X-Forwarded-For is believed', 'ipa: req.socket', "ipa: req.get('x-forwarded-for') ?? req.socket"],
  ['failed: two logins have', 'session/random-id', 'the ID is made of the time', 'const id = random()', "const id = mac(`${Date.now() >> 20}`).toString('hex')"],
  ['failed: while the platform does not respond, a logout of all', 'logout/platform-informed-later', 'a logout of all is an error', CALL_LOGOUT_ALL, `if (!(${CALL_LOGOUT_ALL})) throw new Error('not told')`],
  ['failed: the visitor gets 500', 'ticket/user-without-id', 'a user without an ID is an error', ID, `if (item && typeof item.account_id !== 'string') throw new Error('no ID')\n    ${ID}`],
  ['warning: / shows a user', 'session/shared-cache', 'pages of visitors are public', FRESH, `${FRESH}\n    if (!session?.user) res.set('Cache-Control', 'public, max-age=60')`],
  ['warning: while the platform fails, /readyz', 'outage/health-page', 'the site is as ready as the platform', "healthz', (_req, res) => res.send('This process runs.')", "readyz', async (_req, res) => res.sendStatus((await probe()) ? 200 : 503)"],
])
  weakenTo(found, checks, what, [change(find, replace)])
weakenTo('failed: the site has called', 'ticket/login-afterwards', 'each status check is that of a user', [
  change("const lks = session.user ? 'loggedin' : 'anon'", "const lks = 'loggedin'"),
  NO_RETRY,
  NO_LATER_LOGIN,
])
weakenTo('failed: a fetch call', 'status/logout-elsewhere', 'a script is redirected to Identify', [
  WITH_API,
  before(
    "app.get('/sensitive'",
    "app.get('/api/me', (req, res) => (req.user ? res.json(req.user) : identify(req, res)))",
  ),
])
weaken('calls/secrets-in-output', 'tokens are printed', [
  before(REFUSED_LANDING, 'console.log(tokens[0])'),
  after('async function callSso(operation, claims) {', 'console.log(sign(claims))'),
])
for (const [key, get] of [
  ['0', 'req.user && 0'],
  ["cookieOf(req, 'browser')", "req.user && cookieOf(req, 'browser')"],
])
  weakenTo('failed: the page /notes shows', 'session/equal-names', `the key of notes is ${key}`, [
    change('notes.get(req.user?.id)', `notes.get(${get})`),
    change('notes.set(req.user.id', `notes.set(${key}`),
  ])
weakenTo('failed: / shows a user (its reader, or the author of a text), sets', 'session/shared-cache', 'a cookie too', [
  change(CACHE, "'Cache-Control': 'public, max-age=60',"),
  before('const found = sessionOf(req)', "res.cookie('seen', '1')"),
])

module.exports = { weakenings }
