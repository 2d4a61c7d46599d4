const express = require('express')
const { ago } = require('../reader-state.js')

/** Front page, articles, help and the reader's account. */
function newsPages({ sso, paper, clock }) {
  const router = express.Router()

  router.get('/', (_req, res) => res.render('front'))

  router.get('/articles/:slug', (req, res, next) => {
    const article = paper.articles.find(({ slug }) => slug === req.params.slug)
    if (!article) return next()
    const readable = !article.subscribersOnly || req.sso2.status === 'loggedin'
    const others = paper.articles.filter((other) => other !== article).slice(0, 3)
    res.render('article', { article, readable, others })
  })

  router.get('/help', (_req, res) => res.render('help'))

  router.get('/account', sso.requireLogin(), (req, res) => {
    const { user, checkedAt } = req.sso2
    res.set('Cache-Control', 'no-store')
    res.render('account', { user, checked: ago(checkedAt, clock.now()) })
  })

  return router
}

module.exports = { newsPages }
