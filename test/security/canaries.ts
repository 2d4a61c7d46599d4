import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readJwt } from '../support/oracle'

/** What must not come out of a site. */
export const canaryKinds = [
  'password',
  'wrong password',
  'one-time password',
  'client secret',
  'session secret',
  'request token',
  'Session Token',
  'ticket',
  'access token',
  'SSO session ID',
] as const
export type CanaryKind = (typeof canaryKinds)[number]

/** Every needle has at most so many characters: whoever prints the beginning of a secret prints it. */
const NEEDLE = 12

/** Secrets as they come by, and the search for them in all their usual spellings. */
export class Canaries {
  readonly #kinds = new Map<string, CanaryKind>()
  /** Needles of full length, each with the secret that it is the beginning of. */
  readonly #needles = new Map<string, string>()
  /** Shorter ones, which need a search of their own. */
  readonly #short = new Map<RegExp, string>()

  add(kind: CanaryKind, secret: string): void {
    if (secret === '' || this.#kinds.has(secret)) return
    this.#kinds.set(secret, kind)
    const kindOfToken = kind === 'request token' || kind === 'Session Token'
    // all tokens begin alike: what is a token's own is its signature
    const spelt = kindOfToken ? (secret.split('.')[2] ?? secret) : secret
    for (const form of spellings(spelt)) this.#addNeedle(form, secret)
  }

  #addNeedle(form: string, secret: string): void {
    if (form.length >= NEEDLE) this.#needles.set(form.slice(0, NEEDLE), secret)
    // digits alone are part of many a number
    else if (/^\d+$/.test(form)) this.#short.set(new RegExp(`(?<![\\d.])${form}(?!\\d)`), secret)
  }

  of(kind: CanaryKind): string[] {
    return [...this.#kinds].filter(([, name]) => name === kind).map(([secret]) => secret)
  }

  /** Kinds of what a text holds; a token in any spelling counts, known or not. */
  find(text: string): string[] {
    const found = new Set<string>()
    for (const spelling of new Set([text, decoded(text)])) {
      for (let index = 0; index + NEEDLE <= spelling.length; index += 1) {
        const secret = this.#needles.get(spelling.slice(index, index + NEEDLE))
        if (secret !== undefined) found.add(this.#kinds.get(secret) ?? '')
      }
      for (const [pattern, secret] of this.#short) {
        if (pattern.test(spelling)) found.add(this.#kinds.get(secret) ?? '')
      }
      if (/eyJ[\w-]{8,}\.eyJ/.test(spelling)) found.add('some token')
    }
    return [...found]
  }
}

/** A secret as itself, and as encoders write it, wherever in a longer text it begins. */
function spellings(secret: string): string[] {
  const shifted = [0, 1, 2].map((skipped) => Buffer.from(secret).subarray(skipped))
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
    ...shifted.flatMap((bytes) => [wholeGroups(bytes).toString('base64'), wholeGroups(bytes).toString('base64url')]),
  ]
}

/** The last group of base64 depends on what follows. */
const wholeGroups = (bytes: Buffer) => bytes.subarray(0, bytes.length - (bytes.length % 3))

function decoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
}

/** A server in front of the platform's own application: everything secret on the wire, in both directions, becomes a canary. */
export async function listenIn(canaries: Canaries, platform: RequestListener): Promise<{ url: string; close(): void }> {
  const server = http.createServer((req, res) => {
    readWire(canaries, req, res)
    platform(req, res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

function readWire(canaries: Canaries, req: IncomingMessage, res: ServerResponse): void {
  const asked: string[] = [`${req.url}\n${req.headers.authorization ?? ''}\n`]
  const said: string[] = []
  const { emit } = req
  req.emit = (name: string | symbol, ...args: unknown[]) => {
    if (name === 'data') asked.push(String(args[0]))
    if (name === 'end') takeSecrets(canaries, asked.join(''), 'request token')
    return emit.call(req, name, ...args)
  }
  const { write, end } = res
  res.write = ((...args: Parameters<typeof write>) => {
    said.push(String(args[0]))
    return write.apply(res, args)
  }) as typeof write
  res.end = ((...args: Parameters<typeof end>) => {
    takeSecrets(canaries, asked.join(''), 'request token')
    const location = String(res.getHeader('location') ?? '')
    takeSecrets(
      canaries,
      `${said.join('')}${typeof args[0] === 'function' ? '' : args[0]}\n${location}`,
      'Session Token',
    )
    return end.apply(res, args)
  }) as typeof end
}

const fields = { at: 'ticket', sid: 'SSO session ID' } as const

/** Everything secret in what went over the wire. */
function takeSecrets(canaries: Canaries, text: string, kind: 'request token' | 'Session Token'): void {
  for (const [token] of text.matchAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g)) {
    canaries.add(kind, token)
    const { claims } = readJwt(token)
    for (const [name, secret] of Object.entries(fields)) {
      const value = claims[name]
      if (typeof value === 'string') canaries.add(secret, value)
    }
  }
  const accessToken = /(?:"access_token":"|Bearer )([^"\s]+)/.exec(text)?.[1]
  if (accessToken) canaries.add('access token', accessToken)
  const code = /(?:^|[&\n])code=([^&\s]+)/.exec(text)?.[1]
  if (code) canaries.add('ticket', decodeURIComponent(code))
}
