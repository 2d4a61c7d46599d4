import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** Where the package is built. */
export const built = path.join(__dirname, '..', '..', 'dist')

/** The emulator's command in a process of its own. */
export interface Running {
  url: string
  child: ChildProcess
  /** Everything that it has printed so far. */
  output(): string
  /** What of it can be a `.env`. */
  stdout(): string
  /** Ends it with a signal and gives its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts a compiled command and waits until it says where it listens. */
export async function startCommand(compiled: string, args: string[]): Promise<Running> {
  const child = spawnCommand(compiled, ['emulator', '--port', '0', ...args])
  let output = ''
  let stdout = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString('utf8')
      const [, found] = /Admin portal\s+(\S+)\//.exec(output) ?? []
      if (found && output.includes('Ctrl+C')) resolve(found)
    }
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString('utf8')
      read(chunk)
    })
    child.stderr?.on('data', read)
    child.once('exit', () => reject(new Error(`the command ended: ${output}`)))
  })
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const ended = once(child, 'exit')
    child.kill(signal)
    const [code] = await ended
    return code
  }
  return { url, child, output: () => output, stdout: () => stdout, stop }
}

/** Runs a compiled command to its end. */
export async function runCommand(compiled: string, args: string[], env: NodeJS.ProcessEnv = {}, cwd?: string) {
  const child = spawnCommand(compiled, args, env, cwd)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString('utf8')
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString('utf8')
  })
  const [code] = await once(child, 'close')
  return { code, ...output }
}

function spawnCommand(compiled: string, args: string[], env: NodeJS.ProcessEnv = {}, cwd?: string): ChildProcess {
  const { NODE_ENV: _, ...inherited } = process.env
  const file = path.join(compiled, 'cli', 'main.js')
  return spawn(process.execPath, [file, ...args], {
    env: { ...inherited, ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
