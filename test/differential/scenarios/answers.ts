/** How an answer is given, and when the session is saved in the course of it. */
import type { NextFunction, Request, Response } from 'express'
import { bag, dataOf, ending, type Scenario } from '../scenario'

const readError = (error: Error, req: Request, res: Response, _next: NextFunction) =>
  void res.status(503).json({ message: error.message, data: dataOf(req.session) })

/** What one request leaves for the next; scenarios run one after the other. */
const late: { data: unknown } = { data: undefined }

export const answers: readonly Scenario[] = [
  {
    name: 'a redirect right after a write lets the next page see it',
    pages: {
      '/go': (req, res) => {
        bag(req)['a'] = 1
        res.redirect('/read')
      },
    },
    steps: ['GET /go', 'GET /read'],
    headers: ['location'],
  },
  {
    name: 'what is written before the first part of a streamed answer is saved',
    pages: {
      '/stream': (req, res) => {
        bag(req)['a'] = 1
        res.write('one ')
        res.end('two')
      },
    },
    steps: ['GET /stream', 'GET /read'],
  },
  {
    name: 'what is written between two parts of a streamed answer',
    pages: {
      '/stream': (req, res) => {
        bag(req)['a'] = 1
        res.write('one ')
        bag(req)['b'] = 2
        res.end('two')
      },
    },
    steps: ['GET /stream', 'GET /read'],
  },
  {
    name: 'what is written only after the head of the answer is out',
    pages: {
      '/stream': (req, res) => {
        res.write('one ')
        bag(req)['a'] = 1
        res.end('two')
      },
    },
    steps: ['GET /stream', 'GET /read'],
  },
  {
    name: 'what is written and saved after the head of the answer is out',
    pages: {
      '/stream': async (req, res) => {
        res.write('one ')
        bag(req)['a'] = 1
        const saved = await ending((done) => req.session.save(done))
        res.end(saved)
      },
    },
    steps: ['GET /stream', 'GET /read'],
  },
  {
    name: 'a session destroyed after the head of the answer is out is gone',
    pages: {
      '/stream': async (req, res) => {
        res.write('one ')
        res.end(await ending((done) => req.session.destroy(done)))
      },
    },
    steps: ['GET /write', 'GET /stream', 'GET /read'],
  },
  {
    name: 'a head sent early, then a write',
    pages: {
      '/flush': (req, res) => {
        res.status(202).flushHeaders()
        bag(req)['a'] = 1
        res.end('late')
      },
    },
    steps: ['GET /flush', 'GET /read'],
  },
  {
    name: 'writeHead and end after a write',
    pages: {
      '/head': (req, res) => {
        bag(req)['a'] = 1
        res.writeHead(201, { 'content-type': 'text/plain', 'x-own': 'yes' })
        res.end('made')
      },
    },
    steps: ['GET /head', 'GET /read'],
    headers: ['x-own', 'content-type'],
  },
  {
    name: 'an answer with its length, ended with a Buffer',
    pages: {
      '/buffer': (req, res) => {
        bag(req)['a'] = 1
        res.set('content-length', '6')
        res.end(Buffer.from('häll!'))
      },
    },
    steps: ['GET /buffer', 'GET /read'],
    headers: ['content-length'],
  },
  {
    name: 'an answer in another encoding',
    pages: {
      '/hex': (req, res) => {
        bag(req)['a'] = 1
        res.end('68656c6c6f', 'hex')
      },
    },
    steps: ['GET /hex', 'GET /read'],
  },
  {
    name: 'ending an answer twice gives one answer',
    pages: {
      '/twice': (req, res) => {
        bag(req)['a'] = 1
        res.end('first')
        bag(req)['second'] = res.end('second') as unknown
      },
    },
    steps: ['GET /twice', 'GET /read'],
  },
  {
    name: 'an answer without a body',
    pages: {
      '/no-content': (req, res) => {
        bag(req)['a'] = 1
        res.sendStatus(204)
      },
      '/empty': (req, res) => {
        bag(req)['b'] = 2
        res.end()
      },
    },
    steps: ['GET /no-content', 'GET /empty', 'GET /read'],
  },
  {
    name: 'HEAD writes as GET does',
    steps: ['HEAD /write', 'HEAD /read', 'GET /read'],
    headers: ['content-length'],
  },
  { name: 'OPTIONS and DELETE have a session', steps: ['OPTIONS /write', 'DELETE /read', 'PUT /read'] },
  {
    name: 'an answer that has not changed since is 304 and saves the session',
    pages: {
      '/etag': (req, res) => {
        bag(req)['reads'] = Number(bag(req)['reads'] ?? 0) + 1
        res.set('etag', '"one"').send('page')
      },
    },
    steps: ['GET /etag', { ask: 'GET /etag', headers: { 'if-none-match': '"one"' } }, 'GET /read'],
    headers: ['etag'],
  },
  {
    name: 'an error thrown after a write does not lose it',
    pages: {
      '/throw': (req) => {
        bag(req)['a'] = 1
        throw Object.assign(new Error('thrown'), { status: 418 })
      },
    },
    steps: ['GET /throw', 'GET /read'],
  },
  {
    name: 'an error handler reads and writes the session',
    build: (kit) => {
      const app = kit.express()
      app.use(kit.mounted)
      kit.addPages(app)
      app.use(readError)
      return app
    },
    pages: {
      '/fail': (req, _res, _tools, next) => {
        bag(req)['a'] = 1
        next(new Error('told'))
      },
    },
    steps: ['GET /fail', 'GET /read'],
  },
  {
    name: 'an error handler is the first to ask for the session',
    build: (kit) => {
      const app = kit.express()
      app.use(kit.mounted)
      kit.addPages(app)
      app.use(readError)
      return app
    },
    pages: { '/fail': () => Promise.reject(new Error('rejected')) },
    steps: ['GET /write', 'GET /fail'],
  },
  {
    name: 'a page that is not found keeps what was written before',
    build: (kit) => {
      const app = kit.express()
      app.use(kit.mounted)
      app.use((req, _res, next) => {
        bag(req)['seen'] = req.path
        next()
      })
      return kit.addPages(app)
    },
    steps: ['GET /missing', 'GET /read'],
  },
  {
    name: 'what is saved after the answer is out reaches the next request',
    pages: {
      '/late': (req, res, { tell }) => {
        res.once('finish', () => {
          bag(req)['late'] = true
          ending((done) => req.session.save(done)).then(() => tell('saved'))
        })
        res.json({})
      },
      '/after': async (_req, res, { hear }) => {
        await hear('saved')
        res.json({})
      },
    },
    steps: ['GET /write', 'GET /late', 'GET /after', 'GET /read'],
  },
  {
    name: 'what is written after the answer is out, and not saved, is lost',
    pages: {
      '/late': (req, res, { tell }) => {
        res.once('finish', () => {
          bag(req)['late'] = true
          tell('written')
        })
        res.json({})
      },
      '/after': async (_req, res, { hear }) => {
        await hear('written')
        res.json({})
      },
    },
    steps: ['GET /write', 'GET /late', 'GET /after', 'GET /read'],
  },
  {
    name: 'a session first asked for after the answer is out',
    pages: {
      '/late': (req, res, { tell }) => {
        res.once('finish', () => {
          late.data = dataOf(req.session)
          tell('read')
        })
        res.json({})
      },
      '/after': async (_req, res, { hear }) => {
        await hear('read')
        res.json(late.data)
      },
    },
    steps: ['GET /write', 'GET /late', 'GET /after'],
  },
]
