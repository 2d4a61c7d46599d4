import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { PlatformApi, Sso2Client } from '../../lib'
import { readJwt, signJwt } from './oracle'

export const secret = 'client-secret-of-the-back-channel-0123456789'
export const device = { ipa: '127.0.0.1', uas: 'test' }
const sid = 'the-session'
const aid = 'the-account'

export type Listener = Awaited<ReturnType<typeof listen>>

/** A server on loopback for HTTP, or for whatever `accept` does with a connection. */
export async function listen(answer: RequestListener | { accept: (socket: Socket) => void }) {
  const server = typeof answer === 'function' ? http.createServer(answer) : net.createServer(answer.accept)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const open = new Set<Socket>()
  const busy = new Set<Socket>()
  const listener = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: 0,
    /** Connections with a request that have not ended: undici may open one more, idle, in place of one that it gave up. */
    busy,
    close: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  server.on('request', ({ socket }: IncomingMessage) => busy.add(socket))
  server.on('connection', (socket: Socket) => {
    listener.connections += 1
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => {
      open.delete(socket)
      busy.delete(socket)
    })
    if (typeof answer !== 'function') socket.once('data', () => busy.add(socket))
  })
  return listener
}

/** One call of the back channel: how it is made, and what would be its right answer. */
interface BackChannelCall {
  operation: string
  run: (url: string, timeoutMs?: number) => Promise<unknown>
  /** Body that a caller takes. @param body what was sent */
  good: (body: string) => string
}

/** A call by a client of its own, because the breaker of one client would open. One that stays open would probe on beside later suites. */
export async function call<T>(run: (client: Sso2Client) => Promise<T>, url: string, options: object = {}): Promise<T> {
  const identity = { clientId: 'the-site', clientSecret: secret, organisationId: 'the-publisher' }
  const client = new Sso2Client({ ssoUrl: `${url}/sso`, ...identity, timeoutMs: 2000, ...options })
  try {
    return await run(client)
  } finally {
    client.close()
  }
}

export function answerTo(body: string, claims: object): string {
  const request = readJwt((JSON.parse(body) as { t: string }).t).claims
  const now = Math.floor(Date.now() / 1000)
  const common = { iss: 'sso-service', aud: request['cid'], nbf: now, iat: now, exp: now + 10, at: null, err: null }
  return JSON.stringify({ t: signJwt({ ...common, sid: request['sid'], aid: request['aid'], ...claims }, secret) })
}

const api = (url: string) => new PlatformApi({ apiUrl: url, accessToken: 'an-access-token' })
const bounds = (timeoutMs: number | undefined) => (timeoutMs === undefined ? {} : { timeoutMs })
const terminated = (body: string) => answerTo(body, { sts: 'terminated' })

export const sso2Calls: BackChannelCall[] = [
  {
    operation: 'authenticate',
    run: (url) => call((client) => client.authenticate({ sid, usr: 'ada', pwd: 'a-password', ...device }), url),
    good: (body) => answerTo(body, { sts: 'loggedin', at: 'a-ticket', frf: -1, raa: -1 }),
  },
  {
    operation: 'sessionstatus',
    run: (url, timeoutMs) =>
      call((client) => client.sessionStatus({ sid, lks: 'anon', ...device }), url, bounds(timeoutMs)),
    good: (body) => answerTo(body, { sts: 'anon' }),
  },
  { operation: 'logout', run: (url) => call((client) => client.logout({ sid, ...device }), url), good: terminated },
  {
    operation: 'logoutall',
    run: (url) => call((client) => client.logoutAll({ aid, ...device }), url),
    good: terminated,
  },
]

export const restCalls: BackChannelCall[] = [
  {
    operation: 'marketplaceGroups',
    run: (url, timeoutMs) => api(url).marketplaceGroups(bounds(timeoutMs)),
    good: () => '{"items":[]}',
  },
  {
    operation: 'administrators',
    run: (url, timeoutMs) => api(url).administrators({}, bounds(timeoutMs)),
    good: () => '{"items":[]}',
  },
]

export async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export function give(
  res: ServerResponse,
  { status = 200, headers = {}, body }: { status?: number; headers?: Record<string, string>; body: string | Buffer },
): void {
  res.writeHead(status, headers)
  res.end(status === 204 ? undefined : body)
}
