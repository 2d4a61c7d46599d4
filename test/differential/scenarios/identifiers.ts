/** IDs of sessions, and the store that hangs on the request. */
import { randomBytes } from 'node:crypto'
import type { SessionData, Store } from 'express-session'
import { bag, dataOf, ending, everyPage, laterPage, onPage, type Page, type Scenario } from '../scenario'

/** IDs that one request hands to another; scenarios run one after the other. */
const ids = new Map<string, string>()

const remember: Page = (req, res) => {
  const session = bag(req)
  const known = session['firstId']
  session['firstId'] ??= req.sessionID
  res.json({ known: known !== undefined, same: session['firstId'] === req.sessionID })
}

const share =
  (name: string): Page =>
  (req, res) => {
    bag(req)['a'] = 1
    ids.set(name, req.sessionID)
    res.json({})
  }

/** What a store has under an ID: its data, `null` for nothing, or `'error'`. */
function find(store: Store, id: string): Promise<unknown> {
  return new Promise((resolve) => {
    store.get(id, (error, found) => resolve(error ? 'error' : found ? dataOf(found) : null))
  })
}

export const identifiers: readonly Scenario[] = [
  everyPage('req.session.id and req.sessionID are one text', (req, res) => {
    const { id } = req.session
    res.json({ type: typeof id, same: id === req.sessionID, isKey: Object.keys(req.session).includes('id') })
  }),
  everyPage('req.sessionID can be read before req.session', (req, res) => {
    const id = req.sessionID
    res.json({ type: typeof id, same: id === req.session.id, stays: id === req.sessionID })
  }),
  onPage('the ID stays while the session lives', ['GET /page', 'GET /page', 'GET /page'], remember),
  onPage(
    'a login renews the ID and keeps the data',
    ['GET /page', 'GET /page', 'logIn', 'GET /page', 'GET /page'],
    remember,
    {
      stacks: ['full'],
      visitors: ['stranger'],
      differs: [2, 3].map((at) => ({ row: 'a login renews the ID', at, ours: { body: { known: true, same: false } } })),
    },
  ),
  laterPage('the store finds the session by its ID, once it is saved', async (req, res) => {
    const before = await find(req.sessionStore, req.sessionID)
    bag(req)['b'] = 2
    await ending((done) => req.session.save(done))
    res.json({ before, after: await find(req.sessionStore, req.sessionID) })
  }),
  onPage(
    'the store can be asked before anybody asks for the session',
    ['GET /write', 'GET /page'],
    async ({ sessionStore, sessionID }, res) => res.json({ found: await find(sessionStore, sessionID) }),
  ),
  {
    name: 'another session can be changed by its ID through the store',
    pages: {
      '/share': share('shared'),
      '/change': async (req, res) => {
        const { sessionStore } = req
        const id = ids.get('shared') ?? ''
        const found = await new Promise<SessionData | null | undefined>((resolve) => {
          sessionStore.get(id, (_error, session) => resolve(session))
        })
        if (!found) return res.json('not found')
        const changed = Object.assign(found, { message: 'from elsewhere' })
        return res.json({ set: await ending((done) => sessionStore.set(id, changed, done)) })
      },
    },
    steps: ['GET /share', { ask: 'GET /change', cookie: () => 'a=1' }, 'GET /read'],
  },
  {
    name: 'another session can be ended by its ID through the store',
    pages: {
      '/share': share('ended'),
      '/end': async (req, res) => {
        const { sessionStore } = req
        const id = ids.get('ended') ?? ''
        const ended = await ending((done) => sessionStore.destroy(id, done))
        res.json({ ended, found: await find(sessionStore, id) })
      },
    },
    steps: ['GET /share', { ask: 'GET /end', cookie: () => 'a=1' }, 'GET /read', 'GET /write', 'GET /read'],
  },
  laterPage('load gives a session with its methods, or nothing', async (req, res) => {
    const store = req.sessionStore as Store & {
      load(id: string, done: (error: unknown, found?: object) => void): void
    }
    const load = (id: string) =>
      new Promise<unknown>((resolve) => {
        store.load(id, (error, found) => resolve(error ? 'error' : found ? dataOf(found) : null))
      })
    res.json([await load(req.sessionID), await load('A'.repeat(43))])
  }),
  onPage(
    'an ID that the site made up is nothing',
    ['GET /page'],
    async (req, res) => {
      const id = `made-up-${randomBytes(8).toString('hex')}`
      const data = { cookie: req.session.cookie, x: 1 }
      const set = await ending((done) => req.sessionStore.set(id, data as unknown as SessionData, done))
      res.json({ set, found: await find(req.sessionStore, id) })
    },
    {
      differs: [
        {
          row: 'only session IDs made by this package are looked up',
          at: 0,
          ours: { body: { set: 'done', found: null } },
        },
      ],
    },
  ),
  onPage('the store has the methods of a store', ['GET /page'], (req, res) => {
    const own = ['get', 'set', 'destroy', 'regenerate', 'load', 'createSession', 'generate', 'on', 'emit']
    const names = [...own, 'all', 'length', 'clear', 'ids']
    res.json(names.map((name) => typeof Reflect.get(req.sessionStore, name)))
  }),
]
