import { randomUUID } from 'node:crypto'
import { RedisStore } from 'connect-redis'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import session, { type SessionData } from 'express-session'
import { Browser } from '../support/agent'
import { loggedInBrowser, openPort, type Port, sessionSecret, useSetup } from '../support/setup'

/*
 * docs/sessions.md, "Differences from express-session": the same requests go to express-session with connect-redis, to `sso` over Redis
 * with a logged-in user, and to `sso` over memory with a new visitor. The responses are equal. What differs is in session.test.ts.
 */

type Page = (req: Request, res: Response) => unknown
type Data = Record<string, unknown>

const bag = (req: Request) => req.session as unknown as Data
const dataOf = (sess: object | null | undefined): Data => {
  const { cookie: _cookie, ...data }: Data = { ...sess }
  return data
}
/** How a call with a callback ended. */
const ending = (run: (done: (error?: unknown) => void) => unknown) =>
  new Promise<string>((resolve) => {
    try {
      run((error) => resolve(error ? 'error' : 'done'))
    } catch {
      resolve('threw')
    }
  })
const find = (req: Request, id: string) =>
  new Promise<unknown>((resolve) => {
    req.sessionStore.get(id, (error, found) => resolve(error ? 'error' : found ? dataOf(found) : null))
  })
/** Each scenario is played in this order. */
const paths = ['/write', '/page', '/read', '/write', '/page', '/read']

const scenarios: Record<string, Page> = {
  'a write deep inside an object is saved': (req, res) => {
    const basket = (bag(req)['basket'] ?? { lines: [] }) as { lines: object[] }
    basket.lines.push({ copies: basket.lines.length })
    bag(req)['basket'] = basket
    res.json(basket)
  },
  'what is written between two parts of a streamed response is saved': (req, res) => {
    res.write('one ')
    bag(req)['b'] = 2
    res.end('two')
  },
  'an error after a write does not lose it, and the error handler reads the session': (req) => {
    bag(req)['b'] = 2
    throw new Error('thrown')
  },
  'save calls back, twice and at once too, and what is written after it is saved as well': async (req, res) => {
    bag(req)['b'] = 2
    const save = () => ending((done) => req.session.save(done))
    const saved = await Promise.all([save(), save()])
    bag(req)['c'] = 3
    res.json(saved)
  },
  'a session that is emptied and saved takes what is written after it': async (req, res) => {
    delete bag(req)['a']
    const emptied = await ending((done) => req.session.save(done))
    bag(req)['b'] = 2
    res.json(emptied)
  },
  'reload drops what is not saved, and what is written after it is saved': async (req, res) => {
    const { session: old } = req
    bag(req)['a'] = 'not saved'
    const reloaded = await ending((done) => req.session.reload(done))
    const seen = [reloaded, dataOf(req.session), old !== req.session, old.id === req.session.id]
    bag(req)['b'] = 2
    res.json(seen)
  },
  'regenerate gives a new and empty session, whose old ID leads to nothing': async (req, res) => {
    const { sessionID, session: old } = req
    const again = () => ending((done) => req.session.regenerate(done))
    const seen = [await again(), await again(), dataOf(req.session), dataOf(old), await find(req, sessionID)]
    bag(req)['b'] = 2
    res.json([seen, sessionID !== req.sessionID])
  },
  'destroy takes the session from request and store, and the next write begins a new one': async (req, res) => {
    const { session: old } = req
    const ended = [await ending((done) => old.destroy(done)), await ending((done) => old.destroy(done))]
    res.json([ended, typeof req.session, 'session' in req])
  },
  'sessionID and sessionStore may be used before req.session': async (req, res) =>
    res.json([
      Object.keys(req)
        .filter((name) => name.startsWith('session'))
        .sort(),
      await find(req, req.sessionID),
      req.sessionID === req.session.id,
    ]),
  'the store changes a session by its ID': async (req, res) => {
    const { sessionStore: store, sessionID } = req
    bag(req)['b'] = 2
    await ending((done) => req.session.save(done))
    const changed = { cookie: req.session.cookie, b: 3 } as unknown as SessionData
    res.json([await ending((done) => store.set(sessionID, changed, done)), await find(req, sessionID)])
  },
}

const showError: ErrorRequestHandler = (error, req, res, _next) =>
  void res.status(500).json([error.message, dataOf(req.session)])

/** A site of all scenarios, on a session of ours or theirs. */
function build(mounted: RequestHandler): Express {
  const app = express().use(mounted)
  app.all(/\/write$/, (req, res) => {
    bag(req)['a'] = 1
    res.json(req.body ?? {})
  })
  app.all(/\/read$/, (req, res) => void res.json(dataOf(req.session)))
  app.get('/empty', (req, res) => {
    for (const name of Object.keys(dataOf(req.session))) delete bag(req)[name]
    res.json({})
  })
  app.get('/', (req, res) => void res.json({ status: req.sso2.status }))
  for (const [index, page] of Object.values(scenarios).entries()) app.get(`/page/${index}`, page as RequestHandler)
  return app.use(showError)
}

const setup = useSetup({
  build: (sso) => build(sso),
  site: (name) => (name === 'evening' ? { redis: undefined as never } : {}),
})
let plain: Port
beforeAll(async () => {
  plain = await openPort('plain')
  const store = new RedisStore({ client: setup.redis, prefix: `plain-${randomUUID()}:` })
  plain.server.on('request', build(session({ secret: sessionSecret, store, resave: false, saveUninitialized: false })))
})
afterAll(() => plain.server.close().closeAllConnections())

let reader: Browser | undefined
async function emptyReader(): Promise<Browser> {
  reader ??= await loggedInBrowser(setup)
  await reader.visit(`${setup.morning.url}/empty`)
  return reader
}

/** What the responses say, and whether they set the session's cookie again. */
async function answers(url: string, browser: Browser, paths: readonly string[]) {
  const seen: unknown[] = []
  for (const path of paths) {
    const answer = await browser.fetchJson(`${url}${path}`, path.endsWith('write') ? { method: 'POST' } : {})
    const cookies = (answer.headers['set-cookie'] ?? []).filter((line) => /^(sso2|connect)\.sid=s/.test(line))
    seen.push([path, answer.status, answer.json ?? answer.body, seen.length > 0 && cookies.length])
  }
  return seen
}

test.each(Object.keys(scenarios).map((what, index) => [what, index] as const))('[S19, S20] %s', async (what, index) => {
  const walk = paths.map((path) => path.replace('/page', `/page/${index}`))
  const expected = await answers(plain.url, new Browser(), walk)
  expect(await answers(setup.evening.url, setup.browser(), walk)).toEqual(expected)
  const endsLogin = what.startsWith('regenerate') // what is written then is hidden until the login is back
  expect(await answers(setup.morning.url, endsLogin ? setup.browser() : await emptyReader(), walk)).toEqual(expected)
})
