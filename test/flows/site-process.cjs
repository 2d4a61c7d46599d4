/** One more process of a web site, over the same Redis: built package, options, clock and stand-still by message. */
const express = require('express')
const { sso2 } = require('../../dist')

// nobody reads what it tells its operator, as in test/support/quiet.ts
const logger = { warn() {}, info() {} }
let aheadMs = 0

process.on('message', ({ options, advance, block }) => {
  if (block) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, block) // the event loop stands still
    return
  }
  if (advance) {
    aheadMs += advance * 1000
    process.send({ advanced: advance })
    return
  }
  const app = express()
  app.use(sso2({ logger, ...options, clock: { now: () => Date.now() + aheadMs } }))
  app.use((req, res) => res.json({ status: req.sso2.status, degraded: req.sso2.degraded }))
  const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
})
process.on('warning', ({ message }) => process.send({ warning: message }))
process.on('disconnect', () => process.exit())
