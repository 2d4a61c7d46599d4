/** Two papers in one process and on one port. Who logs in at one is logged in at the other. */
import express from 'express'
import { sso2 } from 'express-sso2'

/** What the papers share comes from the environment; address and API client are each paper's own. */
function makePaper(name, variables, other) {
  const { [`${variables}_SITE_URL`]: siteUrl, [`${variables}_CLIENT_ID`]: clientId } = process.env
  const sso = sso2({ siteUrl, clientId, clientSecret: process.env[`${variables}_CLIENT_SECRET`] })
  const app = express()
  app.use(sso)
  app.get('/', (req, res) => {
    const way = req.sso2.user ? '<a href="/account">Your account</a>' : '<a href="/login">Log in</a>'
    res.set('Cache-Control', 'private, no-store') // a cache would show the page of one user to another
    res.send(`<h1>${name}</h1> ${way} <a href="${process.env[`${other}_SITE_URL`]}">The other paper</a>`)
  })
  app.get('/account', sso.requireLogin(), (req, res) => {
    res.json({ paper: name, reader: req.sso2.user })
  })
  return [new URL(siteUrl).hostname, app]
}

const papers = new Map([
  makePaper('Morning Post', 'MORNING', 'EVENING'),
  makePaper('Evening Star', 'EVENING', 'MORNING'),
])

const server = express()
server.use((req, res, next) => {
  const paper = papers.get(req.hostname)
  return paper ? paper(req, res, next) : res.sendStatus(404)
})
server.listen(process.env.PORT ?? 3000)
