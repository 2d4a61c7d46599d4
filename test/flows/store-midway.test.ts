import express, { type Express } from 'express'
import { type Sso2, Sso2Error } from '../../lib'
import type { Browser } from '../support/agent'
import { failingStore } from '../support/failing-store'
import { ada, addPages, eventually, type Gates, logIn, type PageView, startSetup, view } from '../support/setup'

/*
 * The store goes away in the middle of a request, after each of its commands in turn, or before it answers it: the browser
 * gets a response at once, no page shows another user, and all is well when the store is back.
 */

function build(sso: Sso2, gates: Gates): Express {
  const app = express()
  app.use(sso)
  app.get('/renew', (req, res, next) =>
    req.session.regenerate((error) => (error ? next(error) : res.json({ ok: true }))),
  )
  app.get('/me', (req, res, next) => {
    req.sso2.api.get('/external/api/v1/me').then(() => res.json({ ok: true }), next)
  })
  addPages(app, sso, gates)
  const failed: express.ErrorRequestHandler = (error, _req, res, _next) =>
    void res.status(error instanceof Sso2Error ? 503 : 500).json({ name: error.name })
  return app.use(failed)
}

/** A setup of its own, and a morning site whose store can go away. */
async function openScene() {
  const store = failingStore()
  const setup = await startSetup({ build, site: (name) => (name === 'morning' ? { redis: store.client } : {}) })
  const at = (path: string) => `${setup.morning.url}${path}`
  return {
    setup,
    store,
    at,
    /** Visits a page after the store is back. On a busy machine the store may be late once more. */
    pageAtLast: async (browser: Browser): Promise<PageView> => {
      let page = view(await browser.visit(at('/')))
      for (let tries = 1; tries < 5 && page.degraded === 'store_unavailable'; tries += 1) {
        await store.comeBack(setup.morning.sso)
        page = view(await browser.visit(at('/')))
      }
      return page
    },
    close: async () => {
      await setup.close()
      store.client.disconnect()
    },
  }
}
type Scene = Awaited<ReturnType<typeof openScene>>

type Act = (browser: Browser, scene: Scene) => Promise<{ status: number }>

/** What is done while the store goes away, and where it begins. */
const actions: [name: string, prepare: Act, act: Act][] = [
  [
    'a login',
    (browser, { at }) => browser.visit(at('/login')),
    (browser, { at }) => browser.submit(at('/login'), { ...ada, return_to: '/' }),
  ],
  [
    'a call whose access token is refused',
    async (browser, { setup }) => {
      const page = await logIn(browser, setup.morning, ada)
      setup.emulator.faults.add({ operation: 'me', kind: 'status', code: 401, times: 1 })
      return page
    },
    (browser, { at }) => browser.fetchJson(at('/me')),
  ],
  [
    'a new session ID',
    (browser, { setup }) => logIn(browser, setup.morning, ada),
    (browser, { at }) => browser.fetchJson(at('/renew')),
  ],
]

const ways: [way: string, doesOneMore: boolean][] = [
  ['before it does a command', false],
  ['before it answers one', true],
]
const rows = actions.flatMap(([name, ...acts]) => ways.map(([way, isDone]) => [name, way, isDone, ...acts] as const))

// each row waits for its own store most of the time, so the rows run together
test.concurrent.each(rows)('%s, and the store goes away %s', async (_name, _way, doesOneMore, prepare, act) => {
  const scene = await openScene()
  await loseStoreAtEachCommand(scene, doesOneMore, prepare, act).finally(scene.close)
})

async function loseStoreAtEachCommand(scene: Scene, doesOneMore: boolean, prepare: Act, act: Act): Promise<void> {
  const { setup, store } = scene
  const told: number[] = []
  for (let commands = 0, isOver = false; !isOver; commands += 1) {
    const browser = setup.browser()
    const isReady = () =>
      prepare(browser, scene).then(
        ({ status }) => status === 200, // on a busy machine the store may be late: no form, or no login
        () => false,
      )
    await eventually(isReady)
    store.goAwayAfter(commands, doesOneMore)
    told.push((await act(browser, scene)).status)
    isOver = store.asked <= commands
    setup.emulator.faults.clear()
    await store.comeBack(setup.morning.sso)
    setup.emulator.clock.advance(10)
    const { status, degraded, username } = await scene.pageAtLast(browser)
    expect([commands, degraded, username]).toEqual([commands, undefined, status === 'loggedin' ? 'ada' : undefined])
    expect(['anon', 'loggedin', 'none']).toContain(status) // none: for a few seconds, if Redis failed between two sessions
  }
  // 409: a login that may still be under way
  expect(told.filter((status) => ![200, 401, 409, 503].includes(status))).toEqual([])
  expect(told).toContain(503)
}
