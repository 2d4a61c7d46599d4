/** One server, in a process of its own: told its options, tells its port; then answers what it is asked. */
const express = require('express')
const { sso2Page } = require('./sso2')
const { plain, passportPage } = require('./plain')
const others = require('./others')

const kinds = { bare: () => () => undefined, plain, passport: passportPage, sso2: sso2Page, ...others }

let aheadMs = 0
const clock = { now: () => Date.now() + aheadMs }

/** The page is the same everywhere; only how the reader's name is known differs. */
function start({ kind, port = 0, ...options }) {
  const app = express()
  const nameOf = kinds[kind](app, { ...options, clock })
  app.get('/page', (req, res) => res.send(`<p>Good morning, ${nameOf(req) ?? 'stranger'}</p>`))
  const server = app.listen(port, '127.0.0.1', () => process.send(server.address().port))
  server.keepAliveTimeout = 120_000
  server.headersTimeout = 130_000
}

function answer({ ask, collect, seconds }) {
  if (ask === 'advance') aheadMs += seconds * 1000
  if (collect) global.gc()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  process.send({ cpu: user + system, rss, heap: heapUsed })
}

process.once('message', (options) => {
  process.on('message', answer)
  start(options)
})
process.once('disconnect', () => process.exit())
