import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

/** A program that goes on until it is stopped. */
export interface Running {
  output(): string
  stop(): Promise<void>
}

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Is it there, by what it has printed or by what answers? */
  readonly isThere: (output: string) => boolean | Promise<boolean>
}

const PATIENCE_MS = 60_000
const POLL_MS = 50

/** What a program of a stranger would not inherit: settings of Jest, of npm, and of a site. */
const isOurs = (name: string) =>
  /^(npm_|SSO2_|INIT_CWD$|JEST_WORKER_ID$|NODE_ENV$|NODE_OPTIONS$|PORT$|REDIS_URL$)/i.test(name)

/** The environment of a stranger's terminal. */
export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))

/** Starts a program, and waits until it says that it is there. @throws {Error} with what it printed, when it ends before */
export async function start({ command, args, cwd, env, isThere }: Program): Promise<Running> {
  // a group of its own, so that what it starts ends with it
  const child = spawn(command, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGTERM')
    await ended
  }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const deadline = Date.now() + PATIENCE_MS
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (await isThere(text)) return { output: () => text, stop }
    await pause(POLL_MS)
  }
  await stop()
  throw new Error(`${command} ${args.join(' ')} ended, or was not there in time:\n${text}`)
}

/** Does anything answer at an address? */
export const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )
