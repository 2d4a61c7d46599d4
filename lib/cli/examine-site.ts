/** Starts and ends the examined site as a child process, and collects its output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { CannotExamine } from '../examiner/discovery'
import { sendRequest } from '../examiner/request'
import { type PlatformAddresses, siteSettings } from '../examiner/settings'
import type { SiteCommand } from './examine-arguments'
import { portOf } from './port-of'

const START_MS = 60_000
const END_MS = 5000
const MAX_OUTPUT = 20_000_000

/** Does any program respond at an address? */
export async function isTaken(siteUrl: string): Promise<boolean> {
  return (await sendRequest({ method: 'HEAD', url: new URL(siteUrl), headers: {} })).status !== 0
}

/** A running site. */
export class SiteProcess {
  readonly #child: ChildProcess
  /** Settles when the program runs, or when it is known that the program does not exist. */
  readonly #begun: Promise<unknown>
  #output = ''

  /** Starts the command with the addresses of the platform in its environment. */
  constructor({ program, args }: SiteCommand, platform: PlatformAddresses) {
    const settings = Object.fromEntries(siteSettings(platform).map(({ variable, value }) => [variable, value]))
    const env = { ...process.env, PORT: portOf(new URL(platform.siteUrl)), ...settings }
    // the child process gets its own process group, so that its own children end too
    this.#child = spawn(program, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString('utf8', 0, MAX_OUTPUT - this.#output.length)
      })
    this.#child.once('error', (error) => {
      this.#output += error.message
    })
    this.#begun = once(this.#child, 'spawn').catch(() => {})
  }

  /** Returns the output of the site so far. */
  readonly output = (): string => this.#output

  /**
   * Waits until the site responds.
   * @throws {CannotExamine} if the site ends, or does not respond in time
   */
  async responds(siteUrl: string): Promise<void> {
    await this.#begun
    const end = Date.now() + START_MS
    while (Date.now() < end && this.#runningPid() !== undefined) {
      if (await isTaken(siteUrl)) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const last = this.#output.trim().split('\n').slice(-12).join('\n')
    const what = this.#runningPid() === undefined ? 'has ended' : `does not respond at ${siteUrl}`
    throw new CannotExamine(`the command that starts the site ${what}. Its last lines:\n${last}`)
  }

  /** Ends the process and all that it has started. */
  async stop(): Promise<void> {
    const pid = this.#runningPid()
    if (pid === undefined) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#signal(pid, 'SIGTERM')
    const kill = setTimeout(() => this.#signal(pid, 'SIGKILL'), END_MS)
    await ended
    clearTimeout(kill)
  }

  #runningPid(): number | undefined {
    const { pid, exitCode, signalCode } = this.#child
    return exitCode === null && signalCode === null ? pid : undefined
  }

  #signal(pid: number, signal: NodeJS.Signals): void {
    try {
      process.kill(-pid, signal)
    } catch {
      // the group has ended
    }
  }
}
