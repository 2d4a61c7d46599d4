/**
 * One process of the site, over the built package: options, clock and questions come by message. Started with `--expose-gc` where memory is measured.
 */
const v8 = require('node:v8')
const { Socket } = require('node:net')
const express = require('express')
const { Cluster, Redis } = require('ioredis')

/** A loop that comes back later than this is a machine that is busy, and no fault of the package's, in milliseconds. See setup.ts. */
const BUSY_MS = 75
const BEAT_MS = 50
/** Items that a session holds. */
const MOST_ITEMS = 10
/** Connections that are left are cut after so long, as a site does that is told to end, in milliseconds. */
const LAST_MS = 4000

let aheadMs = 0
let sso
let server
const timerKind = (() => {
  const timer = setTimeout(() => {})
  clearTimeout(timer)
  return timer.constructor
})()

function viewOf(req, isLean) {
  const { status, degraded, user } = req.sso2
  const items = isLean ? undefined : req.session.items
  return { status, degraded, user: user?.username, items, pid: process.pid }
}

function makeApp() {
  const app = express()
  app.set('trust proxy', 1)
  app.use(sso)
  app.get('/fresh', sso.requireLogin({ fresh: true }), (req, res) => res.json(viewOf(req, true)))
  app.get('/put', (req, res) => {
    const item = `${req.query.item}@${req.sso2.user?.username ?? ''}`
    req.session.items = [...(req.session.items ?? []), item].slice(-MOST_ITEMS)
    res.json(viewOf(req, false))
  })
  app.use((req, res) => res.json(viewOf(req, req.path.startsWith('/lean'))))
  return app
}

/** A client as a site's developer would make it, with no options but the addresses. */
function connect(address) {
  if (typeof address === 'string') return address
  const { kind, ...options } = address
  const client = kind === 'cluster' ? new Cluster(options.nodes) : new Redis(options)
  return client.on('error', () => {}) // each command reports its own failure
}

function start({ dist, options, ahead }) {
  aheadMs = ahead
  sso = require(dist).sso2({ ...options, redis: connect(options.redis), clock: { now: () => Date.now() + aheadMs } })
  server = makeApp().listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  server.keepAliveTimeout = 60_000
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    if (now - last > BEAT_MS + BUSY_MS) process.send({ busy: now - last })
    last = now
  }, BEAT_MS)
}

function measure() {
  global.gc?.()
  global.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  return {
    rss,
    heap: heapUsed,
    handles: process.getActiveResourcesInfo().length,
    sockets: v8.queryObjects(Socket, { format: 'count' }),
    timers: v8.queryObjects(timerKind, { format: 'count' }),
  }
}

/** No new connection, the answers that are under way, and then the end. */
function end() {
  const all = setTimeout(() => server.closeAllConnections(), LAST_MS)
  server.close(async () => {
    clearTimeout(all)
    await sso.close()
    process.exit(0)
  })
  server.closeIdleConnections()
}

process.on('message', ({ begin, clock, figures }) => {
  if (begin) return start(begin)
  if (clock !== undefined) {
    aheadMs = clock
    process.send({ clock })
  }
  if (figures) process.send({ figures: measure() })
})
process.on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') process.send({ warning: `${name}: ${message}` }) // of the heap's objects being counted
})
process.on('SIGTERM', end)
process.on('disconnect', () => process.exit())
