/** A site that has its own express-session already, with a basket in it. It keeps both. */
import express from 'express'
import session from 'express-session'
import { sso2 } from 'express-sso2'

const sso = sso2()
const app = express()
app.set('trust proxy', 1) // else express-session sets no secure cookie behind a proxy
const isSecure = process.env.SSO2_SITE_URL.startsWith('https:')
app.use(
  session({
    name: isSecure ? '__Host-session' : 'session', // a sister domain can set a cookie of any other name
    secret: process.env.SESSION_SECRET,
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: isSecure },
    // and the store that the site has; without one they are in memory
  }),
)
app.use(sso) // after express-session, so that req.session stays the site's

const papers = ['morning', 'evening', 'weekend']

app.get('/', (req, res) => {
  const { basket = [] } = req.session
  const buttons = papers.map((paper) => `<button name="paper" value="${paper}">${paper}</button>`)
  res.set('Cache-Control', 'private, no-store') // no cache may keep what one user sees
  res.send(`
    <p>${req.sso2.user ? '<a href="/checkout">Check out</a>' : '<a href="/login?return_to=/checkout">Log in and check out</a>'}</p>
    <p>In the basket: ${basket.join(', ') || 'nothing'}</p>
    <form method="post" action="/basket">${buttons.join(' ')}</form>
    <form method="post" action="/logout"><button>Log out</button></form>`)
})
app.post('/basket', express.urlencoded({ extended: false }), (req, res) => {
  const { basket = [] } = req.session
  if (papers.includes(req.body.paper)) req.session.basket = [...basket, req.body.paper]
  res.redirect(303, '/')
})
// the basket of before the login is still there; after a logout, or for another account, it is not
app.get('/checkout', sso.requireLogin(), (req, res) => {
  res.json({ account: req.sso2.user.accountId, basket: req.session.basket ?? [] })
})

app.listen(process.env.PORT ?? 3000)
