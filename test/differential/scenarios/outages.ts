/** A store that is away, or refuses to write. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { answer, bag, dataOf, ending, onPage, type Page, type Scenario } from '../scenario'

type Call = 'save' | 'reload' | 'regenerate' | 'destroy'

/** The store goes away while the page is made, which then calls. */
const callWithoutStore =
  (name: Call): Page =>
  async (req, res, { setStore }) => {
    const { session } = req
    if (name === 'save') bag(req)['b'] = 2
    await setStore('away')
    await nextTurn()
    res.json({ [name]: await ending((done) => session[name](done)) })
  }

const save =
  (name: string, value: number): Page =>
  async (req, res) => {
    bag(req)[name] = value
    res.json({ saved: await ending((done) => req.session.save(done)) })
  }

/** The page is made as if its session were new, and what it writes is not kept. */
const served = (at: number, body: unknown) =>
  ({ row: 'a page is served while the store is away', visitor: 'reader', at, ours: { status: 200, body } }) as const

const scenarios: readonly Scenario[] = [
  {
    name: 'a page that reads its session is served while the store is away',
    steps: ['GET /write', { store: 'away' }, 'GET /read', { store: 'there' }, 'GET /read'],
    differs: [{ row: 'a page is served while the store is away', at: 1, ours: { status: 200, body: {} } }],
  },
  {
    name: 'a page that writes into its session is served while the store is away',
    steps: [{ store: 'away' }, 'GET /write', { store: 'there' }, 'GET /read'],
    visitors: ['reader'],
    differs: [served(0, { wrote: true })],
  },
  {
    name: 'a page that does not ask for its session is served while the store is away',
    steps: [{ store: 'away' }, 'GET /nothing', 'GET /nothing'],
    visitors: ['reader'],
    differs: [served(0, {}), served(1, {})],
  },
  {
    name: 'a stranger is served while the store is away',
    steps: [{ store: 'away' }, 'GET /read', 'GET /nothing'],
    visitors: ['stranger'],
  },
  {
    name: 'an upgrade passes while the store is away',
    upgrade: async (req, socket, kit) => {
      const passed = await ending((done) => kit.session(req as never, {} as never, done))
      answer(socket, { passed, data: passed === 'done' ? dataOf(bag(req)) : null })
    },
    steps: [{ store: 'away' }, { ask: 'GET /socket', upgrade: true }],
    visitors: ['reader'],
    differs: [served(0, { passed: 'done', data: {} })],
  },
  ...(['save', 'reload', 'destroy'] as const).map((call) =>
    onPage(
      `${call} tells its callback that the store went away under the page`,
      ['GET /write', 'GET /page'],
      callWithoutStore(call),
    ),
  ),
  onPage(
    'regenerate tells its callback that the store went away under the page, and the browser keeps its cookie',
    ['GET /write', 'GET /page', { store: 'there' }, 'GET /read'],
    callWithoutStore('regenerate'),
    {
      visitors: ['reader'],
      differs: [
        { row: 'an empty session is not stored', at: 1, ours: { cookies: [] } },
        { row: 'an empty session is not stored', at: 2, ours: { body: { a: 1 } } },
      ],
    },
  ),
  onPage(
    'a stranger whose page saves while the store is away is told',
    [{ store: 'away' }, 'GET /page', { store: 'there' }],
    save('a', 1),
    {
      visitors: ['stranger'],
      differs: [{ row: 'a page is served while the store is away', at: 0, ours: { cookies: [] } }],
    },
  ),
  onPage(
    'save tells its callback that the store refused',
    ['GET /write', { store: 'refusing writes' }, 'GET /page', { store: 'there' }, 'GET /read'],
    save('b', 2),
  ),
]

export const outages: readonly Scenario[] = scenarios.map((scenario) => ({
  ...scenario,
  hasOutage: true,
  stacks: ['redis', 'full'],
}))
