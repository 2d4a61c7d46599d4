/** The package with a page for which the last status check is not enough. */
import express from 'express'
import { sso2 } from 'express-sso2'

const sso = sso2()
const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
const app = express()
app.disable('x-powered-by')
app.use(sso)
app.get('/', (req, res) => {
  const { user } = req.sso2
  if (user) res.set('Cache-Control', 'private, no-store')
  res.send(user ? `<p>Hello ${escaped(user.name)}</p><a href="/logout">Log out</a>` : '<a href="/login">Log in</a>')
})
app.get('/payments', sso.requireLogin({ fresh: true }), (req, res) => {
  res.send(`<p>Payments of ${escaped(req.sso2.user.name)}</p>`)
})
app.listen(process.env.PORT)
