/** Several requests of one session at a time. */
import { bag, type Deviation, dataOf, ending, type Page, type Scenario } from '../scenario'

/** Has its session, waits for the quick one, then does its part. */
const slowly =
  (act: Page): Page =>
  async (req, res, tools, next) => {
    dataOf(req.session)
    tools.tell('the slow one has begun')
    await tools.hear('the quick one is done')
    await act(req, res, tools, next)
  }

/** Does its part while the slow one waits, and lets it go when its answer is out. */
const quickly =
  (act: Page): Page =>
  async (req, res, tools, next) => {
    await tools.hear('the slow one has begun')
    res.once('finish', () => tools.tell('the quick one is done'))
    await act(req, res, tools, next)
  }

const write =
  (name: string): Page =>
  (req, res) => {
    bag(req)[name] = true
    res.json(dataOf(req.session))
  }

const destroy: Page = async (req, res) => res.json({ destroyed: await ending((done) => req.session.destroy(done)) })

const regenerate: Page = async (req, res) => {
  const regenerated = await ending((done) => req.session.regenerate(done))
  bag(req)['moved'] = true
  res.json({ regenerated })
}

const saveAfter: Page = async (req, res) => {
  bag(req)['late'] = true
  res.json({ saved: await ending((done) => req.session.save(done)) })
}

/** Two requests of one session at once. @param slow does its part when the quick one is done */
const race = (name: string, slow: Page, quick: Page, differs: readonly Deviation[] = []): Scenario => ({
  name,
  pages: { '/slow': slow, '/quick': quickly(quick) },
  steps: ['GET /write', { together: ['GET /slow', 'GET /quick'] }, 'GET /read'],
  differs,
})
const staysDead = (at: number, body: unknown): Deviation => ({
  row: 'a destroyed session ID cannot be used again',
  at,
  ours: { body },
})

export const parallel: readonly Scenario[] = [
  race('of two requests that write, the one that ends last wins', slowly(write('slow')), write('quick')),
  race(
    'a request that only reads does not undo what another one writes',
    slowly((req, res) => res.json(dataOf(req.session))),
    write('quick'),
  ),
  race(
    'a request that asks for its session late does not undo what another one writes',
    async (_req, res, { tell, hear }) => {
      tell('the slow one has begun')
      await hear('the quick one is done')
      res.json({})
    },
    write('quick'),
  ),
  race('a late write does not bring a destroyed session back', slowly(write('late')), destroy, [staysDead(3, {})]),
  race('a late save does not bring a destroyed session back', slowly(saveAfter), destroy, [staysDead(3, {})]),
  race(
    'a late write with the old ID does not reach the session of after a regenerate',
    slowly(write('late')),
    regenerate,
  ),
  race(
    'a late write to an ID of before a regenerate is dropped',
    async (req, res, tools) => {
      const { sessionID, sessionStore } = req
      dataOf(req.session)
      tools.tell('the slow one has begun')
      await tools.hear('the quick one is done')
      bag(req)['late'] = true
      await ending((done) => req.session.save(done))
      sessionStore.get(sessionID, (_error, found) => res.json({ found: Boolean(found) }))
    },
    regenerate,
    [staysDead(1, { found: false })],
  ),
  race(
    'reload of a session that another request destroyed is an error',
    slowly(async (req, res) => res.json({ reloaded: await ending((done) => req.session.reload(done)) })),
    destroy,
  ),
  race('two requests that destroy one session both succeed', slowly(destroy), destroy),
  {
    name: 'twenty readers of one session at once see the same',
    steps: ['GET /write', { together: Array.from({ length: 20 }, () => 'GET /read') }],
  },
  {
    name: 'twenty requests at once without a cookie begin twenty sessions, and one stays',
    steps: [{ together: Array.from({ length: 20 }, () => 'GET /write') }, 'GET /read'],
  },
  {
    name: 'twenty writers of one session at once all succeed, and one of them is found',
    pages: {
      '/number': (req, res) => {
        bag(req)['number'] = req.query['n']
        res.json(req.query['n'])
      },
      '/found': (req, res) => res.json(typeof bag(req)['number']),
    },
    steps: ['GET /write', { together: Array.from({ length: 20 }, (_, n) => `GET /number?n=${n}`) }, 'GET /found'],
  },
]
