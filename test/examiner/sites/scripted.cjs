/** The good site by hand, with a login page whose form is made by a script. The examiner needs `--browser` for it. */
const express = require('express')
const { createSite } = require('./by-hand.cjs')

const app = express()
app.disable('x-powered-by')
const script = `fetch('/form').then((response) => response.text()).then((html) => { document.body.innerHTML = html })`
app.get('/login.js', (_req, res) => res.type('js').send(script))
app.use((req, res, next) => {
  if (req.path === '/form') req.url = '/login'
  else if (req.path === '/login' && req.method === 'GET') {
    const send = res.send.bind(res)
    res.send = () => send('<p>Loading</p><script src="/login.js" defer></script>')
  }
  next()
})
app.use(createSite(process.env).app)
app.listen(process.env.PORT)
