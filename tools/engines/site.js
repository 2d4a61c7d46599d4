/** One process of the paper, from `dist` or from the build that `ENGINES_DIST` names: told its options and its store, tells its port. SIGTERM ends it as a deploy does. */
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const express = require('express')
const { Cluster, Redis } = require('ioredis')
const { sso2 } = require(process.env.ENGINES_DIST ?? path.join(__dirname, '../../dist'))

/** A client as a site's developer would make it, with no options but the addresses. */
function connect({ kind, ...address }) {
  const client = kind === 'cluster' ? new Cluster(address.nodes) : new Redis(address)
  client.on('error', () => {}) // each command reports its own failure
  return client
}

const viewOf = ({ sso2: { degraded, user }, session }) => ({
  degraded,
  who: user?.username,
  basketOf: session.owner,
})

function pages(app, sso) {
  app.get('/account', sso.requireLogin(), (req, res) => res.json(viewOf(req)))
  app.get('/sensitive', sso.requireLogin({ fresh: true }), (req, res) => res.json(viewOf(req)))
  app.get('/keep', (req, res) => {
    req.session.owner = req.query.owner
    res.json(viewOf(req))
  })
  app.use((req, res) => res.json(viewOf(req)))
}

/** Requests that have begun are answered; then the parts are closed, and then the connections to the store. */
async function end(server, sso, store) {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  await closed
  await sso.close()
  store.disconnect()
  process.exit(0)
}

async function start({ store, ...options }) {
  const redis = connect(store)
  const sso = sso2({ ...options, redis, logger: { warn() {}, info() {} } })
  const app = express()
  app.set('trust proxy', 'loopback')
  app.get('/bare', (_req, res) => res.end()) // how long the machine takes, whatever becomes of the store
  app.use(sso)
  pages(app, sso)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.once('SIGTERM', () => end(server, sso, redis))
  while (!(await sso.health()).ok) await sleep(50)
  process.send({ port: server.address().port })
}

process.once('message', start)
process.once('disconnect', () => process.exit())
