/** A site in a process of its own over the built package, whose hooks misbehave as they are told. */
const express = require('express')
const { sso2 } = require('../../dist')

/** What each hook does now; the rest do their work. */
let modes = {}
const circular = {}
circular.self = circular

const moods = {
  throw: () => {
    throw new Error('a hook threw')
  },
  'throw nothing': () => {
    throw undefined
  },
  'reject twice': () => {
    Promise.reject(new Error('a promise of the hook that no code holds')).catch(() => {})
    return Promise.reject(new Error('a hook rejected'))
  },
  'never settle': () => new Promise(() => {}),
  'give nothing': () => undefined,
  'give a list': () => [],
  'give an object': () => ({}),
  'give a circle': () => circular,
  'give a throwing getter': () => ({
    get accountId() {
      throw new Error('a getter threw')
    },
    toJSON() {
      throw new Error('toJSON threw')
    },
  }),
}

const misbehave =
  (name, work) =>
  (...args) =>
    modes[name] ? moods[modes[name]]() : work(...args)

function start({ options, port }) {
  const sso = sso2({
    ...options,
    exchangeTicket: misbehave('exchangeTicket', async (ticket) => {
      const { tokenUrl, clientId, clientSecret } = options
      const form = { grant_type: 'authorization_code', code: ticket, client_id: clientId, client_secret: clientSecret }
      return (await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })).json()
    }),
    loadUser: misbehave('loadUser', async ({ api }) => {
      const { item } = await api.get('/external/api/v1/me')
      return { ...item, accountId: item.account_id }
    }),
    shouldIdentify: misbehave('shouldIdentify', (req) => req.headers['sec-fetch-dest'] === 'document'),
    views: {
      login: misbehave('login', () => 'the login form'),
      confirmLogout: misbehave('confirmLogout', () => 'the logout form'),
      problem: misbehave('problem', () => 'a problem'),
    },
  })
  const app = express()
  app.use(sso)
  app.use((req, res) => res.json({ status: req.sso2.status, degraded: req.sso2.degraded }))
  app.use((error, _req, res, _next) => res.status(500).json({ error: String(error) }))
  app.listen(port, '127.0.0.1', () => process.send({ ready: true }))
}

process.on('message', (message) => {
  if (message.options) return start(message)
  modes = message.modes
  process.send({ modes })
})
for (const name of ['unhandledRejection', 'uncaughtException']) {
  process.on(name, (error) => process.send({ fatal: `${name}: ${error?.stack}` }))
}
process.on('disconnect', () => process.exit())
