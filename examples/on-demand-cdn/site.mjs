/** A site behind a CDN: its pages are the same for everybody and are cached, and only some routes ask who it is. */
import express from 'express'
import { sso2 } from 'express-sso2'

const sso = sso2({ identify: 'on-demand' })
const app = express()

// in front of app.use(sso): no session, no cookie, no redirect, whoever comes
app.get('/', (_req, res) => {
  res.set('Cache-Control', 'public, max-age=60, s-maxage=300')
  res.send(`
    <h1>The front page, from a cache</h1>
    <p id="reader"><a href="/login?return_to=/">Log in</a></p>
    <p><a href="/for-you">For you</a> <a href="/account">Your account</a></p>
    <script type="module">
      const { name } = await (await fetch('/reader.json')).json()
      if (name) document.querySelector('#reader').textContent = name
    </script>`)
})

app.use(sso)

const forOneReader = (_req, res, next) => {
  res.set('Cache-Control', 'private, no-store')
  next()
}
// what a cached page fetches; says nothing of a reader whom this site has not met
app.get('/reader.json', forOneReader, (req, res) => {
  res.json({ name: req.sso2.user?.name })
})
// asks the SSO system, without asking for a login
app.get('/for-you', forOneReader, sso.identify(), (req, res) => {
  res.json({ status: req.sso2.status, name: req.sso2.user?.name })
})
app.get('/account', sso.requireLogin(), (req, res) => {
  res.json(req.sso2.user) // private, no-store without a word from us
})

app.listen(process.env.PORT ?? 3000)
