import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/*
 * Load over bare sockets with keep-alive, so that it costs less than what it measures. Requests are made beforehand; the readers
 * take turns. Connections are open, and have been used once, before a measurement begins.
 */

interface Answer {
  readonly head: string
  readonly body: string
}

/** Text of a request for a page, as a browser sends it when somebody follows a link. */
export function pageRequest(cookie: string): Buffer {
  const lines = Object.entries({ ...browserHeaders, ...(cookie === '' ? {} : { cookie }) }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return Buffer.from(`GET /page HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`)
}

const browserHeaders = {
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

export class Load {
  #connections: readonly Connection[] = []
  #turn = 0

  constructor(
    private readonly port: number,
    /** One for each reader. */
    private readonly requests: readonly Buffer[],
    /** Of each good answer. */
    private readonly body: string,
  ) {}

  /** Opens connections and uses each once. */
  async open(count: number): Promise<void> {
    this.#connections = await Promise.all(Array.from({ length: count }, () => this.#connect()))
    await Promise.all(this.#connections.map((connection) => this.#isGood(connection)))
  }

  /**
   * Sends so many requests, every connection one at a time. @returns requests a second
   * @throws where an answer was not a good one: then the figures are of something else
   */
  async run(requests: number): Promise<number> {
    let [sent, unexpected] = [0, 0]
    const begin = performance.now()
    const caller = async (connection: Connection) => {
      while (sent < requests) {
        sent += 1
        if (!(await this.#isGood(connection))) unexpected += 1
      }
    }
    await Promise.all(this.#connections.map(caller))
    if (unexpected > 0) throw new Error(`${unexpected} answers were not what they should be`)
    return (1000 * requests) / (performance.now() - begin)
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
    this.#connections = []
  }

  async #connect(): Promise<Connection> {
    const socket = net.connect(this.port, '127.0.0.1')
    await once(socket, 'connect')
    return new Connection(socket)
  }

  async #isGood(connection: Connection): Promise<boolean> {
    const request = this.requests[this.#turn++ % this.requests.length]
    if (!request) throw new Error('nobody to ask for')
    const { head, body } = await connection.ask(request)
    return head.startsWith('HTTP/1.1 200 ') && body === this.body
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
