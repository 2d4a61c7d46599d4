/** What a site puts into `req.session`, and what it finds there. */
import { inspect } from 'node:util'
import session from 'express-session'
import { bag, dataOf, everyPage, firstPage, laterPage, onPage, type Scenario, usual } from '../scenario'

/** One request writes a value, the next ones read it. */
const kept = (name: string, value: unknown): Scenario =>
  onPage(`${name} is found again by the next request`, ['GET /page', 'GET /read', 'GET /read'], (req, res) => {
    bag(req)['value'] = value
    res.json({})
  })

export const data: readonly Scenario[] = [
  { name: 'a session that nobody writes into is empty', steps: ['GET /read', 'GET /read'] },
  { name: 'a page that does not ask for the session sets no cookie', steps: ['GET /nothing', 'GET /nothing'] },
  {
    name: 'the next requests read what one has written, and writing the same sets no cookie again',
    steps: ['GET /write', 'GET /write', 'GET /read'],
  },
  firstPage('a request reads what it has written itself', (req, res) => {
    bag(req)['a'] = 'new'
    res.json(dataOf(req.session))
  }),
  {
    name: 'a write deep inside an object is saved',
    pages: {
      '/deep': (req, res) => {
        const session = bag(req)
        const basket = (session['basket'] ?? { lines: [] }) as { lines: object[] }
        basket.lines.push({ title: 'Evening Star', copies: basket.lines.length })
        session['basket'] = basket
        res.json(basket)
      },
      '/deeper': (req, res) => {
        const [line] = (bag(req)['basket'] as { lines: Record<string, unknown>[] }).lines
        Object.assign(line ?? {}, { copies: 7 })
        res.json({})
      },
    },
    steps: ['GET /deep', 'GET /deep', 'GET /deeper', 'GET /read'],
  },
  {
    name: 'a deleted key is gone, the others stay',
    pages: {
      '/two': (req, res) => {
        Object.assign(req.session, { b: 2, c: 3 })
        res.json({})
      },
      '/delete': (req, res) => res.json({ was: delete bag(req)['b'] }),
    },
    steps: ['GET /two', 'GET /delete', 'GET /read'],
  },
  onPage(
    'a session whose last key is deleted begins anew',
    ['GET /write', 'GET /page', 'GET /read', 'GET /write', 'GET /read'],
    (req, res) => res.json({ was: delete bag(req)['a'] }),
    { differs: [{ row: 'an empty session is not stored', visitor: 'stranger', at: 3, ours: { cookies: [usual] } }] },
  ),
  firstPage('what is written and deleted in one request leaves nothing', (req, res) => {
    bag(req)['a'] = 1
    delete bag(req)['a']
    res.json(dataOf(req.session))
  }),
  kept('a Date', new Date(0)),
  kept('undefined', undefined),
  kept('null', null),
  kept('a list of lists', [[1, [2, []]], [], [{ a: [null] }]]),
  kept('text of all scripts', { 'ключ 漢字': 'søren \u{1f4f0} "quoted" \\ \u2028 \u0000 </script>' }),
  kept('100 kB', 'äö'.repeat(50_000)),
  kept('an odd number', [Number.NaN, Number.POSITIVE_INFINITY, -0, 2 ** 53, 1e-300]),
  kept('false, zero and an empty text', [false, 0, '']),
  kept('an object with toJSON', { toJSON: () => 'what toJSON says' }),
  kept('a function and a symbol', { call: () => 1, sign: Symbol('sign'), plain: 1 }),
  kept('a Map and a Buffer', [new Map([[1, 2]]), Buffer.from('abc')]),
  kept('an object without prototype', Object.assign(Object.create(null), { a: 1 })),
  firstPage('a name that a session has of its own cannot be taken for data', (req, res) => {
    const tried = ['id', 'req'].map((name) => {
      try {
        bag(req)[name] = 'mine'
        return 'taken'
      } catch (error) {
        return (error as Error).name
      }
    })
    res.json({ tried, isText: typeof req.session.id === 'string' })
  }),
  everyPage('a session shows its keys in every way that an object does', (req, res) => {
    const session = bag(req)
    const inLoop: string[] = []
    for (const name in session) inLoop.push(name)
    res.json({
      keys: Object.keys(session).sort(), // the cookie may stand before the data or after it
      spread: Object.keys({ ...session }).sort(),
      entries: Object.entries(session).length,
      names: Object.getOwnPropertyNames(session).sort(),
      inLoop: inLoop.sort(),
      has: ['a' in session, 'b' in session, 'save' in session],
      own: [Object.hasOwn(session, 'a'), Object.hasOwn(session, 'b'), Object.hasOwn(session, 'save')],
    })
  }),
  everyPage('a session is written as JSON with its data and its cookie', (req, res) => {
    const { cookie, ...rest } = JSON.parse(JSON.stringify(req.session))
    res.json({ rest, cookie: [cookie.path, cookie.httpOnly, cookie.sameSite] })
  }),
  onPage('a session is printed as a session', ['GET /write', 'GET /page'], (req, res) => {
    const text = inspect(req.session)
    res.json({
      name: req.session.constructor.name,
      begins: text.slice(0, text.indexOf('{') + 1),
      hasData: text.includes('a: 1'),
      is: req.session instanceof (session as unknown as { Session: new () => object }).Session,
    })
  }),
  laterPage('a copy of the data can be made and does not follow the session', (req, res) => {
    const copy = structuredClone(dataOf(req.session))
    bag(req)['a'] = 2
    res.json(copy)
  }),
  everyPage('req.session stands on the request as a property of its own, and is the same each time', (req, res) => {
    const before = ['session' in req, Object.hasOwn(req, 'session'), Object.keys(req).includes('session')]
    const [first, second] = [req.session, req.session]
    res.json({ before, same: first === second, both: Reflect.get(req, 'session') === first })
  }),
  firstPage('assigning many keys at once works as one write', (req, res) =>
    res.json(dataOf(Object.assign(req.session, { x: 1, y: { z: [2] } }))),
  ),
]
