/** What a site calls on `req.session`. */
import { bag, dataOf, ending, firstPage, laterPage, type Scenario } from '../scenario'

export const calls: readonly Scenario[] = [
  firstPage('save without a callback saves', (req, res) => {
    bag(req)['a'] = 1
    req.session.save()
    res.json({ type: typeof req.session })
  }),
  firstPage('what is written after save is saved at the end of the answer', async (req, res) => {
    bag(req)['a'] = 1
    const saved = await ending((done) => req.session.save(done))
    bag(req)['b'] = 2
    res.json({ saved })
  }),
  {
    name: 'save calls back and saves, twice and at once too',
    pages: {
      '/save': async (req, res) => {
        bag(req)['a'] = 1
        const once = () => ending((done) => req.session.save(done))
        res.json(await Promise.all([once(), once()]))
      },
    },
    steps: ['GET /save', 'GET /save', 'GET /read'],
  },
  {
    name: 'saving before a redirect lets the next page see it',
    pages: {
      '/go': async (req, res) => {
        bag(req)['a'] = 1
        await ending((done) => req.session.save(done))
        res.redirect(303, '/read')
      },
    },
    steps: ['POST /go', 'GET /read'],
    headers: ['location'],
  },
  firstPage('saving what cannot be written as JSON throws, and the session goes on', async (req, res) => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    bag(req)['circle'] = circle
    const saved = await ending((done) => req.session.save(done))
    delete bag(req)['circle']
    bag(req)['a'] = 1
    res.json({ saved })
  }),
  firstPage('saving a session that nobody has written into calls back', async (req, res) =>
    res.json({ saved: await ending((done) => req.session.save(done)) }),
  ),
  laterPage('reload drops what is not saved and gives a new object for the same session', async (req, res) => {
    const old = req.session
    bag(req)['a'] = 'not saved'
    const reloaded = await ending((done) => req.session.reload(done))
    const { id } = req.session
    res.json({ reloaded, data: dataOf(req.session), isNew: old !== req.session, isSame: id === old.id })
  }),
  {
    name: 'reload sees what another request has saved meanwhile',
    pages: {
      '/slow': async (req, res, { tell, hear }) => {
        const before = dataOf(req.session)
        tell('the slow one has read')
        await hear('the quick one has saved')
        const reloaded = await ending((done) => req.session.reload(done))
        res.json({ before, reloaded, after: dataOf(req.session) })
      },
      '/quick': async (req, res, { tell, hear }) => {
        await hear('the slow one has read')
        bag(req)['b'] = 2
        await ending((done) => req.session.save(done))
        tell('the quick one has saved')
        res.json({})
      },
    },
    steps: ['GET /write', { together: ['GET /slow', 'GET /quick'] }, 'GET /read'],
  },
  laterPage('a write after reload is saved', async (req, res) => {
    await ending((done) => req.session.reload(done))
    bag(req)['b'] = 2
    res.json(dataOf(req.session))
  }),
  {
    name: 'reload of a session that was never saved is an error',
    pages: {
      '/reload': async (req, res) => res.json({ reloaded: await ending((done) => req.session.reload(done)) }),
    },
    steps: ['GET /reload'],
    visitors: ['stranger'],
  },
  {
    name: 'touch and resetMaxAge can be chained and change nothing',
    pages: {
      '/touch': (req, res) => {
        const { session } = req
        res.json([session.touch() === session, session.resetMaxAge() === session, session.touch().id === req.sessionID])
      },
    },
    steps: ['GET /touch', 'GET /write', 'GET /touch', 'GET /read'],
  },
  {
    name: 'the methods are there, and are no data',
    pages: {
      '/methods': (req, res) => {
        const names = ['save', 'reload', 'regenerate', 'destroy', 'touch', 'resetMaxAge'] as const
        res.json(names.map((name) => [typeof req.session[name], Object.keys(req.session).includes(name)]))
      },
    },
    steps: ['GET /methods', 'GET /write', 'GET /methods'],
  },
]
