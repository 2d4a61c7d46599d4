/** Sessions without Express: WebSocket upgrades, socket.io, and plain `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Request, RequestHandler, Response } from 'express'
import { answer, bag, dataOf, ending, type Kit, type Scenario, type Upgrade } from '../scenario'

/** What a handler of Express makes of a bare request. */
function run(handler: RequestHandler, req: IncomingMessage, res: object): Promise<string> {
  return ending((done) => handler(req as Request, res as Response, done))
}

/** The usual way with `ws`: the session's handler with an empty answer. */
const likeWs =
  (act: (req: IncomingMessage, kit: Kit) => unknown): Upgrade =>
  async (req, socket, kit) => {
    const passed = await run(kit.session, req, {})
    answer(socket, { passed, result: passed === 'done' ? await act(req, kit) : null })
  }

/** What engine.io puts in the place of an answer while a request is upgraded. */
export class UpgradeAnswer {
  readonly #headers = new Map<string, unknown>()
  constructor(
    readonly req: IncomingMessage,
    readonly socket: Duplex,
  ) {}
  setHeader(name: string, value: unknown): void {
    this.#headers.set(name, value)
  }
  getHeader(name: string): unknown {
    return this.#headers.get(name)
  }
  removeHeader(name: string): void {
    this.#headers.delete(name)
  }
  write(): void {}
  writeHead(): void {}
  end(): void {
    this.socket.end()
  }
}

/** As `io.engine.use(handler)` does for an upgrade. */
const likeEngine =
  (handlerOf: (kit: Kit) => RequestHandler): Upgrade =>
  async (req, socket, kit) => {
    const passed = await run(handlerOf(kit), req, new UpgradeAnswer(req, socket))
    answer(socket, { passed, data: passed === 'done' ? dataOf(bag(req)) : null })
  }

/** As `io.engine.use(handler)` does for polling, or connect: handlers of Express on a bare server. */
const bare = (handlerOf: (kit: Kit) => RequestHandler) => (kit: Kit) => (req: IncomingMessage, res: ServerResponse) => {
  const serve = (passed: string) => {
    if (passed !== 'done') res.statusCode = 500
    else if (req.url === '/write') bag(req)['a'] = 1
    res.end(JSON.stringify({ passed, data: passed === 'done' ? dataOf(bag(req)) : null }))
  }
  void run(handlerOf(kit), req, res).then(serve)
}

const read = (req: IncomingMessage) => dataOf(bag(req))
const upgrade = { ask: 'GET /socket', upgrade: true } as const

/** A socket opens in a session that a page has written into, and the next request reads. */
const laterSocket = (name: string, act: Parameters<typeof likeWs>[0]): Scenario => ({
  name,
  upgrade: likeWs(act),
  steps: ['GET /write', upgrade, 'GET /read'],
})

export const sockets: readonly Scenario[] = [
  { name: 'an upgrade without a cookie has an empty session', upgrade: likeWs(read), steps: [upgrade, 'GET /read'] },
  laterSocket('an upgrade writes and saves', async (req) => {
    bag(req)['fromSocket'] = true
    return ending((done) => bag(req).save(done))
  }),
  laterSocket('an upgrade reads the session, and what it writes and does not save is lost', (req) => {
    bag(req)['fromSocket'] = true
    return read(req)
  }),
  {
    name: 'a socket that stays open reloads the session and saves into it',
    upgrade: likeWs(async (req, { tools }) => {
      const before = read(req)
      tools.tell('the socket is open')
      await tools.hear('the page has written')
      const reloaded = await ending((done) => bag(req).reload(done))
      const after = read(req)
      bag(req)['fromSocket'] = true
      return { before, reloaded, after, saved: await ending((done) => bag(req).save(done)) }
    }),
    pages: {
      '/page': async (req, res, { tell, hear }) => {
        await hear('the socket is open')
        bag(req)['fromPage'] = true
        await ending((done) => req.session.save(done))
        tell('the page has written')
        res.json({})
      },
    },
    steps: ['GET /write', { together: [upgrade, 'GET /page'] }, 'GET /read'],
  },
  laterSocket('a socket destroys the session', (req) => ending((done) => bag(req).destroy(done))),
  laterSocket('a socket regenerates the session, and nobody gets the new one', (req) =>
    ending((done) => bag(req).regenerate(done)),
  ),
  {
    name: 'a socket finds ID and store on its request',
    upgrade: likeWs((req) => {
      const { sessionID, sessionStore, session } = req as Request
      return [sessionID === session.id, typeof sessionID, typeof sessionStore.get]
    }),
    steps: [upgrade, 'GET /write', upgrade],
  },
  {
    name: 'twenty sockets open at once',
    upgrade: likeWs(read),
    steps: ['GET /write', { together: Array.from({ length: 20 }, () => upgrade) }],
  },
  {
    name: 'socket.io reads the session while it upgrades',
    upgrade: likeEngine(({ session }) => session),
    steps: ['GET /write', upgrade],
  },
  {
    name: 'socket.io reads the session while it upgrades, with all that the site mounts',
    upgrade: likeEngine(({ mounted }) => mounted),
    steps: [upgrade, 'GET /write', upgrade],
  },
  {
    name: 'socket.io polls with a session, on a server without Express',
    build: bare(({ session }) => session),
    steps: ['GET /read', 'GET /write', 'GET /read'],
  },
  {
    name: 'a server without Express mounts all that the site mounts',
    build: bare(({ mounted }) => mounted),
    steps: ['GET /read', 'GET /write', 'GET /read'],
  },
]
