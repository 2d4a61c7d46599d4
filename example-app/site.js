const path = require('node:path')
const express = require('express')
const { sso2 } = require('express-sso2')
const { newsPages } = require('./pages/news.js')
const { platformPages } = require('./pages/platform.js')
const { readerState } = require('./reader-state.js')

const publicFolder = path.join(__dirname, 'public')
const viewsFolder = path.join(__dirname, 'views')

/**
 * One newspaper of the network: an Express app with single sign-on and its pages.
 *
 * @param {object} options
 * @param {object} options.paper one of newspapers.js
 * @param {string} options.url public address of this site
 * @param {{ name: string, url: string }} options.sister the other newspaper
 * @param {{ ssoUrl: string, apiUrl: string, tokenUrl: string, portalUrl: string, organisationId: string }} options.platform
 * @param {{ clientId: string, clientSecret: string }} options.client
 * @param {string} options.sessionSecret at least 32 bytes
 * @param {{ productCode: string, name: string }[]} options.campaigns what the gift form offers
 * @param {unknown} [options.redis] address or ioredis client; memory when left out
 * @param {string} [options.prefix] of the keys in Redis; from the paper's key when left out
 * @param {{ now(): number }} [options.clock] epoch milliseconds; the system's when left out
 */
function createSite(options) {
  const { paper, sister, platform, campaigns, clock = { now: Date.now } } = options
  const sso = createSso(options)
  const app = express()
  app.set('view engine', 'ejs')
  app.set('views', viewsFolder)
  app.disable('x-powered-by')
  app.use(securityHeaders(options))
  app.use('/assets', express.static(publicFolder, { maxAge: '1h', index: false }))
  // The pages of the package name no icon, so browsers ask for this one.
  app.get('/favicon.ico', (_req, res) => res.sendFile(path.join(publicFolder, `${paper.key}.svg`), { maxAge: '1h' }))
  app.use(sso)
  app.use((req, res, next) => {
    const now = clock.now()
    // for visitors too: a CDN would show their page to users
    res.set('Cache-Control', 'private, no-store')
    Object.assign(res.locals, { paper, sister, portalUrl: platform.portalUrl, path: req.path, here: req.originalUrl })
    Object.assign(res.locals, { today: dateline(now), reader: readerState(req.sso2, now, sister.name) })
    next()
  })
  app.use(newsPages({ sso, paper, clock }))
  app.use(platformPages({ sso, campaigns }))
  app.use((_req, res) =>
    showMessage(res, 404, 'Not found', 'There is no such page', 'It may have been moved, or never written.'),
  )
  app.use((error, _req, res, next) => {
    if (res.headersSent) return next(error)
    console.error(error)
    showMessage(res, 500, 'Our fault', 'Something broke here', 'It is noted. Please try again in a moment.')
  })
  return { app, sso, close: () => sso.close() }
}

function createSso({ paper, url, platform, client, sessionSecret, redis, prefix = `${paper.key}:`, clock }) {
  return sso2({
    ssoUrl: platform.ssoUrl,
    apiUrl: platform.apiUrl,
    tokenUrl: platform.tokenUrl,
    organisationId: platform.organisationId,
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    siteUrl: url,
    sessionSecret,
    // Cookies do not separate ports: two sites on one host name need names of their own.
    session: { cookieName: `${paper.key}.sid`, prefix },
    brand: {
      name: paper.title,
      logoUrl: `/assets/logo-${paper.key}.svg`,
      // made for both schemes
      logoDarkUrl: `/assets/logo-${paper.key}.svg`,
      color: paper.colour,
      stylesheetUrl: `/assets/login-${paper.key}.css`,
    },
    links: { forgotPassword: '/help#password', createAccount: '/help#account', help: '/help' },
    ...(redis && { redis }),
    ...(clock && { clock }),
  })
}

/**
 * A strict policy: no script at all. A form may lead to the SSO system as well, because a browser holds
 * `form-action` against every redirect that follows a form, and logging out goes through Identify.
 */
function securityHeaders({ url, sister, platform }) {
  const ssoOrigin = new URL(platform.ssoUrl).origin
  const images = [...new Set([new URL(url).origin, new URL(sister.url).origin, new URL(platform.portalUrl).origin])]
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src 'self' https: ${images.join(' ')}`,
    `form-action 'self' ${ssoOrigin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
  return (_req, res, next) => {
    res.set({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'strict-origin-when-cross-origin',
    })
    next()
  }
}

function dateline(now) {
  const date = new Date(now)
  return {
    iso: date.toISOString().slice(0, 10),
    text: new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' }).format(date),
  }
}

function showMessage(res, status, kicker, title, text) {
  res.status(status).render('message', { layout: 'page', kicker, problem: { title, text } })
}

module.exports = { createSite }
