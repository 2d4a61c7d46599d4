import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Emulator } from '../../lib/emulator'

/** A request that waits, or will. */
export interface Held {
  /** Resolves when a request has come. */
  readonly arrived: Promise<void>
  open(): void
}

/** Lets every request pass, except those that a test wants to wait. */
export class Turnstile {
  readonly #waiting: (() => Promise<void>)[] = []

  /** The next request waits until it is opened. */
  close(): Held {
    let arrive = () => {}
    let open = () => {}
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    this.#waiting.push(() => {
      arrive()
      return opened
    })
    return { arrived, open }
  }

  async pass(): Promise<void> {
    await this.#waiting.shift()?.()
  }
}

/** All requests wait until so many have come. */
export class Barrier {
  #missing = 0
  #fall = () => {}
  #fallen: Promise<void> = Promise.resolve()

  /** From here on, until so many have come. */
  expect(count: number): void {
    this.#missing = count
    this.#fallen = new Promise((resolve) => {
      this.#fall = resolve
    })
  }

  async pass(): Promise<void> {
    this.#missing -= 1
    if (this.#missing === 0) this.#fall()
    await this.#fallen
  }
}

/** Stands in front of the SSO system and holds its answers to Session Status back where a test asks for it. */
export interface AnswerFront {
  readonly url: string
  readonly answers: Turnstile
  close(): void
}

/** Passes all on to the platform. @param emulator may begin to listen later */
export async function startAnswerFront(emulator: () => Emulator): Promise<AnswerFront> {
  const answers = new Turnstile()
  const server = http.createServer((req, res) => {
    const target = new URL(req.url ?? '/', emulator().url)
    const { host: _host, ...headers } = req.headers
    const forward = http.request(target, { method: req.method, headers }, async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk)
      if (target.pathname.endsWith('/sessionstatus')) await answers.pass()
      res.writeHead(answer.statusCode ?? 0, answer.headers).end(Buffer.concat(chunks))
    })
    forward.on('error', () => res.destroy())
    req.pipe(forward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sso`, answers, close }
}
