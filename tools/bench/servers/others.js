/** Other packages for logins, as their documentation shows them. `BENCH_OTHERS` names the folder in which they are installed. */
const { createPublicKey } = require('node:crypto')
const { createRequire } = require('node:module')
const path = require('node:path')
const jwt = require('jsonwebtoken')
const { makeStore, user, useSession } = require('./plain')

const others = (name) => createRequire(path.resolve(process.env.BENCH_OTHERS ?? '.', 'package.json'))(name)

const ISSUER = 'http://localhost:1'
const CLIENT = 'bench'

/** Signs a token about the reader. @param privateKey the same in every process, so that a login of one is known to the next */
function signed(privateKey, claims) {
  const about = { iss: ISSUER, aud: CLIENT, azp: CLIENT, sub: user.accountId, name: user.name, ...claims }
  return jwt.sign(about, privateKey, { algorithm: 'RS256', expiresIn: '1d' })
}
const publicKeyOf = (privateKey) => createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })

/** express-openid-connect. @param store of the sessions. Without one, the session is an encrypted cookie */
function openid(app, { sessionSecret: secret, privateKey }, store) {
  const { auth } = others('express-openid-connect')
  const client = { issuerBaseURL: ISSUER, baseURL: 'http://localhost:2', clientID: CLIENT, clientSecret: secret }
  const authorizationParams = { response_type: 'code' }
  app.use(auth({ ...client, secret, authorizationParams, authRequired: false, session: { store } }))
  app.get('/log-in', (req, res) => {
    const tokens = { id_token: signed(privateKey), access_token: 'access', token_type: 'Bearer', expires_at: 2 ** 31 }
    Object.assign(req.appSession, tokens)
    res.send('in')
  })
  return (req) => req.oidc.user?.name
}

const openidInRedis = (app, options) => openid(app, options, makeStore(options.redisUrl, 'openid:'))

/** keycloak-connect checks the tokens in the session with each request. */
function keycloak(app, options) {
  const Keycloak = others('keycloak-connect')
  const { privateKey } = options
  const key = publicKeyOf(privateKey).replace(/-----[A-Z ]+-----|\n/g, '')
  const realm = { realm: 'bench', 'auth-server-url': ISSUER, 'realm-public-key': key }
  useSession(app, options)
  app.use(new Keycloak({ store: true }, { ...realm, resource: CLIENT, 'public-client': true }).middleware())
  app.get('/log-in', (req, res) => {
    const token = (typ) => signed(privateKey, { typ, iss: `${ISSUER}/realms/bench` })
    const grant = { access_token: token('Bearer'), id_token: token('ID'), refresh_token: token('Refresh') }
    req.session['keycloak-token'] = JSON.stringify({ ...grant, token_type: 'Bearer', expires_in: 86_400 })
    res.send('in')
  })
  return (req) => req.kauth.grant?.id_token.content.name
}

/** @clerk/express checks the token in a cookie with each request, here with the key at hand (networkless). */
function clerk(app, { privateKey }) {
  const { clerkMiddleware, getAuth } = others('@clerk/express')
  const publishableKey = `pk_live_${Buffer.from('clerk.bench.example$').toString('base64')}`
  app.get('/log-in', (_req, res) => {
    const seenAt = String(Math.floor(Date.now() / 1000) - 10)
    res
      .cookie('__session', signed(privateKey, { sid: 'sess_1', iss: 'https://clerk.bench.example' }))
      .cookie('__client_uat', seenAt)
      .send('in')
  })
  app.use(clerkMiddleware({ publishableKey, secretKey: 'sk_live_bench', jwtKey: publicKeyOf(privateKey) }))
  return (req) => getAuth(req).sessionClaims?.name
}

module.exports = { openid, 'openid-redis': openidInRedis, keycloak, clerk }
