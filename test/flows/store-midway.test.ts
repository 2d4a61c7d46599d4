import express, { type Express } from 'express'
import { type Command, Redis } from 'ioredis'
import { type Sso2, Sso2Error } from '../../lib'
import type { Browser } from '../support/agent'
import { ada, addPages, eventually, type Gates, logIn, type Network, redisUrl, startNetwork, view } from './network'

/*
 * The store goes away in the middle of a request, after each of its commands in turn: whoever is waiting is told at once,
 * nobody gets a page of somebody else's state, and all is well when the store is back.
 */

let network: Network
let client: Redis
/** Commands that the store still answers. */
let left = Number.POSITIVE_INFINITY
/** Commands that it was asked since it was told how many it answers. */
let asked = 0

/** A client of a real Redis, whose connection ends where it is told to; a transaction, or a pipeline, is one command. */
function openClient(): Redis {
  const redis = new Redis(redisUrl(), { maxRetriesPerRequest: 1 })
  const send = redis.sendCommand.bind(redis)
  const groups = new WeakMap<object, boolean>()
  const isAnswered = (group: object | undefined) => {
    const known = group && groups.get(group)
    if (known !== undefined) return known
    asked += 1
    if (group) groups.set(group, asked <= left)
    return asked <= left
  }
  redis.sendCommand = (command: Command, stream) => {
    if (redis.status !== 'ready' || isAnswered(stream)) return send(command, stream)
    command.reject(new Error('Connection is closed.'))
    return command.promise
  }
  return redis
}

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

beforeAll(async () => {
  client = openClient()
  network = await startNetwork({ build, site: (name) => (name === 'morning' ? { redis: client } : {}) })
})
afterAll(async () => {
  left = Number.POSITIVE_INFINITY
  await network.close()
  client.disconnect()
})

const at = (path: string) => `${network.morning.url}${path}`

type Act = (browser: Browser) => Promise<unknown>

/** What is done while the store goes away, and where it begins. */
const actions: [name: string, prepare: Act, act: (browser: Browser) => Promise<{ status: number }>][] = [
  [
    'a login',
    (browser) => browser.visit(at('/login')),
    (browser) => browser.submit(at('/login'), { ...ada, return_to: '/' }),
  ],
  [
    'a check',
    async (browser) => {
      await logIn(browser, network.morning, ada)
      network.emulator.clock.advance(370)
    },
    (browser) => browser.visit(at('/account')),
  ],
  [
    'a check of a session that has ended',
    async (browser) => {
      await logIn(browser, network.morning, ada)
      for (const { sid } of network.emulator.sessions()) network.emulator.terminate(sid)
    },
    (browser) => browser.fetchJson(at('/sensitive')),
  ],
  [
    'a call whose access token is refused',
    async (browser) => {
      await logIn(browser, network.morning, ada)
      network.emulator.faults.add({ operation: 'me', kind: 'status', code: 401, times: 1 })
    },
    (browser) => browser.fetchJson(at('/me')),
  ],
  ['a new session ID', (browser) => logIn(browser, network.morning, ada), (browser) => browser.fetchJson(at('/renew'))],
]

test.each(actions)('%s, whichever command is the last that is answered', async (_name, prepare, act) => {
  const told: number[] = []
  for (let commands = 0; ; commands += 1) {
    const browser = network.browser()
    const isReady = () =>
      prepare(browser).then(
        () => true,
        () => false, // no form on a machine that is busy
      )
    await eventually(isReady)
    asked = 0
    left = commands
    told.push((await act(browser)).status)
    const isDone = asked <= left
    left = Number.POSITIVE_INFINITY
    network.emulator.faults.clear()
    await eventually(async () => (await network.morning.sso.health()).store === 'ok')
    network.emulator.clock.advance(10)
    const { status, degraded, username } = view(await browser.visit(at('/')))
    expect([commands, degraded, username]).toEqual([commands, undefined, status === 'loggedin' ? 'ada' : undefined])
    expect(['anon', 'loggedin']).toContain(status)
    if (isDone) break
  }
  // 409: a login that may still be under way
  expect(told.filter((status) => ![200, 401, 409, 503].includes(status))).toEqual([])
  expect(told).toContain(503)
})
