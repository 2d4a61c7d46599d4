/** One more process of a web site, over the same Redis: built package, options and stand-still by message. */
const express = require('express')
const { sso2 } = require('../../dist')

// nobody reads what it tells its operator, as in test/support/quiet.ts
const logger = { warn() {}, info() {} }

process.on('message', ({ options, block }) => {
  if (block) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, block) // the event loop stands still
    return
  }
  const app = express()
  app.use(sso2({ logger, ...options }))
  app.use((req, res) => res.json({ status: req.sso2.status, degraded: req.sso2.degraded }))
  const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
})
process.on('disconnect', () => process.exit())
