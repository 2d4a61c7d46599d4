/** What a good developer writes by hand: express-session with connect-redis over ioredis. */
const { createHmac, createSecretKey } = require('node:crypto')
const session = require('express-session')
const { RedisStore } = require('connect-redis')
const { Cluster, Redis } = require('ioredis')

const user = {
  accountId: 'account-0001',
  username: 'reader-0001',
  name: 'Ada Lindqvist',
  contact_email: 'reader-0001@demo-press.example',
}

/** One Redis, or a Cluster where its nodes are given. */
function connect({ redisUrl, nodes }) {
  return nodes ? new Cluster(nodes) : new Redis(redisUrl)
}

function useSession(app, options) {
  const store = new RedisStore({ client: connect(options), prefix: 'plain:' })
  const { sessionSecret: secret } = options
  app.use(session({ secret, store, resave: false, saveUninitialized: false, name: 'plain.sid' }))
}

function plain(app, options) {
  useSession(app, options)
  app.get('/log-in', (req, res) => {
    req.session.user = user
    res.send('in')
  })
  return (req) => req.session.user?.name
}

/** Counts the pages that the reader has seen. */
function plainWrite(app, options) {
  plain(app, options)
  return ({ session }) => {
    session.pages = (session.pages ?? 0) + 1
    return session.user?.name
  }
}

/** The same with passport, whose user is in the session; logs in with passport-local and a comparison for a password check. */
function passportPage(app, options) {
  const passport = require('passport')
  const { Strategy } = require('passport-local')
  useSession(app, options)
  passport.use(new Strategy((_name, password, done) => done(null, password === 'correct-horse' ? user : false)))
  passport.serializeUser((known, done) => done(null, known))
  passport.deserializeUser((known, done) => done(null, known))
  app.use(passport.session())
  const form = require('express').urlencoded({ extended: false })
  app.post('/log-in', form, passport.authenticate('local'), (_req, res) => res.redirect(303, '/page'))
  app.post('/log-out', (req, res, next) => req.logout((error) => (error ? next(error) : res.redirect(303, '/page'))))
  return (req) => req.user?.name
}

/** No session at all: a signature of *plain*'s cookie and one reading command, which is what nobody who keeps sessions in Redis can do without. */
function oneRead(app, { sessionSecret, ...options }) {
  const redis = connect(options)
  const key = createSecretKey(Buffer.from(sessionSecret))
  app.use(async (req, _res, next) => {
    const [, value] = /(?:^|; )plain\.sid=([^;]+)/.exec(req.headers.cookie ?? '') ?? []
    const [id, signature] = value ? decodeURIComponent(value).slice(2).split('.') : []
    const own = id && createHmac('sha256', key).update(id).digest('base64').replace(/=+$/, '')
    const [text] = own && own === signature ? await redis.mget(`plain:${id}`) : [null]
    req.reader = text ? JSON.parse(text).user : undefined
    next()
  })
  return (req) => req.reader?.name
}

module.exports = { connect, oneRead, plain, plainWrite, passportPage }
