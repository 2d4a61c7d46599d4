/** The peers, each set up as its own documentation does it. They are loaded where they are used. */
const { useSession } = require('./plain')

/** Without a store, sessions are in the cookie. */
function openIdConnect(app, { providerUrl, siteUrl, sessionSecret, store }) {
  const { auth } = require('express-openid-connect')
  app.use(
    auth({
      issuerBaseURL: providerUrl,
      baseURL: siteUrl,
      clientID: 'bench',
      clientSecret: sessionSecret,
      secret: sessionSecret,
      authRequired: false,
      idpLogout: false,
      idTokenSigningAlg: 'RS256',
      authorizationParams: { response_type: 'code', response_mode: 'query', scope: 'openid profile email' },
      session: { store },
    }),
  )
  return (req) => req.oidc.user?.name
}

function oidcRedis(app, options) {
  const { RedisStore } = require('connect-redis')
  const { Redis } = require('ioredis')
  const client = new Redis(options.redisUrl)
  return openIdConnect(app, { ...options, store: new RedisStore({ client, prefix: 'oidc:' }) })
}

function keycloak(app, options) {
  const Keycloak = require('keycloak-connect')
  const store = useSession(app, options)
  const connect = new Keycloak(
    { store },
    {
      realm: 'bench',
      'auth-server-url': options.providerUrl,
      resource: 'bench',
      'realm-public-key': options.realmPublicKey,
      credentials: { secret: options.sessionSecret },
    },
  )
  app.use(connect.middleware())
  app.use('/page', connect.protect())
  return (req) => req.kauth.grant?.id_token?.content.name
}

/** Without its network: the key is given. */
function clerk(app, { clerk: { jwtKey, publishableKey } }) {
  const { clerkMiddleware, getAuth } = require('@clerk/express')
  app.use(clerkMiddleware({ jwtKey, publishableKey, secretKey: 'sk_live_networkless', telemetry: { disabled: true } }))
  return (req) => getAuth(req).sessionClaims?.name
}

module.exports = { 'oidc-cookie': openIdConnect, 'oidc-redis': oidcRedis, keycloak, clerk }
