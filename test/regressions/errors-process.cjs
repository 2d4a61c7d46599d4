/** A site in a process of its own over the built package, whose view of a problem misbehaves as it is told. */
const express = require('express')
const { sso2 } = require('../../dist')

let mode = 'work'
const moods = {
  work: () => 'a problem',
  throw: () => {
    throw new Error('template not found')
  },
  'throw nothing': () => {
    throw undefined
  },
  reject: () => Promise.reject(new Error('template not found')),
  'reject with a text': () => Promise.reject('template not found'),
  'never settle': () => new Promise(() => {}),
}

function start({ options, port }) {
  const sso = sso2({ ...options, views: { problem: () => moods[mode]() } })
  const app = express()
  app.use(sso)
  app.get('/sensitive', sso.requireLogin({ fresh: true }), (_req, res) => res.json({ sensitive: true }))
  app.use((req, res) => res.json({ status: req.sso2.status }))
  app.use((_error, _req, res, _next) => res.status(500).json({ error: 'the site itself had to answer' }))
  app.listen(port, '127.0.0.1', () => process.send({ ready: true }))
}

process.on('message', (message) => {
  if (message.options) return start(message)
  mode = message.mode
  process.send({ mode })
})
for (const name of ['unhandledRejection', 'uncaughtException']) {
  process.on(name, (error) => process.send({ fatal: `${name}: ${error?.stack}` }))
}
process.on('disconnect', () => process.exit())
