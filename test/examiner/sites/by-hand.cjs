/**
 * A good site by hand: Express, the interface, and no package for SSO2. The examiner must find nothing to fix here.
 * It keeps everything in the memory of one process, so copy its ideas and not its Map objects.
 */
const crypto = require('node:crypto')
const express = require('express')

const CALL_TIMEOUT_MS = 2000
const MAX_RESPONSE_BYTES = 64_000
const MAX_TOKEN_LENGTH = 8000
const LEEWAY_SECONDS = 5
const RETRY_LOGIN_MS = 2000
const MAX_FAILURES = 3
const PROBE_MS = 1000
const BOT = /(?<!cu)bot|crawl|spider|slurp/i // CUBOT makes phones
const MARK_MS = 30_000

const random = () => crypto.randomBytes(24).toString('base64url')
const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)

/** Makes the site. `env` has the settings that `express-sso2 examine --settings` prints. */
function createSite(env) {
  const site = env.SSO2_SITE_URL
  const secret = env.SSO2_CLIENT_SECRET
  const recheckMs = Number(env.RECHECK_SECONDS ?? 360) * 1000
  const graceMs = Number(env.GRACE_SECONDS ?? 900) * 1000
  const bindingKey = crypto.randomBytes(32)

  const sessions = new Map() // by the value of the session cookie
  const usedTokens = new Map() // signature of a landing token, and when it expires
  const endedHere = new Map() // SSO sessions that were logged out here: true until the platform has confirmed it
  const logouts = new Map() // logouts that the platform has not confirmed
  const logins = new Map() // login attempts in progress, by session
  const notes = new Map() // by the ID of the account
  let failures = 0
  let isDown = false
  let lastResponseAt = 0

  // Tokens

  const mac = (text, key = secret) => crypto.createHmac('sha256', key).update(text).digest()

  function sign(claims) {
    const now = Math.floor(Date.now() / 1000)
    const common = { cid: env.SSO2_CLIENT_ID, nbf: now, iat: now, exp: now + 10 }
    const parties = { iss: env.SSO2_ORGANISATION_ID, aud: env.SSO2_IDENTIFIER }
    const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...common, ...parties, ...claims })}`
    return `${signed}.${mac(signed).toString('base64url')}`
  }

  function decode(part) {
    const bytes = Buffer.from(part, 'base64url')
    if (bytes.toString('base64url') !== part) throw new Error('the part is not canonical base64url')
    return bytes
  }

  /** Verifies a Session Token. Returns its claims, or undefined. */
  function verify(token) {
    try {
      if (token.length > MAX_TOKEN_LENGTH) return undefined
      const parts = token.split('.')
      if (parts.length !== 3) return undefined
      const [head, body, signature] = parts
      const { alg, typ } = JSON.parse(decode(head))
      if (alg !== 'HS256' || typ !== 'JWT') return undefined
      const expected = mac(`${head}.${body}`)
      const given = decode(signature)
      if (given.length !== expected.length || !crypto.timingSafeEqual(given, expected)) return undefined
      const claims = JSON.parse(decode(body))
      const now = Date.now() / 1000
      if (claims.iss !== env.SSO2_IDENTIFIER) return undefined
      if (claims.aud !== env.SSO2_CLIENT_ID) return undefined
      if (!(now < claims.exp + LEEWAY_SECONDS)) return undefined
      if (!(claims.nbf - LEEWAY_SECONDS <= now)) return undefined
      if (!['anon', 'loggedin', 'terminated'].includes(claims.sts)) return undefined
      return claims
    } catch {
      return undefined
    }
  }

  // Calls of the platform

  /** Sends a request. Returns status and JSON, or undefined when there is no usable response. */
  async function request(url, options) {
    try {
      const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
      const response = await fetch(url, { redirect: 'manual', signal, ...options })
      let [text, size] = ['', 0]
      for await (const chunk of response.body ?? []) {
        size += chunk.length
        if (size > MAX_RESPONSE_BYTES) return undefined
        text += Buffer.from(chunk).toString('utf8')
      }
      return { status: response.status, json: JSON.parse(text) }
    } catch {
      return undefined
    }
  }

  const deviceOf = (req) => ({ ipa: req.socket.remoteAddress ?? '', uas: req.get('user-agent') ?? '' })

  /** Calls an SSO2 operation once. Returns the verified claims, or undefined. */
  async function callSso(operation, claims) {
    const response = await request(`${env.SSO2_URL}/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ t: sign(claims) }),
    })
    const answer = response?.status === 200 ? verify(String(response.json?.t)) : undefined
    if (answer) {
      failures = 0
      isDown = false
      lastResponseAt = Date.now()
    } else {
      failures += 1
      if (failures >= MAX_FAILURES) isDown = true
    }
    return answer
  }

  /** Exchanges a ticket and loads its user. Returns undefined when either fails. */
  async function userOf(ticket) {
    const form = {
      grant_type: 'authorization_code',
      code: ticket,
      client_id: env.SSO2_CLIENT_ID,
      client_secret: secret,
    }
    const token = await request(env.SSO2_TOKEN_URL, { method: 'POST', body: new URLSearchParams(form) })
    const access = token?.status === 200 ? token.json?.access_token : undefined
    if (typeof access !== 'string') return undefined
    const user = await rest('GET', '/external/api/v1/me', access)
    const item = user?.status === 200 ? user.json?.item : undefined
    return typeof item?.account_id === 'string' ? { id: item.account_id, name: String(item.name), access } : undefined
  }

  const rest = (method, path, access, body) =>
    request(env.SSO2_API_URL + path, {
      method,
      headers: { authorization: `Bearer ${access}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  // The platform is down: probe it, and send the logouts that it has missed

  const probe = () => callSso('sessionstatus', { sid: 'probe', lks: 'anon', ipa: '127.0.0.1', uas: 'probe' })

  const timer = setInterval(async () => {
    if (isDown) await probe()
    if (isDown) return
    for (const [sid, device] of logouts) if (await callSso('logout', { sid, ...device })) logouts.delete(sid)
  }, PROBE_MS)
  timer.unref()

  /** A browser that is redirected to a dead Identify never comes back, so the site asks the platform itself. */
  function probeSoon() {
    if (Date.now() - lastResponseAt > 2000) probe()
  }

  // Sessions

  const cookieOf = (req, name) =>
    (req.headers.cookie ?? '')
      .split(/; */)
      .find((pair) => pair.startsWith(`${name}=`))
      ?.slice(name.length + 1)

  const sessionOf = (req) => sessions.get(cookieOf(req, 'session'))

  const cookieFlags = `HttpOnly; SameSite=Lax; Path=/${site.startsWith('https:') ? '; Secure' : ''}`

  /** Begins a session under a new ID. The browser's old session ends. */
  function beginSession(req, res, content) {
    const id = random()
    const now = Date.now()
    const old = sessionOf(req)
    if (old) sessions.delete(old.id)
    sessions.set(id, { ...content, id, checkedAt: now, verifiedAt: now, renewedAt: old?.renewedAt })
    res.append('Set-Cookie', `session=${id}; ${cookieFlags}`)
  }

  const endSession = (session) => sessions.delete(session.id)

  // Identify

  /** The secret of this browser, which binds each Identify redirect to it. */
  function browserSecret(req, res) {
    const known = cookieOf(req, 'browser')
    if (known !== undefined) return known
    const value = random()
    res.append('Set-Cookie', `browser=${value}; ${cookieFlags}`)
    return value
  }

  const bindingOf = (browser, path) => mac(`${browser} ${path}`, bindingKey).toString('base64url')

  function identify(req, res, path = req.originalUrl) {
    const back = `${site}${path}${path.includes('?') ? '&' : '?'}sso=${bindingOf(browserSecret(req, res), path)}`
    probeSoon()
    res.redirect(302, `${env.SSO2_URL}/identify?t=${sign({})}&r=${encodeURIComponent(back)}`)
  }

  /** Path and query of an address of this site, or undefined. */
  function pathHere(address) {
    if (typeof address !== 'string' || !URL.canParse(address, site)) return undefined
    const url = new URL(address, site)
    const isHere = url.origin === site && url.username === '' && !url.pathname.startsWith('//')
    return isHere ? url.pathname + url.search : undefined
  }

  /** Splits the return address into the page and its binding. */
  function splitReturn(r) {
    const [, page, binding] = /^(.*)[?&]sso=([\w-]{43})$/s.exec(r) ?? []
    return { path: pathHere(page ?? r) ?? '/', binding }
  }

  const isPrefetch = (req) => /prefetch|prerender/i.test(req.get('sec-purpose') ?? req.get('purpose') ?? '')

  async function landing(req, res) {
    if (req.method !== 'GET' || isPrefetch(req)) return res.status(204).end()
    const query = new URL(req.originalUrl, site).searchParams
    const [tokens, returns] = [query.getAll('t'), query.getAll('r')]
    const { path, binding } = splitReturn(returns.length === 1 ? returns[0] : '/')
    const unserved = `${path}${path.includes('?') ? '&' : '?'}sso-tried=${Date.now()}`
    const claims = tokens.length === 1 ? verify(tokens[0]) : undefined
    const browser = cookieOf(req, 'browser')
    const isBound = browser !== undefined && binding === bindingOf(browser, path)
    if (!claims || claims.err || !isBound) return res.redirect(303, unserved)
    const current = sessionOf(req)
    if (claims.sts === 'anon' && current?.user && current.sid === claims.sid) return res.redirect(303, path)
    const signature = tokens[0].split('.')[2]
    if (usedTokens.has(signature)) return res.redirect(303, path)
    usedTokens.set(signature, claims.exp)
    if (claims.sts === 'terminated') return res.redirect(303, unserved)
    if (claims.sts === 'loggedin' && !claims.at) return res.redirect(303, unserved)
    const isWanted = claims.sts === 'loggedin' && !endedHere.has(claims.sid)
    const user = isWanted ? await userOf(claims.at) : undefined
    const isEnded = endedHere.has(claims.sid) // a logout may have come meanwhile
    beginSession(req, res, {
      sid: claims.sid,
      user: isEnded ? undefined : user,
      isPending: isWanted && !user && !isEnded,
    })
    res.redirect(303, path)
  }

  // Status checks

  /** Checks an old session with the platform, once at a time. Returns the session, or undefined when it has ended. */
  async function fresh(req, session, isForced = false) {
    if (endedHere.has(session.sid)) return renewAfterLogout(session)
    const isYoung = Date.now() - session.checkedAt < recheckMs
    if (!isForced && (isYoung || isDown)) return session
    if (isForced) await checkStatus(req, session)
    else {
      session.checking ??= checkStatus(req, session).finally(() => {
        session.checking = undefined
      })
      await session.checking
    }
    return sessions.get(session.id)
  }

  async function checkStatus(req, session) {
    const lks = session.user ? 'loggedin' : 'anon'
    const claims = await callSso('sessionstatus', { sid: session.sid, lks, ...deviceOf(req) })
    session.checkedAt = claims ? Date.now() : Date.now() - recheckMs + RETRY_LOGIN_MS
    if (!claims || (claims.sid !== session.sid && claims.err !== 'session_not_found')) return
    if (claims.sts === 'terminated' || claims.err === 'session_not_found') return endSession(session)
    if (claims.err) return
    session.verifiedAt = Date.now()
    if (claims.sts === 'anon') session.user = undefined
    // the next Identify redirect logs the user in, under a new session ID
    if (claims.sts === 'loggedin' && !session.user) endSession(session)
  }

  /** An SSO session that was logged out here: Identify gives a new one as soon as the platform knows. */
  function renewAfterLogout(session) {
    session.user = undefined
    if (logouts.has(session.sid)) return session
    return endSession(session) && undefined
  }

  const isPastGrace = ({ verifiedAt }) => Date.now() - verifiedAt > recheckMs + graceMs

  const isNavigation = (req) =>
    req.method === 'GET' &&
    !isPrefetch(req) &&
    !BOT.test(req.get('user-agent') ?? '') &&
    ['document', undefined].includes(req.get('sec-fetch-dest')) &&
    /text\/html/i.test(req.get('accept') ?? '')

  /** Finds the user of a request, or redirects its browser to Identify. */
  async function whoIsIt(req, res, next) {
    const found = sessionOf(req)
    const session = found && (await fresh(req, found))
    req.session = session
    req.user = session && !isPastGrace(session) ? session.user : undefined
    const triedAt = Number(new URL(req.originalUrl, site).searchParams.getAll('sso-tried').pop() ?? 0)
    const hasTried = Math.abs(Date.now() - triedAt) < MARK_MS // the address may be shared
    const mayIdentify = isNavigation(req) && !hasTried && !isDown
    const shouldRetry = session?.isPending && Date.now() - session.checkedAt > RETRY_LOGIN_MS
    if (mayIdentify && (!session || shouldRetry)) return identify(req, res)
    next()
  }

  /** A form must come from a page of this site. */
  function sameOrigin(req, res, next) {
    const from = req.get('sec-fetch-site')
    const isOwn = from === undefined ? req.get('origin') === site : from === 'same-origin' || from === 'none'
    if (isOwn && ['null', site, undefined].includes(req.get('origin'))) return next()
    res.status(403).send('<p>This form came from another site. <a href="/">Start again</a></p>')
  }

  // Pages

  const loginForm = (next, message = '', username = '') => `<h1>Log in</h1><p>${escapeHtml(message)}</p>
<form method="post" action="/login"><input type="hidden" name="next" value="${escapeHtml(next)}">
<label>Username <input name="username" value="${escapeHtml(username)}"></label>
<label>Password <input name="password" type="password"></label><button>Log in</button></form>`

  const logoutForms = `<form method="post" action="/logout"><button>Log out</button></form>
<form method="post" action="/logout-all"><button>Log out of all sessions</button></form>`

  function messageOf({ err, raa, frf }) {
    if (err === 'invalid_credentials') return `Username or password is wrong. ${raa} attempts are left.`
    if (err === 'account_frozen') return `The account is locked for ${Math.ceil(frf / 3600)} hours.`
    if (err === 'account_not_active') return 'The account is not active. Please contact us.'
    if (err === 'session_limit_reached') return 'You are logged in on too many devices. Log out on one of them.'
    if (err === 'invalid_otp' || err === 'otp_consumed_or_expired')
      return 'The one-time password is not valid any more.'
    return 'The login did not work.'
  }

  const NOT_NOW = 'Logging in does not work right now. Please try again in a minute.'

  async function login(req) {
    const { username: usr = '', password: pwd = '' } = req.body ?? {}
    const { sid } = req.session
    const claims = await callSso('authenticate', { sid, usr, pwd, ...deviceOf(req) })
    if (!claims) return { status: 503, message: NOT_NOW }
    const isOver = ['session_terminated', 'session_not_found'].includes(claims.err)
    if (isOver || claims.err === 'session_already_logged_in_on_another_account') return { isOver: true }
    if (claims.err) return { status: 401, message: messageOf(claims) }
    if (claims.sid !== sid || claims.sts !== 'loggedin' || !claims.at) return { status: 503, message: NOT_NOW }
    const user = await userOf(claims.at)
    return user ? { user } : { isOver: true }
  }

  async function postLogin(req, res) {
    const next = pathHere(req.body?.next) ?? '/'
    const { session } = req
    if (!session) return res.redirect(303, '/login')
    const key = session.id
    if (!logins.has(key))
      logins.set(
        key,
        login(req).finally(() => logins.delete(key)),
      )
    const result = await logins.get(key)
    if (result.isOver) endSession(session)
    if (result.isOver) return res.redirect(303, `/login?next=${encodeURIComponent(next)}`)
    if (!result.user)
      return res.status(result.status).send(loginForm(next, result.message, String(req.body?.username ?? '')))
    if (endedHere.has(session.sid)) return res.redirect(303, '/login')
    beginSession(req, res, { sid: session.sid, user: result.user })
    res.redirect(303, next)
  }

  /** Ends sessions here first. The platform is informed now, or by the timer. */
  async function logout(req, res) {
    const { session } = req
    if (session) {
      for (const one of [...sessions.values()]) if (one.sid === session.sid) endSession(one)
      endedHere.set(session.sid, true)
      logouts.set(session.sid, deviceOf(req))
      if (!isDown && (await callSso('logout', { sid: session.sid, ...deviceOf(req) }))) logouts.delete(session.sid)
    }
    res.redirect(303, '/')
  }

  async function logoutAll(req, res) {
    if (!req.user) return res.redirect(303, '/login')
    const { id } = req.user
    for (const one of [...sessions.values()]) {
      if (one.user?.id !== id) continue
      endSession(one)
      endedHere.set(one.sid, true)
      logouts.set(one.sid, deviceOf(req))
    }
    await callSso('logoutall', { aid: id, ...deviceOf(req) })
    res.redirect(303, '/')
  }

  /** A page that calls the REST API: a failure is a message, and an access token that has run out is a new Identify redirect. */
  const restPage = (title, method, path, body) => async (req, res) => {
    if (!req.user) return res.redirect(303, `/login?next=${encodeURIComponent(req.path)}`)
    const response = await rest(method, path, req.user.access, body)
    if (response?.status === 200)
      return res.send(`<h1>${title}</h1><pre>${escapeHtml(JSON.stringify(response.json))}</pre>`)
    const { session } = req
    const isFirst = response?.status === 401 && Date.now() - (session.renewedAt ?? 0) > 60_000
    if (!isFirst) return res.send(`<h1>${title}</h1><p>This does not work right now. Please try again later.</p>`)
    session.renewedAt = Date.now()
    identify(req, res)
  }

  const address = { street: 'Quay', street_number: '1', zip_code: '00100', city: 'Harbour' }

  const app = express()
  app.disable('x-powered-by')
  app.use((_req, res, next) => {
    res.set({
      'Cache-Control': 'private, no-store',
      'Content-Security-Policy': "default-src 'self'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    })
    next()
  })
  app.all(new URL(env.SSO2_LANDING ?? '/sso2/landing', site).pathname, landing)
  app.get('/healthz', (_req, res) => res.send('This process runs.'))
  app.use(express.urlencoded({ extended: false, limit: '32kb' }))
  app.use(whoIsIt)
  app.get('/', (req, res) => {
    res.send(
      req.user ? `<p>Hello ${escapeHtml(req.user.name)}</p>${logoutForms}` : '<a href="/login?next=/">Log in</a>',
    )
  })
  app.get('/sensitive', async (req, res) => {
    const session = req.session && (await fresh(req, req.session, true))
    if (!session?.user) return res.redirect(303, '/login?next=/sensitive')
    const isVerified = Date.now() - session.verifiedAt < 5000
    if (!isVerified) return res.status(503).send('<p>This page does not work right now.</p>')
    res.send(`<p>Payments of ${escapeHtml(session.user.name)}</p>`)
  })
  const ownerOf = (req) => mac(`notes of ${req.user?.id}`, bindingKey).toString('base64url')
  app.get('/notes', (req, res) => {
    const owner = `<input type="hidden" name="owner" value="${ownerOf(req)}">`
    res.send(`<p>${escapeHtml(notes.get(req.user?.id))}</p><form method="post">${owner}<input name="note"></form>`)
  })
  app.post('/notes', sameOrigin, (req, res) => {
    if (req.user && req.body?.owner === ownerOf(req)) notes.set(req.user.id, String(req.body?.note))
    res.redirect(303, '/notes')
  })
  app.get('/login', (req, res) => {
    res.send(loginForm(pathHere(req.query.next) ?? '/'))
  })
  app.post('/login', sameOrigin, postLogin)
  app.get('/logout', (_req, res) => {
    res.send(logoutForms)
  })
  app.post('/logout', sameOrigin, logout)
  app.post('/logout-all', sameOrigin, logoutAll)
  app.get('/market', restPage('Market', 'GET', '/external/api/v2/marketing/marketplace/groups'))
  const gift = { campaign_code: env.GIFT_CAMPAIGN ?? 'examined-campaign', delivery_address: address }
  app.get('/gift', restPage('Gift', 'POST', '/external/api/v1/me/order/validate_gift_receiver', gift))
  app.get('/profile', restPage('Profile', 'GET', '/external/api/v1/me'))
  app.get('/administrators', restPage('Administrators', 'GET', '/external/api/v1/admin'))
  app.use((error, _req, res, _next) => {
    res.status(error.status ?? 500).send('<p>This request could not be read.</p>')
  })
  return { app, stop: () => clearInterval(timer) }
}

module.exports = { createSite }

if (require.main === module) createSite(process.env).app.listen(process.env.PORT)
