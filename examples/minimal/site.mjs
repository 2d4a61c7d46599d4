/** A front page for everybody, an account page for readers who are logged in. */
import express from 'express'
import { sso2 } from 'express-sso2'

const sso = sso2() // from the environment
const app = express()
app.use(sso) // session, landing, login and logout pages, and req.sso2

app.get('/', (req, res) => {
  res.set('Cache-Control', 'private, no-store') // no cache may keep what one user sees
  res.send(
    req.sso2.user ? '<a href="/account">Your account</a> <a href="/logout">Log out</a>' : '<a href="/login">Log in</a>',
  )
})
app.get('/account', sso.requireLogin(), (req, res) => {
  res.json(req.sso2.user)
})

app.listen(process.env.PORT ?? 3000)
