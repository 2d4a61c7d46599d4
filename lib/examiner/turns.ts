/** Lets a single check act at a time. While one waits, others act. */
import { pause } from './stage'

/** Gives turns, in the order of the requests. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /**
   * Waits for the turn.
   * @returns a function that ends the turn
   */
  async take(): Promise<() => void> {
    const before = this.#last
    let end = () => {}
    this.#last = new Promise((resolve) => {
      end = resolve
    })
    await before
    return end
  }
}

/** The turns of one check. */
export class Turn {
  /** Begin and end of each time in which the check acted, in Unix milliseconds. */
  readonly windows: (readonly [from: number, to: number])[] = []
  #since = 0
  #end = () => {}
  #waitEnd = 0
  #waiting: Promise<void> | undefined

  constructor(private readonly turns: Turns) {}

  /** Waits for the turn. */
  async take(): Promise<void> {
    this.#end = await this.turns.take()
    this.beginWindow()
  }

  beginWindow(): void {
    this.#since = Date.now()
  }

  /**
   * Ends the turn, waits, and takes the next one.
   * Parts of a check that wait at the same time share one turn, and go on together after the longest wait.
   */
  wait(milliseconds: number): Promise<void> {
    this.#waitEnd = Math.max(this.#waitEnd, Date.now() + milliseconds)
    this.#waiting ??= this.#waitForNext()
    return this.#waiting
  }

  async #waitForNext(): Promise<void> {
    this.#endWindow()
    do {
      this.#end()
      while (Date.now() < this.#waitEnd) await pause(this.#waitEnd - Date.now())
      await this.take()
    } while (Date.now() < this.#waitEnd)
    this.#waiting = undefined
  }

  #endWindow(): void {
    this.windows.push([this.#since, Date.now()])
  }

  /**
   * Ends the last window. A part of the check may still wait if another one has failed.
   * @returns a function that ends the turn
   */
  async endLastWindow(): Promise<() => void> {
    await this.#waiting
    this.#endWindow()
    return this.#end
  }
}
