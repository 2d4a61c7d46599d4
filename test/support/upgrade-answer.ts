import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** What engine.io puts in the place of a response while a request is upgraded. */
export class UpgradeAnswer {
  readonly #headers = new Map<string, unknown>()
  constructor(
    readonly req: IncomingMessage,
    readonly socket: Duplex,
  ) {}
  setHeader(name: string, value: unknown): void {
    this.#headers.set(name, value)
  }
  getHeader(name: string): unknown {
    return this.#headers.get(name)
  }
  removeHeader(name: string): void {
    this.#headers.delete(name)
  }
  write(): void {}
  writeHead(): void {}
  end(): void {
    this.socket.end()
  }
}
