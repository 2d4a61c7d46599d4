import http from 'node:http'
import net from 'node:net'
import { Duplex } from 'node:stream'

/** A request that waits, or will. `arrived` resolves when it has come. */
export type Held = ReturnType<typeof hold>['held']

/** One place to wait at. @returns who waits there, and what the request does */
export function hold() {
  let arrive = () => {}
  let open = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const pass = () => {
    arrive()
    return opened
  }
  return { held: { arrived, open }, pass }
}

/** Lets every request pass, except those that a test wants to wait. */
export class Turnstile {
  readonly #waiting: (() => Promise<void>)[] = []

  /** The next request waits until it is opened. */
  close(): Held {
    const { held, pass } = hold()
    this.#waiting.push(pass)
    return held
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

/** A connection on which the answer to Session Status waits at a turnstile. */
class HeldConnection extends Duplex {
  readonly #socket: net.Socket
  readonly #answers: Turnstile
  #isToHold = false
  /** What has arrived is passed on in its order: also the end, which a paused socket would tell at once. */
  #passed: Promise<void> = Promise.resolve()
  constructor(socket: net.Socket, answers: Turnstile) {
    super()
    this.#socket = socket
    this.#answers = answers
    socket.on('data', (chunk) => this.#passOn(chunk))
    socket.on('end', () => this.#passOn(null))
    socket.on('error', (error) => this.destroy(error))
  }
  #passOn(chunk: Buffer | null): void {
    const turn = this.#isToHold ? () => this.#answers.pass() : async () => {}
    this.#isToHold = false
    this.#passed = this.#passed.then(turn).then(() => {
      this.push(chunk)
    })
  }
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#isToHold ||= chunk.toString().includes('/sessionstatus HTTP')
    this.#socket.write(chunk, done)
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

/** The option `agent` of a site for which answers to Session Status wait at a turnstile. */
export function holdingAgent(answers: Turnstile): http.Agent {
  const createConnection = (options: net.NetConnectOpts) => new HeldConnection(net.connect(options), answers)
  return Object.assign(new http.Agent(), { createConnection })
}
