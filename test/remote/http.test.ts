import http from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { Sso2ResponseError } from '../../lib/errors'
import { type Call, readJson, retryAfterSeconds, sendCall } from '../../lib/remote/http'
import { type Behaviour, failure, json, useFaultyServer } from '../support/faulty-server'

const server = useFaultyServer()
afterEach(() => {
  jest.useRealTimers()
  jest.restoreAllMocks()
})

const call = (options: Partial<Call> = {}) =>
  sendCall({ operation: 'asking', url: `${server.url}/x`, method: 'GET', timeoutMs: 5000, ...options })

test('a call sends what it is given, asks for JSON where nothing else is said, and gives what came back', async () => {
  server.become((res) => json(res, 404, { a: 1 }, { 'x-a': 'b' }))
  const { status, headers, text } = await call({ method: 'POST', body: 'sent', headers: { 'x-c': 'd' } })
  expect([status, headers.get('x-a'), text]).toEqual([404, 'b', '{"a":1}'])
  await call({ url: `${server.url}/y?z=https://z.example`, headers: { accept: 'text/html' } })
  const [uncompressed, agent] = [{ 'accept-encoding': 'identity' }, { 'user-agent': 'express-sso2' }]
  expect(server.seen).toMatchObject([
    { method: 'POST', url: '/x', body: 'sent', headers: { accept: 'application/json', 'x-c': 'd', ...uncompressed } },
    {
      method: 'GET',
      url: '/y?z=https://z.example',
      body: '',
      headers: { accept: 'text/html', ...uncompressed, ...agent },
    },
  ])
})

test.each<[encoding: string, encode: (text: string) => Buffer | string]>([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['__proto__', String],
])('a body in the encoding %s is read', async (encoding, encode) => {
  server.become((res) => res.writeHead(200, { 'content-encoding': encoding }).end(encode('{}')))
  expect((await call()).text).toBe('{}')
})

test.each([300, 399])('HTTP %i is refused, and an answer only where it was asked for', async (status) => {
  server.become((res) => res.writeHead(status, { location: '/elsewhere' }).end())
  const error = await failure(call())
  expect(error).toBeInstanceOf(Sso2ResponseError)
  expect(error).toMatchObject({ httpStatus: status, message: `asking: a redirect is not followed (HTTP ${status})` })
  const answer = await call({ takesRedirect: true })
  expect([answer.status, answer.headers.get('location'), server.seen.length]).toEqual([status, '/elsewhere', 2])
})

test.each([200, 204])('an emulator that answers %i is refused in production alone', async (status) => {
  server.become((res) => res.writeHead(status, { 'x-sso2-emulator': '1' }).end())
  const before = process.env['NODE_ENV']
  try {
    expect((await call()).status).toBe(status)
    process.env['NODE_ENV'] = 'production'
    expect(await failure(call())).toMatchObject({
      httpStatus: status,
      message: `asking: this is the emulator, and NODE_ENV is production (HTTP ${status})`,
    })
    server.become((res) => res.writeHead(status).end())
    expect((await call()).status).toBe(status)
  } finally {
    process.env['NODE_ENV'] = before
  }
})

test('[O5] an answer that changes the protocol ends the call at once, without a response', async () => {
  server.become(({ socket }) => {
    socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  })
  expect(await failure(call())).toMatchObject({ message: 'asking: no answer (no connection)', retryable: false })
})

test.each([
  [65_536, undefined, '64 KiB'],
  [524_288, 524_288, '512 KiB'],
])('a body of %i bytes is taken, and one of a byte more is not', async (size, maxBytes, said) => {
  const options = maxBytes === undefined ? {} : { maxBytes }
  let length = size
  const behaviours: Behaviour[] = [
    (res) => res.end('x'.repeat(length)),
    (res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(length))),
  ]
  for (const behave of behaviours) {
    server.become(behave)
    length = size
    expect((await call(options)).text.length).toBe(size)
    length = size + 1
    expect(await failure(call(options))).toMatchObject({
      code: 'ERR_SSO2_RESPONSE',
      message: `asking: the body is larger than ${said} (HTTP 200)`,
    })
  }
})

test('a call that is not answered is given up at its deadline, and one that its caller gives up with his reason', async () => {
  server.become(() => {})
  const tooLate = { message: 'asking: no answer within 100 ms', retryable: false, timedOut: true }
  expect(await failure(call({ timeoutMs: 100, signal: new AbortController().signal }))).toMatchObject(tooLate)
  const controller = new AbortController()
  const reason = new Error('no more')
  server.become(() => controller.abort(reason))
  expect(await failure(call({ signal: controller.signal }))).toBe(reason)
})

/* Connections that fail. */

test.each([
  ['ECONNREFUSED', true, { code: 'ECONNREFUSED' }],
  ['EAI_AGAIN', true, { code: 'EAI_AGAIN' }],
  ['EPIPE', false, { code: 'EPIPE' }],
  ['CERT_HAS_EXPIRED', false, { code: 'CERT_HAS_EXPIRED' }],
  ['no connection', false, 'https://user:password@host'],
])('of a connection that fails, no more is told than %s; to be asked again: %p, %#', async (said, retryable, error) => {
  const createConnection = (_options: object, done: (error: unknown) => void) => done(error)
  const agent = Object.assign(new http.Agent(), { createConnection })
  expect(await failure(call({ agent }))).toMatchObject({
    code: 'ERR_SSO2_UNAVAILABLE',
    message: `asking: no answer (${said})`,
    retryable,
    timedOut: false,
    detail: said,
  })
})

test('connections are kept for four seconds, and one that was given up is not', async () => {
  const asked = jest.spyOn(http, 'request')
  const ports: (number | undefined)[] = []
  server.become((res) => {
    ports.push(res.socket?.remotePort)
    res.end('x'.repeat(10))
  })
  for (let times = 0; times < 3; times += 1) await call()
  expect(new Set(ports).size).toBe(1)
  expect(asked.mock.calls[0]?.[1]).toMatchObject({ agent: { options: { keepAlive: true, timeout: 4000 } } })
  expect(await failure(call({ maxBytes: 9 }))).toMatchObject({ code: 'ERR_SSO2_RESPONSE' })
  server.become((res) => {
    ports.push(res.socket?.remotePort)
    if (ports.length === 5) return
    res.end()
  })
  expect(await failure(call({ timeoutMs: 500 }))).toMatchObject({ timedOut: true }) // by then the server has the request
  const silent = ports.at(-1)
  await call()
  expect(ports.at(-1)).not.toBe(silent)
})

/* What is read from an answer. */

const answer = (text: string, headers: Record<string, string> = {}) => ({
  status: 200,
  headers: new Map(Object.entries(headers)),
  text,
})

test.each([
  ['0', 0],
  ['120', 120],
  ['Fri, 15 Jan 2027 08:00:30 GMT', 30],
  ['Fri, 15 Jan 2027 07:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %p asks to be left alone for %p s', (value, seconds) => {
  jest.useFakeTimers({ now: Date.parse('2027-01-15T08:00:00Z') })
  expect(retryAfterSeconds(answer('', value === undefined ? {} : { 'retry-after': value }))).toBe(seconds)
})

test('a body that is not JSON is refused, and not quoted', () => {
  expect(readJson('asking', answer('[1]'))).toEqual([1])
  const read = () => readJson('asking', answer('<p>Back soon.'))
  expect(read).toThrow(Sso2ResponseError)
  expect(read).toThrow(/^asking: the body is not JSON \(HTTP 200\)$/)
})
