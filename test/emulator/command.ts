import path from 'node:path'
import { type Running as Launched, launch, start } from '../examples/process'
import { root } from '../support/sources'

/** Where the package is built. */
export const built = path.join(root, 'dist')

/** The emulator's command in a process of its own. */
export interface Running extends Launched {
  readonly url: string
}

const commandOf = (compiled: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd = root) => ({
  command: process.execPath,
  args: [path.join(compiled, 'cli', 'main.js'), ...args],
  env,
  cwd,
})

const urlIn = (output: string) => /Admin portal\s+(\S+)\//.exec(output)?.[1]

/** Starts a compiled command and waits until it says where it listens. */
export async function startCommand(compiled: string, args: readonly string[]): Promise<Running> {
  const isThere = (output: string) => urlIn(output) !== undefined && output.includes('Ctrl+C')
  const running = await start({ ...commandOf(compiled, ['emulator', '--port', '0', ...args], {}), isThere })
  return { ...running, url: urlIn(running.output()) ?? '' }
}

/** Runs a compiled command to its end. */
export async function runCommand(
  compiled: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
) {
  const { ended, stdout, stderr } = launch(commandOf(compiled, args, env, cwd))
  return { code: await ended, stdout: stdout(), stderr: stderr() }
}
