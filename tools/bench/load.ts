import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/*
 * Load over bare sockets with keep-alive, so that it costs less than what it measures. Requests are made beforehand; the readers
 * take turns. Connections are open, and have been used once, before a measurement begins.
 */

/** Who is asked, and what a good answer is. */
export interface Target {
  readonly port: number
  /** One for each reader. */
  readonly requests: readonly Buffer[]
  readonly status: number
  /** Body of a good answer; `undefined`: any. */
  readonly body: string | undefined
}

/** What came of a burst. */
export interface Burst {
  readonly requests: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Answers that set a cookie. */
  readonly setCookies: number
  /** Answers that were not good ones: then the figures are of something else. */
  readonly unexpected: number
}

/** A whole answer. */
interface Answer {
  readonly head: string
  readonly body: string
}

/** Text of a request for a page, as a browser or somebody else sends it. */
export function pageRequest(cookie: string, headers: Readonly<Record<string, string>> = browserHeaders): Buffer {
  const lines = Object.entries({ ...headers, ...(cookie === '' ? {} : { cookie }) }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return Buffer.from(`GET /page HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`)
}

/** What a browser sends when somebody follows a link. */
export const browserHeaders = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
}

const MOST_TRIES = 5
const PAUSE_MS = 1200

class Connection {
  readonly #socket: Socket
  #held = ''
  #take: (answer: Answer) => void = () => {}
  #fail: (error: Error) => void = () => {}

  constructor(socket: Socket) {
    this.#socket = socket.setNoDelay().setEncoding('latin1')
    socket.on('data', (chunk: string) => this.#receive(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed a connection')))
  }

  ask(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#take = resolve
      this.#fail = reject
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: string): void {
    this.#held += chunk
    const end = this.#held.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#held.slice(0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined) this.#fail(new Error('an answer without a length'))
    if (this.#held.length < end + 4 + Number(length)) return
    const body = this.#held.slice(end + 4)
    this.#held = ''
    this.#take({ head, body })
  }
}

/** Load on one server. */
export class Load {
  readonly #target: Target
  #connections: readonly Connection[] = []
  #turn = 0

  constructor(target: Target) {
    this.#target = target
  }

  /** Opens connections and uses each once. */
  async open(count: number): Promise<void> {
    this.#connections = await Promise.all(Array.from({ length: count }, () => this.#connect()))
    await Promise.all(this.#connections.map((connection) => this.#get(connection)))
  }

  /** Sends so many requests, every connection one at a time. */
  async run(requests: number): Promise<Burst> {
    const latencies = new Float64Array(requests)
    let [sent, setCookies, unexpected] = [0, 0, 0]
    const begin = performance.now()
    const caller = async (connection: Connection) => {
      for (let n = sent++; n < requests; n = sent++) {
        const before = performance.now()
        const { isGood, setsCookie } = await this.#get(connection)
        if (setsCookie) setCookies += 1
        if (!isGood) unexpected += 1
        latencies[n] = performance.now() - before
      }
    }
    await Promise.all(this.#connections.map(caller))
    const seconds = (performance.now() - begin) / 1000
    latencies.sort()
    const at = (part: number) => latencies[Math.floor(requests * part)] ?? 0
    return { requests, perSecond: requests / seconds, p50: at(0.5), p99: at(0.99), setCookies, unexpected }
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
    this.#connections = []
  }

  async #connect(): Promise<Connection> {
    const socket = net.connect(this.#target.port, '127.0.0.1')
    await once(socket, 'connect')
    return new Connection(socket)
  }

  async #get(connection: Connection): Promise<{ isGood: boolean; setsCookie: boolean }> {
    const { requests, status, body } = this.#target
    const request = requests[this.#turn++ % requests.length]
    if (!request) throw new Error('nobody to ask for')
    const answer = await connection.ask(request)
    const isGood = answer.head.startsWith(`HTTP/1.1 ${status} `) && (body === undefined || answer.body === body)
    return { isGood, setsCookie: /\r\nset-cookie:/i.test(answer.head) }
  }
}

/** A machine that is busy with other work can make the store miss its deadline, and then it is left alone for a second. */
export async function patiently<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      if (tries === MOST_TRIES) throw error
      await pause(PAUSE_MS)
    }
  }
}

/** On a machine that is busy with other work a store may miss its deadline: such a burst shows nothing, and is made again. */
export async function untilGood<T>(burst: () => Promise<T & { readonly unexpected: number }>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const done = await burst()
    if (done.unexpected === 0) return done
    if (tries === MOST_TRIES) throw new Error(`${done.unexpected} answers were not what they should be`)
    await pause(PAUSE_MS)
  }
}
