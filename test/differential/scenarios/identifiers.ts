/** IDs of sessions, and the store that hangs on the request. */
import { randomBytes } from 'node:crypto'
import type { SessionData, Store } from 'express-session'
import { bag, dataOf, ending, laterPage, type Page, type Scenario } from '../scenario'

/** IDs that one request hands to another; scenarios run one after the other. */
const ids = new Map<string, string>()

const remember: Page = (req, res) => {
  const session = bag(req)
  const known = session['firstId']
  session['firstId'] ??= req.sessionID
  res.json({ known: known !== undefined, same: session['firstId'] === req.sessionID })
}

/** What a store has under an ID: its data, `null` for nothing, or `'error'`. */
function find(store: Store, id: string): Promise<unknown> {
  return new Promise((resolve) => {
    store.get(id, (error, found) => resolve(error ? 'error' : found ? dataOf(found) : null))
  })
}

export const identifiers: readonly Scenario[] = [
  {
    name: 'req.session.id and req.sessionID are one text',
    pages: {
      '/ids': (req, res) => {
        const { id } = req.session
        res.json({ type: typeof id, same: id === req.sessionID, isKey: Object.keys(req.session).includes('id') })
      },
    },
    steps: ['GET /ids', 'GET /write', 'GET /ids'],
  },
  {
    name: 'req.sessionID can be read before req.session',
    pages: {
      '/id-first': (req, res) => {
        const id = req.sessionID
        res.json({ type: typeof id, same: id === req.session.id, stays: id === req.sessionID })
      },
    },
    steps: ['GET /id-first', 'GET /write', 'GET /id-first'],
  },
  {
    name: 'the ID stays while the session lives',
    pages: { '/remember': remember },
    steps: ['GET /remember', 'GET /remember', 'GET /remember'],
  },
  {
    name: 'a login renews the ID and keeps the data',
    pages: { '/remember': remember },
    steps: ['GET /remember', 'GET /remember', 'logIn', 'GET /remember', 'GET /remember'],
    stacks: ['full'],
    visitors: ['stranger'],
    differs: [
      { row: 'a login renews the ID', at: 2, ours: { body: { known: true, same: false } } },
      { row: 'a login renews the ID', at: 3, ours: { body: { known: true, same: false } } },
    ],
  },
  laterPage('the store finds the session by its ID, once it is saved', async (req, res) => {
    const before = await find(req.sessionStore, req.sessionID)
    bag(req)['b'] = 2
    await ending((done) => req.session.save(done))
    res.json({ before, after: await find(req.sessionStore, req.sessionID) })
  }),
  {
    name: 'the store can be asked before anybody asks for the session',
    pages: {
      '/store': async (req, res) => {
        const { sessionStore } = req
        res.json({ found: await find(sessionStore, req.sessionID) })
      },
    },
    steps: ['GET /write', 'GET /store'],
  },
  {
    name: 'another session can be changed by its ID through the store',
    pages: {
      '/share': (req, res) => {
        bag(req)['a'] = 1
        ids.set('shared', req.sessionID)
        res.json({})
      },
      '/change': async (req, res) => {
        const { sessionStore } = req
        const found = await new Promise<SessionData | null | undefined>((resolve) => {
          sessionStore.get(ids.get('shared') ?? '', (_error, session) => resolve(session))
        })
        if (!found) return res.json('not found')
        const set = await ending((done) =>
          sessionStore.set(ids.get('shared') ?? '', Object.assign(found, { message: 'from elsewhere' }), done),
        )
        return res.json({ set })
      },
    },
    steps: ['GET /share', { ask: 'GET /change', cookie: () => 'a=1' }, 'GET /read'],
  },
  {
    name: 'another session can be ended by its ID through the store',
    pages: {
      '/share': (req, res) => {
        bag(req)['a'] = 1
        ids.set('ended', req.sessionID)
        res.json({})
      },
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
  {
    name: 'an ID that the site made up is nothing',
    pages: {
      '/invent': async (req, res) => {
        const id = `made-up-${randomBytes(8).toString('hex')}`
        const data = { cookie: req.session.cookie, x: 1 }
        const set = await ending((done) => req.sessionStore.set(id, data as unknown as SessionData, done))
        res.json({ set, found: await find(req.sessionStore, id) })
      },
    },
    steps: ['GET /invent'],
    differs: [
      {
        row: 'only session IDs made by this package are looked up',
        at: 0,
        ours: { body: { set: 'done', found: null } },
      },
    ],
  },
  {
    name: 'the store does not list the sessions of all readers',
    pages: {
      '/list': (req, res) => {
        res.json(['all', 'length', 'clear', 'ids'].map((name) => typeof Reflect.get(req.sessionStore, name)))
      },
    },
    steps: ['GET /list'],
    differs: [{ row: 'the store cannot be listed', at: 0, ours: { body: Array(4).fill('undefined') } }],
  },
  {
    name: 'the store has the methods that a session needs',
    pages: {
      '/methods': (req, res) => {
        const names = ['get', 'set', 'destroy', 'regenerate', 'load', 'createSession', 'generate', 'on', 'emit']
        res.json(names.map((name) => typeof Reflect.get(req.sessionStore, name)))
      },
    },
    steps: ['GET /methods'],
  },
]
