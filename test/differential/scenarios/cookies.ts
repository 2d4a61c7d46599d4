/** What a site does with `req.session.cookie`, and what browsers send as a cookie. */
import session from 'express-session'
import {
  bag,
  type Deviation,
  dataOf,
  everyPage,
  firstPage,
  laterPage,
  onPage,
  type Page,
  type Scenario,
  type SetSession,
  usual,
  type Visitor,
} from '../scenario'

const HOUR = 3_600_000
const lives = (life: string): SetSession[] => [{ ...usual, life }]

/** Sets something of the cookie and writes into the session. */
const setCookie =
  (change: (cookie: session.Cookie) => void): Page =>
  (req, res) => {
    bag(req)['writes'] = Number(bag(req)['writes'] ?? 0) + 1
    change(req.session.cookie)
    const { maxAge, originalMaxAge } = req.session.cookie
    res.json({ maxAge: inMinutes(maxAge), originalMaxAge: inMinutes(originalMaxAge) })
  }

const inMinutes = (age: unknown) => (typeof age === 'number' ? Math.round(age / 60_000) : (age ?? null))

const ages: Page = (req, res) => {
  const { maxAge, originalMaxAge, expires } = req.session.cookie
  const isTime = expires instanceof Date
  res.json({
    maxAge: inMinutes(maxAge),
    originalMaxAge: inMinutes(originalMaxAge),
    expires: isTime || (expires ?? null),
  })
}

/** The browser is told to forget its cookies of this name. */
const forgotten = (visitor: Visitor): Deviation => ({
  row: 'an ambiguous cookie is ignored',
  visitor,
  at: 1,
  ours: { body: {}, cookies: [{ ...usual, life: 'gone' }] },
})

const isPrivate = (at: number, visitor: Visitor): Deviation => ({
  row: 'a response with our cookie is private',
  visitor,
  at,
  ours: { headers: { 'cache-control': 'private, no-store' } },
})

const livesLong: Deviation = {
  row: 'a cookie lives as long as its session may',
  at: 0,
  ours: { cookies: lives('90 days') },
}

const hour = setCookie((cookie) => Object.assign(cookie, { maxAge: HOUR }))

export const cookies: readonly Scenario[] = [
  {
    name: 'a cookie says how long the session may live',
    steps: ['GET /write', 'GET /write'],
    lives: true,
    visitors: ['stranger'],
    differs: [livesLong],
  },
  everyPage('the ages of a cookie that nobody has set are null', ages),
  onPage('maxAge set by every request is what each cookie says', ['GET /page', 'GET /page', 'GET /read'], hour, {
    lives: true,
  }),
  firstPage(
    'expires set on a new session is what its cookie says',
    setCookie((cookie) => Object.assign(cookie, { expires: new Date(Date.now() + 2 * HOUR) })),
    { lives: true },
  ),
  firstPage(
    'expires set to false makes a cookie that ends with the browser',
    setCookie((cookie) => Object.assign(cookie, { expires: false })),
    { lives: true },
  ),
  firstPage(
    'expires set to null is as if nobody had set it',
    setCookie((cookie) => Object.assign(cookie, { expires: null })),
    { lives: true, differs: [{ ...livesLong, visitor: 'stranger' }] },
  ),
  {
    name: 'the next request reads the maxAge that was set on the session',
    pages: { '/hour': hour, '/ages': ages },
    steps: ['GET /hour', 'GET /ages'],
  },
  onPage(
    'originalMaxAge is what resetMaxAge goes back to',
    ['GET /page'],
    (req, res) => {
      bag(req)['a'] = 1
      const { cookie } = req.session
      cookie.originalMaxAge = HOUR
      req.session.resetMaxAge()
      res.json({ maxAge: inMinutes(cookie.maxAge), originalMaxAge: inMinutes(cookie.originalMaxAge) })
    },
    { lives: true },
  ),
  everyPage('a maxAge that is no number is refused', (req, res) => {
    try {
      Object.assign(req.session.cookie, { maxAge: 'an hour' })
      res.json('taken')
    } catch (error) {
      res.json((error as Error).name)
    }
  }),
  firstPage('maxAge set on a session that nobody writes into sets no cookie', (req, res) => {
    req.session.cookie.maxAge = HOUR
    res.json(dataOf(req.session))
  }),
  laterPage(
    'maxAge set by a page for all caches gives them no live ID',
    (req, res, tools, next) => {
      res.set('cache-control', 'public, max-age=600')
      hour(req, res, tools, next)
    },
    {
      headers: ['cache-control'],
      differs: [isPrivate(0, 'stranger'), isPrivate(1, 'stranger'), isPrivate(1, 'reader')],
    },
  ),
  {
    name: 'what a page says of caches stays where no cookie is set',
    pages: {
      '/public': (req, res) => res.set('cache-control', 'public, max-age=600').json(dataOf(req.session)),
      '/nothing': (_req, res) => res.set('cache-control', 'public, max-age=600').json({}),
    },
    steps: ['GET /public', 'GET /nothing'],
    headers: ['cache-control'],
  },
  firstPage(
    'a handler that replaces the cookie does not lose the session',
    (req, res) => {
      bag(req)['a'] = 1
      req.session.cookie = Object.assign(new session.Cookie(), { maxAge: HOUR })
      res.json({ maxAge: inMinutes(req.session.cookie.maxAge) })
    },
    {
      lives: true,
      differs: [
        {
          row: 'security attributes of the cookie cannot be changed',
          at: 0,
          ours: { cookies: lives('60 minutes') },
        },
      ],
    },
  ),
  onPage(
    'SameSite, HttpOnly and Path of the cookie are not for handlers to change',
    ['GET /page'],
    (req, res) => {
      bag(req)['a'] = 1
      Object.assign(req.session.cookie, { sameSite: 'none', httpOnly: false, path: '/shop', domain: 'example.com' })
      res.json({})
    },
    {
      visitors: ['stranger'],
      differs: [{ row: 'security attributes of the cookie cannot be changed', at: 0, ours: { cookies: [usual] } }],
    },
  ),
  everyPage('the cookie tells its attributes', (req, res) => {
    const { path, httpOnly, sameSite } = req.session.cookie
    res.json({ path, httpOnly, sameSite, secure: Boolean(req.session.cookie.secure) })
  }),
  onPage(
    'a cookie that the page sets itself stands beside ours',
    ['GET /page', 'GET /page', 'GET /read'],
    (req, res) => {
      bag(req)['a'] = 1
      res.cookie('own', 'x', { maxAge: HOUR })
      res.append('set-cookie', 'other=y')
      res.json({})
    },
  ),
  {
    name: 'a cookie that comes twice is none',
    steps: ['GET /write', { ask: 'GET /read', cookie: (name, value) => `${name}=${value}; ${name}=${value}` }],
    differs: [forgotten('stranger'), forgotten('reader')],
  },
  {
    name: 'other cookies around ours do no harm',
    steps: ['GET /write', { ask: 'GET /read', cookie: (name, value) => `a=1;  ${name}=${value} ; b="2"; c` }],
  },
]
