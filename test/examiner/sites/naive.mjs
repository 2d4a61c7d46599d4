/**
 * A site by hand: what a developer writes from the interface in an afternoon. It works, and it has the usual faults.
 * The examiner must find them. Do not copy it.
 */
import express from 'express'
import session from 'express-session'
import jwt from 'jsonwebtoken'

const { env } = process
const { SSO2_URL, SSO2_CLIENT_ID, SSO2_CLIENT_SECRET } = env
const RECHECK_MS = Number(env.RECHECK_SECONDS ?? 360) * 1000

const app = express()
app.use(express.urlencoded({ extended: false }))
app.use(session({ secret: 'naive-site-secret', resave: false, saveUninitialized: true }))

function requestToken(claims = {}) {
  const now = Math.floor(Date.now() / 1000)
  const parties = { cid: SSO2_CLIENT_ID, iss: env.SSO2_ORGANISATION_ID, aud: 'sso-service' }
  return jwt.sign({ ...parties, nbf: now, iat: now, exp: now + 10, ...claims }, SSO2_CLIENT_SECRET)
}

async function callSso(operation, req, claims) {
  const t = requestToken({ ...claims, ipa: req.ip, uas: req.get('user-agent') ?? '' })
  const response = await fetch(`${SSO2_URL}/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ t }),
  })
  const answer = await response.json()
  return jwt.verify(answer.t, SSO2_CLIENT_SECRET)
}

async function userOf(ticket) {
  const client = { client_id: SSO2_CLIENT_ID, client_secret: SSO2_CLIENT_SECRET }
  const form = { grant_type: 'authorization_code', code: ticket, ...client }
  const token = await fetch(env.SSO2_TOKEN_URL, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = await token.json()
  const headers = { authorization: `Bearer ${access_token}` }
  const user = await fetch(`${env.SSO2_API_URL}/external/api/v1/me`, { headers })
  return (await user.json()).item
}

function toIdentify(req, res, path = req.originalUrl) {
  res.redirect(`${SSO2_URL}/identify?t=${requestToken()}&r=${encodeURIComponent(env.SSO2_SITE_URL + path)}`)
}

app.get('/sso2/landing', async (req, res) => {
  const token = jwt.verify(req.query.t, SSO2_CLIENT_SECRET)
  req.session.sid = token.sid
  req.session.checked = Date.now()
  if (token.sts === 'loggedin') req.session.user = await userOf(token.at)
  res.redirect(req.query.r)
})

app.use(async (req, res, next) => {
  if (req.path === '/logout') return next()
  if (!req.session.sid) return toIdentify(req, res)
  if (Date.now() - req.session.checked > RECHECK_MS) {
    const lks = req.session.user ? 'loggedin' : 'anon'
    const token = await callSso('sessionstatus', req, { sid: req.session.sid, lks })
    if (token.sts === 'terminated') {
      delete req.session.user
      return toIdentify(req, res)
    }
    if (token.at) req.session.user = await userOf(token.at)
    req.session.checked = Date.now()
  }
  next()
})

app.get('/', (req, res) => {
  const { user } = req.session
  res.send(user ? `<p>Hello ${user.name}</p><a href="/logout">Log out</a>` : '<a href="/login?next=/">Log in</a>')
})

const form = (next, message = '') => `<p>${message}</p><form method="post" action="/login">
<input type="hidden" name="next" value="${next}"><input name="username"><input name="password" type="password"><button>Log in</button></form>`

app.get('/login', (req, res) => {
  res.send(form(req.query.next ?? '/'))
})
app.post('/login', async (req, res) => {
  console.log('login', req.body)
  const { username, password, next } = req.body
  const token = await callSso('authenticate', req, { sid: req.session.sid, usr: username, pwd: password })
  if (token.err) return res.send(form(next, `Login failed: ${token.err}`))
  req.session.user = await userOf(token.at)
  req.session.checked = Date.now()
  res.redirect(next)
})

app.get('/logout', async (req, res) => {
  await callSso('logout', req, { sid: req.session.sid })
  req.session.destroy(() => res.redirect('/'))
})

app.listen(env.PORT)
