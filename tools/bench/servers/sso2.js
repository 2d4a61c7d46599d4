/** This package, from `dist` or from the build that `BENCH_DIST` names. */
const path = require('node:path')

const ours = process.env.BENCH_DIST ?? path.join(__dirname, '../../../dist')

function make({ redisUrl, site, clock, hasLimits = false }) {
  const { sso2 } = require(path.resolve(ours))
  const loginLimit = hasLimits ? undefined : false
  return sso2({ ...site, redis: redisUrl, loginLimit, clock })
}

/** How the page knows the reader: from the SSO record alone, with a look at `req.session`, or with a change of it. */
const pages = {
  plain: ({ sso2 }) => sso2.user?.name,
  read: ({ sso2, session }) => session.basket?.length === 3 && sso2.user?.name,
  write: ({ sso2, session }) => {
    session.pages = (session.pages ?? 0) + 1
    return sso2.user?.name
  },
}

function sso2Page(app, { page = 'plain', ...options }) {
  if (options.hasLimits) app.set('trust proxy', 1) // each browser has an address of its own
  app.use(make(options))
  app.get('/fill', (req, res) => {
    req.session.basket = ['evening', 'morning', 'weekend']
    res.send('filled')
  })
  return pages[page]
}

module.exports = { sso2Page }
