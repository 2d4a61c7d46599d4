#!/usr/bin/env node
/** Runs the command `express-sso2`: finds the subcommand and starts it. */
import { errorMessage } from './error-message'

type Command = (args: readonly string[]) => Promise<number>

/** Loads each subcommand only if it is used, because the doctor does not need the emulator. */
const commands: Readonly<Record<string, Command>> = {
  emulator: async (args) => {
    endWithLauncher()
    return (await import('./emulator.js')).emulatorCommand(args)
  },
  doctor: async (args) => {
    endWithReader()
    return (await import('./doctor.js')).doctorCommand(args)
  },
  examine: async (args) => {
    endWithLauncher()
    return (await import('./examine.js')).examineCommand(args)
  },
}

/** Exit code of a process that SIGPIPE has ended: 128 and the number of the signal. */
const READER_GONE = 141

/** Ends the process quietly if the reader of its output goes away, as in `doctor | head`. Node.js ignores SIGPIPE. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(READER_GONE)
    throw error
  })
}

const LAUNCHER_MS = 500

/**
 * Ends the process by SIGTERM when the shell of npx or of an npm script has ended, which a signal to npx ends without this process.
 * A script that starts the command in the background (`&`) may end before it.
 */
function endWithLauncher(): void {
  const script = process.env['npm_lifecycle_script']
  if (!script?.includes('express-sso2') || /(?<!&)&(?!&)/.test(script)) return
  const launcher = process.ppid
  setInterval(() => {
    if (process.ppid !== launcher) process.kill(process.pid, 'SIGTERM')
  }, LAUNCHER_MS).unref()
}

const usage = `Usage: express-sso2 <command> [options]

Commands:
  emulator   runs the whole platform on this machine, for development and tests
  doctor     checks the set-up of a site: configuration, addresses, clock, secret, landing page, cookies, Redis
  examine    examines a running site in any language: plays the platform, its users and attackers, and reports

express-sso2 <command> --help says more.
`

async function main([name = '', ...args]: readonly string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return command(args)
  const isHelp = name === '--help' || name === '-h' || name === 'help'
  if (isHelp) process.stdout.write(usage)
  else
    process.stderr.write(name === '' ? usage : `express-sso2: there is no command ${JSON.stringify(name)}\n\n${usage}`)
  return isHelp ? 0 : 2
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`express-sso2: ${errorMessage(error)}\n`)
    process.exitCode = 1
  },
)
