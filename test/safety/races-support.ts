import { createHash, randomUUID } from 'node:crypto'
import http, { type IncomingHttpHeaders } from 'node:http'
import { demoOptions } from '../../lib/emulator'
import { present, type Setup } from '../flows/setup'
import { beginFlow, document, type Flow, landingToken } from './session-support'

/** SSO sessions that the emulator knows from the start, so that a round begins with its landing. */
export function anonymousSessions(count: number, kind: string) {
  const session = { status: 'anon' as const, ageSeconds: 0, idleSeconds: 0 }
  return Array.from({ length: count }, (_, index) => ({
    ...session,
    sid: `${kind}-${index}`,
    browser: `browser-${kind}-${index}`,
  }))
}

export const limits = { ...demoOptions().limits, sessionsPerAccount: 100_000 }

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Names of the cookies that it set. */
  sets: string[]
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape, looked at by tests
  json: any
}

/** Sends many requests over few connections. */
export class Racers {
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 400 })
  private constructor(
    readonly setup: Setup,
    readonly flow: Flow,
  ) {}

  static async of(setup: Setup): Promise<Racers> {
    return new Racers(setup, await beginFlow(setup))
  }

  racer(): Racer {
    return new Racer(this)
  }

  /** The address of a landing, fit for every racer. */
  landing(claims: object): string {
    const token = landingToken(this.setup, { jti: randomUUID(), ...claims })
    return `/sso2/landing?${new URLSearchParams({ t: token, r: this.flow.r })}`
  }

  request(path: string, headers: http.OutgoingHttpHeaders, body?: string): Promise<Answer & { lines: string[] }> {
    const { port, host } = new URL(this.setup.morning.url)
    const method = body === undefined ? 'GET' : 'POST'
    const options = { host: '127.0.0.1', port, path, method, agent: this.agent, headers: { ...headers, host } }
    return new Promise((resolve, reject) => {
      const request = http.request(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('error', reject)
        response.once('end', () => {
          const lines = response.headers['set-cookie'] ?? []
          const json = text.startsWith('{') ? JSON.parse(text) : undefined
          const sets = lines.map((line) => line.split('=')[0] ?? '')
          resolve({ status: response.statusCode ?? 0, headers: response.headers, lines, sets, json })
        })
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  close(): void {
    this.agent.destroy()
  }
}

/** A browser of few words: keeps cookies by their names, takes them in the order in which the answers come. */
export class Racer {
  readonly jar = new Map<string, string>()
  constructor(private readonly all: Racers) {}

  get sid(): string {
    return present(this.jar.get('sso2.sid'))
  }

  async land(path: string, hasBinding = true): Promise<Answer> {
    const binding = this.all.flow.cookie.split('=')
    if (hasBinding) this.jar.set(present(binding[0]), present(binding[1]))
    return this.send(path, document)
  }

  script(path: string, json?: object): Promise<Answer> {
    const body = json && JSON.stringify(json)
    const post = { origin: this.all.setup.morning.url, 'content-type': 'application/json' }
    const headers = { accept: 'application/json', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }
    return this.send(path, body === undefined ? headers : { ...headers, ...post }, body)
  }

  private async send(path: string, headers: http.OutgoingHttpHeaders, body?: string): Promise<Answer> {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const size = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const answer = await this.all.request(path, { ...headers, ...size, ...(cookie ? { cookie } : {}) }, body)
    for (const line of answer.lines) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      if (value === '') this.jar.delete(name)
      else this.jar.set(name, value)
    }
    return answer
  }
}

/** Data and record of the session that a cookie names. */
export async function storedUnder(setup: Setup, cookie: string): Promise<(string | null)[]> {
  const id = decodeURIComponent(cookie).replace(/^s:|\..*$/g, '')
  const key = createHash('sha256').update(id).digest('base64url')
  const { prefix } = setup.morning
  return setup.redis.mget(`${prefix}sess:{${key}}`, `${prefix}sso2:{${key}}`)
}

/** The session that a cookie names is dead: nothing of it is kept, and a browser that sends it has no user. */
export async function expectDead(racers: Racers, cookie: string): Promise<void> {
  const [data, record] = await storedUnder(racers.setup, cookie)
  expect([data, record]).toEqual([null, expect.stringMatching(/^(moved|ended)\.\d+/)])
  const other = racers.racer()
  other.jar.set('sso2.sid', cookie)
  const { json, sets } = await other.script('/')
  expect([json.status, json.username, json.saved, sets]).toEqual(['none', undefined, undefined, []])
}
