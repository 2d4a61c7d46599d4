/** A site in a process of its own over the built package, with everything that a careless operator prints. */
const diagnostics = require('node:diagnostics_channel')
const { inspect } = require('node:util')
const express = require('express')
const express4 = require('express4')
const { sso2 } = require('../../dist')

let aheadMs = 0
let hookFails = false
const deep = { depth: 20, showHidden: true }

for (const name of ['identify', 'landing', 'check', 'login', 'logout', 'degraded']) {
  diagnostics.subscribe(`express-sso2:${name}`, (event) => console.log('EVENT', name, inspect(event, deep)))
}

/** What a person or a program sees of an object, printed or serialised. */
const shown = (value) =>
  `${inspect(value, deep)} ${inspect(value, { ...deep, customInspect: false })} ${JSON.stringify(value)}`

/** Everything about a request that access logs are made of, as it is when the answer is done. */
const accessLogger = (name) => (req, res, next) => {
  res.on('finish', () => {
    const { method, url, originalUrl, baseUrl, path, query, body, headers, _parsedUrl, _parsedOriginalUrl } = req
    const line = { method, url, originalUrl, baseUrl, path, query, body, headers, _parsedUrl, _parsedOriginalUrl }
    const seenByAnswer = { url: res.req.url, originalUrl: res.req.originalUrl, rawHeaders: res.req.rawHeaders }
    console.log('ACCESS', name, res.statusCode, JSON.stringify({ ...line, seenByAnswer, locals: res.locals }))
  })
  next()
}

/** An error of a careless hook: it holds all that the hook was given. */
function failure(...given) {
  const text = inspect(given, deep)
  return Object.assign(new Error(text, { cause: new Error(text) }), {
    given,
    code: text,
    name: `Failure\nINJECTED ${given[0]}`,
  })
}

function hooks({ tokenUrl, clientId, clientSecret }) {
  return {
    exchangeTicket: async (ticket, context) => {
      console.log('HOOK', Object.keys(context).sort().join(), shown(context.signal))
      if (hookFails === 'exchangeTicket') throw failure(ticket, context)
      const form = { grant_type: 'authorization_code', code: ticket, client_id: clientId, client_secret: clientSecret }
      return (await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })).json()
    },
    loadUser: async (context) => {
      console.log('HOOK', Object.keys(context).sort().join(), shown(context.api))
      const { accessToken, api } = context
      if (hookFails === 'loadUser') throw failure(accessToken, context)
      const { item } = await api.get('/external/api/v1/me')
      return { accountId: item.account_id, username: item.username }
    },
  }
}

function printing(views) {
  const print = (name) => (context) => {
    console.log('VIEW', name, inspect(context, deep))
    return `<p>${name}</p>`
  }
  return views
    ? { views: { login: print('login'), confirmLogout: print('confirmLogout'), problem: print('problem') } }
    : {}
}

const route = (run) => (req, res, next) => Promise.resolve(run(req)).then((body) => res.json({ body }), next)

function start({ options, ports }) {
  ports.forEach(({ port, siteUrl, hasHooks, clientId, clientSecret }) => {
    const own = { ...options, siteUrl, clientId, clientSecret }
    const sso = sso2({
      ...own,
      session: { prefix: `leaks-${port}:` },
      clock: { now: () => Date.now() + aheadMs },
      ...(hasHooks ? hooks(own) : {}),
      ...printing(hasHooks),
    })
    for (const [name, member] of Object.entries(sso)) console.log('SSO', name, shown(member))
    const app = (hasHooks ? express : express4)()
    app.use(accessLogger('before'))
    if (hasHooks) app.use(express.urlencoded({ extended: true }), express.json(), express.text())
    app.use(sso)
    app.use(accessLogger('after'))
    app.use((req, _res, next) => {
      console.log('REQ', shown(req.sso2), JSON.stringify(req.session))
      console.log(`VISIBLE ${Object.keys(JSON.parse(JSON.stringify(req.sso2)))}`)
      next()
    })
    app.get('/account', sso.requireLogin(), (req, res) => res.json(req.sso2))
    app.get('/sensitive', sso.requireLogin({ fresh: true }), (req, res) => res.json(req.sso2))
    const calls = {
      '/check': ({ sso2 }) => sso2.check(),
      '/api/marketplace': ({ sso2 }) => sso2.api.marketplaceGroups({ timeoutMs: 600 }),
      '/api/administrators': ({ sso2 }) => sso2.api.administratorsByAccount({ timeoutMs: 600 }),
      '/api/gift': ({ sso2, body }) => sso2.api.validateGiftReceiver(body, { timeoutMs: 600 }),
      '/api/bad': ({ sso2 }) => sso2.api.get('no path'),
      '/service': () => sso.api.marketplaceGroups({ timeoutMs: 600 }),
      '/health': () => sso.health(),
    }
    for (const [path, call] of Object.entries(calls)) app.all(path, express.json(), route(call))
    app.get('/keep', (req, res) => {
      req.session.saved = 'kept'
      res.json(req.sso2)
    })
    app.use((req, res) => res.json(req.sso2))
    app.use((error, _req, res, _next) => {
      console.error('ERROR', inspect(error, deep), String(error), JSON.stringify(error))
      res.status(500).json({ error: String(error), all: inspect(error, deep) })
    })
    app.listen(port, '127.0.0.1', () => process.send({ listening: port }))
  })
}

process.on('message', (message) => {
  if (message.options) return start(message)
  if (message.advance) aheadMs += message.advance * 1000
  if ('hookFails' in message) hookFails = message.hookFails
  process.send({ done: true })
})
for (const name of ['unhandledRejection', 'uncaughtException']) {
  process.on(name, (error) => console.error('FATAL', name, inspect(error, deep)))
}
process.on('disconnect', () => process.exit())
