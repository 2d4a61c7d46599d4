import path from 'node:path'
import { launch, start } from '../support/process'
import { root } from '../support/sources'

export const built = path.join(root, 'dist')

const commandOf = (args: readonly string[], env: Readonly<Record<string, string>>, cwd = root, dist = built) => ({
  command: process.execPath,
  args: [path.join(dist, 'cli', 'main.js'), ...args],
  env,
  cwd,
})

const urlIn = (output: string) => /Admin portal\s+(\S+)\//.exec(output)?.[1]

/** Starts the command and waits until it says where it listens. @param dist where its package is built */
export async function startCommand(args: readonly string[], dist = built) {
  const isThere = (output: string) => urlIn(output) !== undefined && output.includes('Ctrl+C')
  const running = await start({ ...commandOf(['emulator', '--port', '0', ...args], {}, root, dist), isThere })
  return { ...running, url: urlIn(running.output()) ?? '' }
}

export async function runCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string) {
  const { ended, stdout, stderr } = launch(commandOf(args, env, cwd))
  return { code: await ended, stdout: stdout(), stderr: stderr() }
}
