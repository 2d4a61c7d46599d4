/** Where a site mounts its session, and what stands around it. */
import { PassThrough } from 'node:stream'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import onHeaders from 'on-headers'
import { around, bag, dataOf, firstPage, type Kit, laterPage, onPage, type Page, type Scenario } from '../scenario'

const takeBody: Page = (req, res) => {
  bag(req)['body'] = req.body
  res.json(dataOf(req.session))
}

const inParts: Page = (req, res) => {
  bag(req)['a'] = 1
  res.write('one ')
  bag(req)['b'] = 2
  res.end('two')
}

const noteFiles: RequestHandler = (req, _res, next) => {
  bag(req)['files'] = true
  next()
}

/** A session of the site under a name of its own. */
const second = () =>
  session({ name: 'second.sid', secret: 'the second session of this site', resave: false, saveUninitialized: false })

/** As `compression` does it: takes `write` and `end` of an answer, and sends it on through a stream, later. */
function throughStream(_req: Request, res: Response, next: NextFunction): void {
  const { write, end } = res
  const stream = new PassThrough()
  onHeaders(res, () => {
    res.removeHeader('content-length')
    res.vary('accept-encoding')
  })
  stream.on('data', (chunk: Buffer) => void write.call(res, chunk, 'utf8'))
  stream.once('end', () => void end.call(res, undefined, 'utf8'))
  const begin = () => res.headersSent || res.writeHead(res.statusCode)
  Object.assign(res, {
    write: (chunk: string | Buffer) => {
      begin()
      return stream.write(chunk)
    },
    end: (chunk?: string | Buffer) => {
      begin()
      stream.end(chunk)
      return res
    },
  })
  next()
}

/** A handler writes into the session before each file of this folder. */
const files = around({
  after: ({ express }) => [express.Router().use('/files', noteFiles, express.static(__dirname, { maxAge: 1000 }))],
})

const json = { ask: 'POST /page', json: { a: [1, 'ä'] } }
const places = ['before', 'after'] as const

export const mounting: readonly Scenario[] = [
  ...places.map((place) =>
    onPage(`a body parser ${place} the session`, [json, 'GET /read'], takeBody, {
      build: around({ [place]: ({ express }: Kit) => [express.json()] }),
    }),
  ),
  ...places.map((place) =>
    laterPage(`a wrapper of write and end ${place} the session`, inParts, {
      build: around({ [place]: () => [throughStream] }),
      headers: ['vary'],
    }),
  ),
  {
    name: 'pages in an application that is mounted below a path',
    build: (kit) => {
      const [app, shop] = [kit.express(), kit.express()]
      app.use(kit.mounted)
      app.use('/shop', kit.addPages(shop))
      return kit.addPages(app)
    },
    steps: ['GET /shop/write', 'GET /shop/read', 'GET /read'],
  },
  {
    name: 'the session in a router below a path is there, and elsewhere not',
    build: (kit) => {
      const app = kit.express()
      const shop = kit.express.Router()
      shop.use(kit.session)
      shop.get('/write', (req, res) => {
        bag(req)['a'] = 1
        res.json({})
      })
      shop.get('/read', (req, res) => void res.json(dataOf(req.session)))
      app.use('/shop', shop)
      app.get('/outside', (req, res) => void res.json({ session: typeof req.session }))
      return app
    },
    steps: ['GET /shop/write', 'GET /shop/read', 'GET /outside', 'GET /shop/read'],
  },
  {
    name: 'a file from a folder, in a session that was written into before',
    build: files,
    steps: ['GET /write', 'GET /files/index.ts', 'HEAD /files/index.ts', 'GET /files/none', 'GET /read'],
    headers: ['cache-control'],
    visitors: ['reader'],
  },
  {
    name: 'a file from a folder that begins a session',
    build: files,
    steps: ['GET /files/index.ts', 'GET /files/index.ts'],
    headers: ['cache-control'],
    visitors: ['stranger'],
    differs: [
      {
        row: 'a response with our cookie is private',
        at: 0,
        ours: { headers: { 'cache-control': 'private, no-store' } },
      },
    ],
  },
  {
    name: 'the same session mounted twice',
    build: around({ after: ({ mounted }) => [mounted] }),
    steps: ['GET /write', 'GET /read', 'GET /write', 'GET /read'],
  },
  {
    name: 'the session mounted alone, and all of it after that',
    build: around({ before: ({ session }) => [session] }),
    steps: ['GET /write', 'GET /read'],
  },
  {
    name: 'a second session of another name after ours is passed by',
    build: around({ after: () => [second()] }),
    steps: ['GET /write', 'GET /read', 'GET /write'],
  },
  {
    name: 'a session of the site before ours is the one that counts',
    build: (kit) => {
      const app = kit.express()
      app.use(second())
      app.use(kit.session)
      return kit.addPages(app)
    },
    steps: ['GET /write', 'GET /read', 'GET /write'],
  },
  firstPage('a request that wraps another one reads its session', (req, res) => {
    const wrapped = Object.create(req) as Request
    bag(wrapped)['a'] = 1
    res.json({ same: wrapped.session === req.session, id: wrapped.sessionID === req.sessionID })
  }),
]
