/** Opens and closes the port of an emulator. */
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopbackName } from './control/guard'
import type { Runtime } from './runtime'

/** Address of a listening emulator. */
export interface Listening {
  /** Base address, without a slash at the end. */
  readonly url: string
  /** Port as given, or the free port that was taken. */
  readonly port: number
  /** Can other machines connect? */
  readonly isOpen: boolean
}

/** Keeps idle connections open for longer than clients do, so that no request meets a closing connection. */
const KEEP_ALIVE_MS = 60_000

/** Runs an HTTP server from `listen` to `close`. */
export class Listener {
  readonly #server: http.Server
  readonly #runtime: Runtime

  constructor(app: RequestListener, runtime: Runtime) {
    this.#server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app)
    this.#runtime = runtime
  }

  /**
   * Returns the address.
   * @throws {Error} before `listen`
   */
  get at(): Listening {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the emulator does not listen yet')
    const isOpen = !isLoopbackName(hostOf(address))
    return {
      url: `http://${isWildcard(address) ? '127.0.0.1' : hostOf(address)}:${address.port}`,
      port: address.port,
      isOpen,
    }
  }

  /** Listens. With port 0, the server does not keep the process alive, so that a test runner can end. */
  listen(port: number, host: string): Promise<Listening> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
        if (port === 0) this.#letGo()
        this.#runtime.isOpen = this.at.isOpen
        resolve(this.at)
      })
    })
  }

  /** Closes every connection, including requests without a response. */
  close(): Promise<void> {
    if (!this.#server.listening) return Promise.resolve()
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  #letGo(): void {
    this.#server.unref()
    this.#server.on('connection', (socket) => socket.unref())
  }
}

/** Does the address mean all addresses of the machine? */
const isWildcard = ({ address }: AddressInfo): boolean => address === '0.0.0.0' || address === '::'

const hostOf = ({ address, family }: AddressInfo): string => (family === 'IPv6' ? `[${address}]` : address)
