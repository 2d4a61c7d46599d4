/** What a good developer writes by hand: express-session with connect-redis over ioredis. */
const session = require('express-session')
const { RedisStore } = require('connect-redis')
const { Redis } = require('ioredis')

const user = {
  accountId: 'account-0001',
  username: 'reader-0001',
  name: 'Ada Lindqvist',
  contact_email: 'reader-0001@demo-press.example',
}

const makeStore = (redisUrl, prefix) => new RedisStore({ client: new Redis(redisUrl), prefix })

function useSession(app, { redisUrl, sessionSecret: secret }) {
  const store = makeStore(redisUrl, 'plain:')
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

module.exports = { plain, passportPage, makeStore, user, useSession }
