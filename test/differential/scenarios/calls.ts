/** What a site calls on `req.session`. */
import { bag, dataOf, ending, everyPage, firstPage, laterPage, onPage, type Scenario } from '../scenario'

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
  onPage(
    'save calls back and saves, twice and at once too',
    ['GET /page', 'GET /page', 'GET /read'],
    async (req, res) => {
      bag(req)['a'] = 1
      const once = () => ending((done) => req.session.save(done))
      res.json(await Promise.all([once(), once()]))
    },
  ),
  onPage(
    'saving before a redirect lets the next page see it',
    ['POST /page', 'GET /read'],
    async (req, res) => {
      bag(req)['a'] = 1
      await ending((done) => req.session.save(done))
      res.redirect(303, '/read')
    },
    { headers: ['location'] },
  ),
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
  onPage(
    'reload of a session that was never saved is an error',
    ['GET /page'],
    async (req, res) => res.json({ reloaded: await ending((done) => req.session.reload(done)) }),
    { visitors: ['stranger'] },
  ),
  onPage(
    'touch and resetMaxAge can be chained and change nothing',
    ['GET /page', 'GET /write', 'GET /page', 'GET /read'],
    (req, res) => {
      const { session } = req
      res.json([session.touch() === session, session.resetMaxAge() === session, session.touch().id === req.sessionID])
    },
  ),
  everyPage('the methods are there, and are no data', (req, res) => {
    const names = ['save', 'reload', 'regenerate', 'destroy', 'touch', 'resetMaxAge'] as const
    res.json(names.map((name) => [typeof req.session[name], Object.keys(req.session).includes(name)]))
  }),
]
