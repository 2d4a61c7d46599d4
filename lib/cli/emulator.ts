/** `express-sso2 emulator`: runs the emulator until it is told to stop. Contract: section 9, "Command". */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createEmulator, demoOptions, type Emulator, type EmulatorOptions } from '../emulator'
import { Sso2ConfigError } from '../errors'

const DEFAULT_PORT = 4000

const help = `Usage: express-sso2 emulator [--port 4000] [--config emulator.json] [--production]

Runs the whole SSO2 platform on this machine, for development and tests: SSO system, token endpoint, REST API, and an
admin portal. It listens on the loopback interface only.

  --port <number>    port to listen on; 0 takes a free one (default ${DEFAULT_PORT})
  --config <file>    JSON file with the options of createEmulator(); demo data when left out
  --production       plays the production environment: debug_url is refused
  --help             shows this
`

/** What is wrong with the command line, or the file, or the port: said in one message, without a stack. */
class CommandError extends Error {}

interface Arguments {
  readonly port: number
  readonly config: string | undefined
  readonly production: boolean
  readonly help: boolean
}

/**
 * Runs the command.
 * @param args what follows the command's name
 * @returns the exit code, when the emulator has ended: 0 after SIGINT or SIGTERM, 1 when it cannot run, 2 for wrong arguments
 */
export async function emulatorCommand(args: readonly string[]): Promise<number> {
  try {
    const given = readArguments(args)
    if (given === undefined || given.help) {
      ;(given ? process.stdout : process.stderr).write(help)
      return given ? 0 : 2
    }
    await run(given)
    return 0
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    process.stderr.write(`express-sso2 emulator: ${error.message}\n`)
    return 1
  }
}

async function run({ port, config, production }: Arguments): Promise<void> {
  const options = config === undefined ? demoOptions() : readFile(config)
  // Sites run in processes of their own here, and cannot follow a virtual clock.
  const emulator = create({ tokenTime: 'real', ...options, ...(production ? { production } : {}) }, config)
  const { url } = await listen(emulator, port)
  process.stdout.write(startText(url, emulator.export(), config === undefined))
  await stopSignal()
  await emulator.close()
}

function readArguments(args: readonly string[]): Arguments | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: String(DEFAULT_PORT) },
        config: { type: 'string' },
        production: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const { port, config, production, help: asksForHelp } = values
    const isPort = /^\d{1,5}$/.test(port) && Number(port) <= 65_535
    if (!isPort) throw new TypeError('--port must be a number from 0 to 65535')
    return { port: Number(port), config, production, help: asksForHelp }
  } catch (error) {
    process.stderr.write(`express-sso2 emulator: ${messageOf(error)}\n\n`)
    return undefined
  }
}

function readFile(file: string): EmulatorOptions {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new TypeError('it holds no JSON object')
    return value
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${messageOf(error)}`)
  }
}

function create(options: EmulatorOptions, file: string | undefined): Emulator {
  try {
    return createEmulator(options)
  } catch (error) {
    if (!(error instanceof Sso2ConfigError)) throw new CommandError(messageOf(error))
    const lines = error.problems.map(({ option, message }) => `  - ${option}: ${message}`)
    throw new CommandError(`${file ?? 'the configuration'} is not right:\n${lines.join('\n')}`)
  }
}

async function listen(emulator: Emulator, port: number): Promise<{ url: string }> {
  try {
    return await emulator.listen(port)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') throw new CommandError(`port ${port} is taken; choose another one with --port`)
    if (code === 'EACCES') throw new CommandError(`port ${port} is not allowed for this user; choose one above 1023`)
    throw error
  }
}

/** Resolves at the first SIGINT or SIGTERM. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      resolve()
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
  })
}

/** What to put into a site's environment, and whom to log in as. Passwords of a configuration file are not printed. */
function startText(url: string, options: EmulatorOptions, isDemo: boolean): string {
  const accounts = (options.accounts ?? []).map(({ username, password, name = '', active }) => {
    const secret = isDemo ? password.padEnd(16) : ''
    return `  ${username.padEnd(12)} ${secret}${name}${active === false ? ' (not active)' : ''}`
  })
  const clients = (options.clients ?? []).map(
    ({ clientId, landingPage, sso2 }) =>
      `  ${clientId.padEnd(14)} ${landingPage}${sso2 ? '' : ' (not flagged for SSO2)'}`,
  )
  const [client] = options.clients ?? []
  return `SSO2 emulator, for development and tests only

Admin portal   ${url}/

For a site's environment
  SSO2_URL=${url}/sso
  SSO2_API_URL=${url}
  SSO2_TOKEN_URL=${url}/oauth/token
  SSO2_ORGANISATION_ID=${options.organisationId}
  SSO2_IDENTIFIER=${options.ssoIdentifier}
  SSO2_CLIENT_ID=${client?.clientId ?? ''}
  SSO2_CLIENT_SECRET=${isDemo ? client?.clientSecret : '(from the configuration)'}

Clients and their landing pages
${clients.join('\n')}

Accounts
${accounts.join('\n')}

Ctrl+C ends it.
`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error'
}
