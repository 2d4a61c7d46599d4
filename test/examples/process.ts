import { spawn } from 'node:child_process'

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
  /** What it says when it is there. */
  readonly ready: RegExp
}

const PATIENCE_MS = 60_000

/** What a program of a stranger would not inherit: settings of Jest, of npm, and of a site. */
const isOurs = (name: string) =>
  /^(npm_|SSO2_|INIT_CWD$|JEST_WORKER_ID$|NODE_ENV$|NODE_OPTIONS$|PORT$|REDIS_URL$)/i.test(name)

/** The environment of a stranger's terminal. */
export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))

/** Starts a program, and waits until it says that it is there. @throws {Error} with what it printed, when it ends before */
export async function start({ command, args, cwd, env, ready }: Program): Promise<Running> {
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
  const isThere = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text += chunk
        if (ready.test(text)) resolve()
      })
  })
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('is not there'), PATIENCE_MS)
  })
  const problem = await Promise.race([isThere, ended.then((code) => `ended with ${code}`), tooLate])
  clearTimeout(timer)
  if (problem === undefined) return { output: () => text, stop }
  await stop()
  throw new Error(`${command} ${args.join(' ')} ${problem}:\n${text}`)
}
