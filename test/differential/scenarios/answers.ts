/** How an answer is given, and when the session is saved in the course of it. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { around, bag, dataOf, ending, firstPage, laterPage, onPage, type Scenario } from '../scenario'

const readError = (error: Error, req: Request, res: Response, _next: NextFunction) =>
  void res.status(503).json({ message: error.message, data: dataOf(req.session) })

const noteThePath: RequestHandler = (req, _res, next) => {
  bag(req)['seen'] = req.path
  next()
}

/** A request does something when its answer is out. The next request waits for that and tells what came of it. */
function afterTheAnswer(name: string, act: (req: Request) => Promise<unknown>): Scenario {
  let result: unknown
  return {
    name,
    pages: {
      '/late': (req, res, { tell }) => {
        res.once('finish', async () => {
          result = await act(req)
          tell('done')
        })
        res.json({})
      },
      '/after': async (_req, res, { hear }) => {
        await hear('done')
        res.json({ result })
      },
    },
    steps: ['GET /write', 'GET /late', 'GET /after', 'GET /read'],
  }
}

export const answers: readonly Scenario[] = [
  firstPage(
    'a redirect right after a write lets the next page see it',
    (req, res) => {
      bag(req)['a'] = 1
      res.redirect('/read')
    },
    { headers: ['location'] },
  ),
  firstPage('what is written between two parts of a streamed answer', (req, res) => {
    bag(req)['a'] = 1
    res.write('one ')
    bag(req)['b'] = 2
    res.end('two')
  }),
  firstPage('what is written only after the head of the answer is out', (req, res) => {
    res.write('one ')
    bag(req)['a'] = 1
    res.end('two')
  }),
  firstPage('what is written and saved after the head of the answer is out', async (req, res) => {
    res.write('one ')
    bag(req)['a'] = 1
    const saved = await ending((done) => req.session.save(done))
    res.end(saved)
  }),
  laterPage('a session destroyed after the head of the answer is out is gone', async (req, res) => {
    res.write('one ')
    res.end(await ending((done) => req.session.destroy(done)))
  }),
  firstPage('a head sent early, then a write', (req, res) => {
    res.status(202).flushHeaders()
    bag(req)['a'] = 1
    res.end('late')
  }),
  firstPage(
    'writeHead and end after a write',
    (req, res) => {
      bag(req)['a'] = 1
      res.writeHead(201, { 'content-type': 'text/plain', 'x-own': 'yes' })
      res.end('made')
    },
    { headers: ['x-own', 'content-type'] },
  ),
  firstPage(
    'an answer with its length, ended with a Buffer',
    (req, res) => {
      bag(req)['a'] = 1
      res.set('content-length', '6')
      res.end(Buffer.from('häll!'))
    },
    { headers: ['content-length'] },
  ),
  firstPage('an answer in another encoding', (req, res) => {
    bag(req)['a'] = 1
    res.end('68656c6c6f', 'hex')
  }),
  firstPage('ending an answer twice gives one answer', (req, res) => {
    bag(req)['a'] = 1
    res.end('first')
    bag(req)['second'] = res.end('second') as unknown
  }),
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
  onPage(
    'an answer that has not changed since is 304 and saves the session',
    ['GET /page', { ask: 'GET /page', headers: { 'if-none-match': '"one"' } }, 'GET /read'],
    (req, res) => {
      bag(req)['reads'] = Number(bag(req)['reads'] ?? 0) + 1
      res.set('etag', '"one"').send('page')
    },
    { headers: ['etag'] },
  ),
  firstPage('an error thrown after a write does not lose it', (req) => {
    bag(req)['a'] = 1
    throw Object.assign(new Error('thrown'), { status: 418 })
  }),
  firstPage(
    'an error handler reads and writes the session',
    (req, _res, _tools, next) => {
      bag(req)['a'] = 1
      next(new Error('told'))
    },
    { build: around({ behindPages: () => [readError] }) },
  ),
  onPage(
    'an error handler is the first to ask for the session',
    ['GET /write', 'GET /page'],
    () => Promise.reject(new Error('rejected')),
    { build: around({ behindPages: () => [readError] }) },
  ),
  {
    name: 'a page that is not found keeps what was written before',
    build: around({ after: () => [noteThePath] }),
    steps: ['GET /missing', 'GET /read'],
  },
  afterTheAnswer('what is saved after the answer is out reaches the next request', (req) => {
    bag(req)['late'] = true
    return ending((done) => req.session.save(done))
  }),
  afterTheAnswer('what is written after the answer is out, and not saved, is lost', async (req) => {
    bag(req)['late'] = true
  }),
  afterTheAnswer('a session first asked for after the answer is out', async (req) => dataOf(req.session)),
]
