import http from 'node:http'
import { type Call, sendCall } from '../../lib/remote/http'
import { failure, useFaultyServer } from '../support/faulty-server'

const server = useFaultyServer()
afterEach(() => {
  jest.useRealTimers()
  jest.restoreAllMocks()
})

const call = (options: Partial<Call> = {}) =>
  sendCall({ operation: 'asking', url: `${server.url}/x`, method: 'GET', timeoutMs: 5000, ...options })

test('an emulator is refused in production alone', async () => {
  const status = 200
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
  ['ECONNREFUSED', true, { code: 'ECONNREFUSED' }],
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
    reason: said,
  })
})
