import type { Socket } from 'node:net'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { PlatformApiError, Sso2Error, Sso2ResponseError, Sso2UnavailableError } from '../../lib'
import { bodyOf, give, type Listener, listen, restCalls, sso2Calls } from '../support/back-channel'
import { eventually } from '../support/setup'

/** An answer that no caller may take for one. */
interface Garbage {
  what: string
  status?: number
  headers?: Record<string, string>
  /** @param good the body that would be right */
  body: (good: string) => string | Buffer
}

const tokenOf = (good: string) => String(Object.values(JSON.parse(good))[0])
const json = { 'content-type': 'application/json' }
const html = { 'content-type': 'text/html' }
const gzip = { ...json, 'content-encoding': 'gzip' }

/** Bodies that are wrong for every operation, of the SSO system, the token endpoint and the REST API. */
const garbage: Garbage[] = [
  { what: 'nothing', body: () => '' },
  { what: 'a page', headers: html, body: () => '<!doctype html><title>Sign in</title>' },
  { what: 'a list with the right answer', headers: json, body: (good) => `[${good}]` },
  { what: 'the right answer one level down', headers: json, body: (good) => `{"data":${good}}` },
  { what: 'the right answer in __proto__', headers: json, body: (good) => `{"__proto__":${good}}` },
  { what: 'the right answer cut', headers: json, body: (good) => good.slice(0, -2) },
  { what: 'UTF-16', headers: json, body: (good) => Buffer.from(good, 'utf16le') },
  { what: 'a gzip that is none', headers: gzip, body: (good) => good },
  { what: 'the right answer with a 500', status: 500, headers: json, body: (good) => good },
]

/** Bodies that are wrong for the operations of SSO2: `t` must be one text, a token that answers the question. */
const tokenGarbage: Garbage[] = [
  { what: 't twice, the right one last', headers: json, body: (good) => `{"t":"a.b.c",${good.slice(1)}` },
  { what: 't as a list', headers: json, body: (good) => `{"t":["${tokenOf(good)}"]}` },
  { what: 't without a signature', headers: json, body: (good) => `{"t":"${tokenOf(good).replace(/[^.]*$/, '')}"}` },
]

let listeners: Listener[] = []
const open = async (...args: Parameters<typeof listen>) => {
  const listener = await listen(...args)
  listeners.push(listener)
  return listener
}
afterEach(async () => {
  await Promise.all(listeners.map((listener) => listener.close()))
  listeners = []
})

/** How a call ended: what it gave, or the error. */
const outcomeOf = (run: () => Promise<unknown>) =>
  run().then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  )

const calls = [...sso2Calls, ...restCalls]

const printed = (error: Error) =>
  inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + error.message

test.each(calls)(
  '[O5, O6] $operation takes no garbage for an answer, and says so with an error that shows no secret',
  async ({ operation, run, good }) => {
    const list = sso2Calls.some((call) => call.operation === operation) ? [...garbage, ...tokenGarbage] : garbage
    let item: Garbage | undefined = { what: 'the right answer', body: (right) => right }
    const { url } = await open(async (req, res) => {
      const sent = await bodyOf(req)
      give(res, { ...item, body: item?.body(good(sent)) ?? '' })
    })
    expect((await outcomeOf(() => run(url))).error).toBeUndefined()
    const taken: string[] = []
    for (item of list) {
      const { error } = await outcomeOf(() => run(url))
      const isOurs = error instanceof Sso2Error && !(error instanceof TypeError)
      if (!isOurs) taken.push(`${item.what}: ${error === undefined ? 'taken' : String(error)}`)
      else expect(printed(error)).not.toMatch(/a-password|an-access-token|a-ticket|the-session|eyJ/)
    }
    expect(taken).toEqual([])
  },
)

test.each([302, 307])('[O3] a redirect with %i is followed by no operation', async (status) => {
  const target = await open((_req, res) => res.end('{}'))
  const { url } = await open(async (req, res) => {
    await bodyOf(req)
    res.writeHead(status, { location: `${target.url}/sso/sessionstatus`, refresh: `0; url=${target.url}` }).end()
  })
  for (const { operation, run } of calls) {
    const { error } = await outcomeOf(() => run(url))
    expect({ operation, isOurs: error instanceof Sso2ResponseError || error instanceof PlatformApiError }).toEqual({
      operation,
      isOurs: true,
    })
    expect(error).toMatchObject({ httpStatus: status })
  }
  expect(target.connections).toBe(0)
})

const bomb = gzipSync(Buffer.alloc(50_000_000))
const endless = 'x'.repeat(65_536)
const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'

test.each<[what: string, first: string, again?: string]>([
  ['takes the connection and says nothing', ''],
  ['sends a byte of the body now and then', `${head}Content-Length: 60000\r\n\r\n`, ' '],
])(
  '[O4] an answer that %s is given up at the deadline, and its connection is freed',
  async (_what, first, again = '') => {
    const stall = (socket: Socket) => {
      socket.write(first)
      const timer = setInterval(() => socket.write(again), 20)
      socket.once('close', () => clearInterval(timer))
    }
    const listener = await open({ accept: (socket) => socket.once('data', () => stall(socket)) })
    const timed = calls.filter(({ run }) => run.length > 1)
    expect(timed.length).toBeGreaterThanOrEqual(3)
    let ms = Number.POSITIVE_INFINITY
    // a busy machine stands still itself: then again
    for (let tries = 1; tries <= 3 && ms >= 2000; tries += 1) {
      const started = performance.now()
      const outcomes = await Promise.all(timed.map(({ run }) => outcomeOf(() => run(listener.url, 300))))
      ms = performance.now() - started
      for (const { error } of outcomes) expect(error).toBeInstanceOf(Sso2Error)
      expect(outcomes[0]?.error).toBeInstanceOf(Sso2UnavailableError)
    }
    expect(ms).toBeLessThan(2000)
    await eventually(async () => listener.busy.size === 0)
  },
)

test.each([
  ['a body without end', undefined, /larger than 512 KiB/],
  ['a gzip bomb', 'gzip', /content-encoding/],
])('[O4, T14] %s is cut off, and its connection is freed', async (_what, encoding, said) => {
  let sent = 0
  const listener = await open(async (req, res) => {
    await bodyOf(req)
    res.writeHead(200, encoding ? { 'content-encoding': encoding, connection: 'close' } : {})
    if (encoding) return void res.end(bomb)
    const more = () => {
      while (!res.destroyed && sent < 500_000_000) {
        sent += endless.length
        if (!res.write(endless)) return void res.once('drain', more)
      }
    }
    more()
  })
  for (const { run } of calls) {
    const before = process.memoryUsage().rss
    const { error } = await outcomeOf(() => run(listener.url))
    expect(error).toBeInstanceOf(Sso2ResponseError)
    expect(String(error)).toMatch(said)
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
  }
  expect(sent).toBeLessThan(calls.length * 20_000_000)
  await eventually(async () => listener.busy.size === 0)
})
