/** One server of the benchmark `warm`, in a process of its own: told its kind and options, tells its port; then, on demand, its CPU time. */
const express = require('express')

const user = {
  accountId: 'account-ada',
  username: 'ada',
  name: 'Ada Lindqvist',
  contact_email: 'ada@demo-press.example',
}

/** express-session with connect-redis by hand, a logged-in session of the same content in it. */
function plain(app, { redisUrl, sessionSecret }) {
  const session = require('express-session')
  const { RedisStore } = require('connect-redis')
  const { Redis } = require('ioredis')
  const client = new Redis(redisUrl)
  const legacy = {
    get: (key) => client.get(key),
    set: (key, value, { expiration }) => client.set(key, value, 'EX', expiration.value),
    expire: (key, seconds) => client.expire(key, seconds),
    del: (key) => client.del(key),
  }
  const isNew = !('call' in client)
  const store = new RedisStore({ client: isNew ? legacy : client, prefix: 'plain:' })
  app.use(session({ secret: sessionSecret, store, resave: false, saveUninitialized: false, name: 'sso2.sid' }))
  app.get('/log-in', (req, res) => {
    req.session.user = user
    res.end()
  })
  return (req) => req.session.user?.name
}

function withSso2(app, { redisUrl, sessionSecret, platform }) {
  const { sso2 } = require('../../dist')
  app.use(sso2({ ...platform, sessionSecret, redis: redisUrl, session: { prefix: 'bench:' } }))
  return (req) => req.sso2.user?.name
}

const kinds = { bare: () => () => undefined, plain, sso2: withSso2 }

process.once('message', ({ kind, ...options }) => {
  const app = express()
  const nameOf = kinds[kind](app, options)
  app.get('/page', (req, res) => res.send(`<p>Good morning, ${nameOf(req) ?? 'stranger'}</p>`))
  const server = app.listen(options.port ?? 0, '127.0.0.1', () => process.send(server.address().port))
  server.keepAliveTimeout = 60_000
  process.on('message', () => process.send({ cpu: process.cpuUsage(), memory: process.memoryUsage().rss }))
})
process.once('disconnect', () => process.exit())
