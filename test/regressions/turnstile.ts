import { transport } from '../../lib/remote/http'

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

/** Answers to Session Status wait at a turnstile, on their way to any site of this process. @returns ends that */
export function holdAnswers(answers: Turnstile): () => void {
  const { request } = transport
  transport.request = async (call) => {
    const answer = await request(call)
    if (new URL(call.url).pathname.endsWith('/sessionstatus')) await answers.pass()
    return answer
  }
  return () => {
    transport.request = request
  }
}
