import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

const PROGRAM = path.join(__dirname, 'site-process.cjs')
/** What is kept of a process's output, in characters. */
const MOST_OUTPUT = 2_000_000

/** What a process says of itself after a garbage collection. */
export interface Figures {
  readonly rss: number
  readonly heap: number
  readonly handles: number
  readonly sockets: number
  readonly timers: number
}

/** What a process is told at its start. */
export interface Beginning {
  readonly dist: string
  readonly options: object
}

interface Message {
  readonly port?: number
  readonly clock?: number
  readonly figures?: Figures
  readonly busy?: number
  readonly warning?: string
}

/** One process of the site: it can be killed, told to end, stopped for a while, and started anew. */
export class SiteProcess {
  port = 0
  output = ''
  #child: ChildProcess | undefined
  #isEnding = true
  #aheadMs = 0
  /** By how much its clock is wrong. */
  #skewMs = 0
  constructor(
    readonly beginning: Beginning,
    /** It ended by itself, or warned. */
    readonly onMishap: (text: string) => void,
    /** Its event loop came late, by so many milliseconds. */
    readonly onBusy: (ms: number) => void,
  ) {}

  get isRunning(): boolean {
    return !this.#isEnding
  }

  async start(): Promise<void> {
    const child = fork(PROGRAM, { execArgv: ['--expose-gc'], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    this.#child = child
    this.#isEnding = false
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.output = (this.output + chunk.toString()).slice(-MOST_OUTPUT)
      })
    child.on('error', () => {}) // of a message to one that has just ended
    child.on('message', ({ busy, warning }: Message) => {
      if (busy !== undefined) this.onBusy(busy)
      if (warning !== undefined) this.onMishap(`a process warned: ${warning}`)
    })
    child.once('exit', (code, signal) => {
      if (child === this.#child && !this.#isEnding)
        this.onMishap(`a process ended with ${code ?? signal}: ${this.output.slice(-500)}`)
    })
    child.send({ begin: { ...this.beginning, ahead: this.#aheadMs + this.#skewMs } })
    this.port = (await this.#hear(({ port }) => port)) ?? 0
  }

  /** @param signal SIGTERM lets it answer what it has taken on */
  async stop(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#isEnding = true
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(signal)
    await gone
  }

  pause(): void {
    this.#child?.kill('SIGSTOP')
  }
  goOn(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Its clock is so far ahead of the machine's. */
  setClock(aheadMs: number): Promise<unknown> {
    this.#aheadMs = aheadMs
    return this.#tellClock()
  }
  /** Its clock is wrong by so much. */
  setSkew(skewMs: number): Promise<unknown> {
    this.#skewMs = skewMs
    return this.#tellClock()
  }

  /** Figures after a garbage collection; `undefined` while it is being started. */
  figures(): Promise<Figures | undefined> {
    return this.#ask({ figures: true }, ({ figures }) => figures)
  }

  #tellClock(): Promise<unknown> {
    const clock = this.#aheadMs + this.#skewMs
    return this.#ask({ clock }, (message) => (message.clock === clock ? true : undefined))
  }

  async #ask<T>(question: object, answer: (message: Message) => T | undefined): Promise<T | undefined> {
    if (this.#isEnding || !this.#child?.connected) return undefined
    const heard = this.#hear(answer)
    this.#child.send(question)
    return heard
  }

  /** @returns nothing where the process ends instead */
  #hear<T>(answer: (message: Message) => T | undefined): Promise<T | undefined> {
    const child = this.#child
    return new Promise((resolve) => {
      const take = (message: Message) => {
        const found = answer(message)
        if (found !== undefined) end(found)
      }
      const gone = () => end(undefined)
      const end = (found: T | undefined) => {
        child?.off('message', take).off('exit', gone)
        resolve(found)
      }
      child?.on('message', take).once('exit', gone)
    })
  }
}
