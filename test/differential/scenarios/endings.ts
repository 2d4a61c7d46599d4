/** How a session gives way to a new one, or ends. */
import { bag, dataOf, ending, firstPage, laterPage, onPage, type Page, type Scenario } from '../scenario'

/** passport's `keepSessionInfo`: a new ID, and everything of the old session copied over. */
const copyOver: Page = async (req, res) => {
  const old = req.session
  const regenerated = await ending((done) => req.session.regenerate(done))
  Object.assign(req.session, old)
  res.json({ regenerated, data: dataOf(req.session), isNew: old !== req.session })
}

const regenerate: Page = async (req, res) => {
  const { id } = req.session
  const regenerated = await ending((done) => req.session.regenerate(done))
  const data = dataOf(req.session)
  bag(req)['fresh'] = true
  res.json({ regenerated, data, isNew: id !== req.session.id, isSame: req.sessionID === req.session.id })
}

const destroy: Page = async (req, res) => {
  const destroyed = await ending((done) => req.session.destroy(done))
  res.json({ destroyed, after: typeof req.session, isInRequest: 'session' in req })
}

export const endings: readonly Scenario[] = [
  laterPage('regenerate gives a new and empty session', regenerate),
  firstPage('regenerate at the first request gives a session that keeps what is written', regenerate),
  firstPage(
    'a session regenerated and left empty gets no cookie',
    async (req, res) => res.json({ regenerated: await ending((done) => req.session.regenerate(done)) }),
    { visitors: ['stranger'], differs: [{ row: 'an empty session is not stored', at: 0, ours: { cookies: [] } }] },
  ),
  laterPage('regenerate twice in one request leaves one session and one cookie', async (req, res) => {
    const first = await ending((done) => req.session.regenerate(done))
    bag(req)['lost'] = true
    const second = await ending((done) => req.session.regenerate(done))
    bag(req)['kept'] = true
    res.json([first, second])
  }),
  onPage(
    'a session copied over regenerate keeps all its data',
    ['GET /write', 'GET /page', 'GET /read', 'GET /read'],
    copyOver,
  ),
  laterPage('a session copied over regenerate and saved keeps all its data', async (req, res) => {
    const old = req.session
    await ending((done) => req.session.regenerate(done))
    const { cookie: _cookie, ...rest } = old
    Object.assign(req.session, rest, { user: 'someone' })
    res.json({ saved: await ending((done) => req.session.save(done)) })
  }),
  onPage(
    'the ID of before a regenerate leads to nothing',
    ['GET /write', 'GET /page'],
    async (req, res) => {
      const { sessionID, sessionStore } = req
      await ending((done) => req.session.regenerate(done))
      sessionStore.get(sessionID, (error, found) => res.json({ error: Boolean(error), found: Boolean(found) }))
    },
    { differs: [{ row: 'an empty session is not stored', visitor: 'stranger', at: 1, ours: { cookies: [] } }] },
  ),
  onPage(
    'destroy takes the session from the request and from the store, and the next write begins a new one',
    ['GET /write', 'GET /page', 'GET /read', 'GET /write', 'GET /read'],
    destroy,
  ),
  firstPage('destroy of a session that was never saved calls back', destroy),
  onPage('destroy without a callback works too', ['GET /write', 'GET /page'], (req, res) => {
    const { session } = req
    const same = Reflect.apply(session.destroy, session, []) === session
    res.json({ same, after: typeof req.session })
  }),
  laterPage('destroying twice is no error', async (req, res) => {
    const { session } = req
    const first = await ending((done) => session.destroy(done))
    res.json([first, await ending((done) => session.destroy(done))])
  }),
  laterPage('a session set to null is neither saved nor lost', (req, res) => {
    bag(req)['b'] = 2
    Object.assign(req, { session: null })
    res.json({ session: req.session, isNull: req.session === null })
  }),
  laterPage('a session deleted from the request is neither saved nor lost', (req, res) => {
    bag(req)['b'] = 2
    const was = Reflect.deleteProperty(req, 'session')
    res.json({ was, after: typeof req.session })
  }),
  {
    name: 'a session deleted before anybody asked for it is not lost either',
    pages: {
      '/delete': (req, res) => res.json({ was: Reflect.deleteProperty(req, 'session'), after: typeof req.session }),
      '/null': (req, res) => {
        Object.assign(req, { session: null })
        res.json({ session: req.session })
      },
    },
    steps: ['GET /write', 'GET /delete', 'GET /null', 'GET /read'],
  },
  laterPage('an old session object can still be read after regenerate', async (req, res) => {
    const old = bag(req)
    await ending((done) => req.session.regenerate(done))
    bag(req)['b'] = 2
    res.json({ old: dataOf(old), isSame: old.id === req.session.id })
  }),
  laterPage('regenerate right after destroy, through the store, gives a new session', async (req, res) => {
    await ending((done) => req.session.destroy(done))
    const made = await ending((done) => {
      req.sessionStore.regenerate(req, done)
    })
    bag(req)['b'] = 2
    res.json({ made, data: dataOf(req.session) })
  }),
]
