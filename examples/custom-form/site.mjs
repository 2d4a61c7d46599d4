/** One page with a login form of its own, which speaks JSON with the site. No framework, here or in the browser. */
import express from 'express'
import { sso2 } from 'express-sso2'

const sso = sso2()
const app = express()
app.use(sso) // POST /login and POST /logout take what page.html sends

app.get('/', (_req, res) => {
  res.sendFile('page.html', { root: import.meta.dirname })
})

app.get('/api/reader', (req, res) => {
  // it names a user: for no cache
  res.set('Cache-Control', 'private, no-store').json({ name: req.sso2.user?.name })
})
// for a script this is 401 with { error, loginUrl } where nobody is logged in
app.get('/api/news', sso.requireLogin(), (_req, res) => {
  res.json({ news: ['The heron is back on the weir'] })
})

app.listen(process.env.PORT ?? 3000)
