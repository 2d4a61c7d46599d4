/** Deadline and breaker around the commands of one Redis server: nobody waits for a server that is known not to answer. */
import { inTime } from '../deadline'
import { NO_ANSWER } from '../decide/store-trouble'
import type { StoreWatch } from './redis-connection'
import { storeUnavailable } from './unavailable'

const COMMAND_MS = 300
const OPEN_MS = 1000
const MISSES = 3

/** A server that refuses a command has been heard; one that says nothing may be talking to a connection that nobody reads. */
const isSilence = (error: unknown) => !(error instanceof Error && error.name === 'ReplyError')

/** What a guard needs of the server that it stands before. */
export interface Server {
  /** Asks it something harmless. */
  ask(): Promise<unknown>
  /** Gives up its connection, so that a new one is made. */
  reconnect(): void
}

/** @see the head of the file */
export class Guard {
  readonly #server: Server
  readonly #watch: StoreWatch | undefined
  /** Commands that have failed since the last one that did not. */
  #misses = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(server: Server, watch?: StoreWatch) {
    this.#server = server
    this.#watch = watch
  }

  /** False from the first command that fails until one that does not. */
  get isWell(): boolean {
    return this.#misses === 0
  }

  /**
   * Runs a command; from the third failure in a row on only the guard's own question goes through.
   * @param asked how many requests wait for it: as many have failed where it does
   */
  async run<T>(command: () => Promise<T>, asked = 1): Promise<T> {
    if (this.#misses >= MISSES) throw storeUnavailable()
    try {
      const result = await inTime(command(), COMMAND_MS, NO_ANSWER)
      if (this.#misses > 0) this.#answered()
      return result
    } catch (error) {
      this.#missed(error, asked)
      throw storeUnavailable()
    }
  }

  /** Nothing is asked or told any more, whatever is under way. */
  close(): void {
    this.#isClosed = true
    this.#stopAsking()
  }

  #stopAsking(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #answered(): void {
    this.#misses = 0
    this.#stopAsking()
    if (!this.#isClosed) this.#watch?.back()
  }

  #missed(error: unknown, asked = 1): void {
    this.#misses += asked
    if (this.#isClosed) return
    this.#watch?.failed(error)
    if (this.#misses >= MISSES && isSilence(error)) this.#server.reconnect()
    this.#timer ??= setTimeout(() => this.#ask(), OPEN_MS).unref()
  }

  async #ask(): Promise<void> {
    try {
      await inTime(this.#server.ask(), COMMAND_MS, NO_ANSWER)
      this.#answered()
    } catch (error) {
      this.#timer = undefined
      this.#missed(error)
    }
  }
}
