import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

export interface Running {
  /** Everything that it has printed so far, on one of its streams or on both. */
  stdout(): string
  stderr(): string
  output(): string
  /** Its exit code, once its last lines have come too. */
  readonly ended: Promise<number | null>
  /** Ends it with a signal, and gives its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** A program that goes on until it is stopped. */
export interface Program extends Command {
  /** Is it there, by what it has printed or by what answers? */
  readonly isThere: (output: string) => boolean | Promise<boolean>
}

const PATIENCE_MS = 60_000
const POLL_MS = 50

/** What a program of a stranger would not inherit: settings of Jest, of npm, and of a site. */
const isOurs = (name: string) =>
  /^(npm_|SSO2_|INIT_CWD$|JEST_WORKER_ID$|NODE_ENV$|NODE_OPTIONS$|PORT$|REDIS_URL$)/i.test(name)

export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))

/** Starts a program as a terminal of its own would. */
export function launch({ command, args, cwd, env }: Command): Running {
  // a group of its own, so that what it starts ends with it
  const child = spawn(command, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { stdout: '', stderr: '', output: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk
      texts.output += chunk
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const { pid, exitCode, signalCode } = child
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, signal)
    return ended
  }
  return { stdout: () => texts.stdout, stderr: () => texts.stderr, output: () => texts.output, ended, stop }
}

/** Starts a program, and waits until it says that it is there. @throws {Error} with what it printed, when it ends before */
export async function start({ isThere, ...program }: Program): Promise<Running> {
  const running = launch(program)
  let hasEnded = false
  void running.ended.then(() => {
    hasEnded = true
  })
  const deadline = Date.now() + PATIENCE_MS
  while (!hasEnded && Date.now() < deadline) {
    if (await isThere(running.output())) return running
    await pause(POLL_MS)
  }
  await running.stop()
  const { command, args } = program
  throw new Error(`${command} ${args.join(' ')} ended, or was not there in time:\n${running.output()}`)
}

/** Starts a program, and ends it after the walk. */
export async function during<T>(program: Program, walk: (running: Running) => Promise<T>): Promise<T> {
  const running = await start(program)
  return walk(running).finally(() => running.stop())
}

/** Does anything answer at an address? */
export const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )
