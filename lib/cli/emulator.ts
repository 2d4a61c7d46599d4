/** Runs `express-sso2 emulator` until the process receives SIGINT or SIGTERM. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createEmulator, demoOptions, type Emulator, type EmulatorOptions, type Listening } from '../emulator'
import { Sso2ConfigError } from '../errors'
import {
  clientForSite,
  type EnvironmentFile,
  environmentOf,
  fileOf,
  type RunningPlatform,
  readSite,
  type SiteClient,
  siteForClient,
  writeEnvironment,
} from './emulator-sites'
import { startText } from './emulator-text'
import { errorMessage } from './error-message'

const DEFAULT_PORT = 4000
const DEFAULT_HOST = '127.0.0.1'

const help = `Usage: express-sso2 emulator [--site http://localhost:3000]... [--port ${DEFAULT_PORT}] [--host ${DEFAULT_HOST}]
                             [--write-env .env] [--write-env-dir .] [--config emulator.json] [--print-config]
                             [--production]

Runs the whole SSO2 platform on this machine, for development and tests: SSO system, token endpoint, REST API, and an
admin portal. It listens on the loopback interface only, unless --host says otherwise.

  --site <address>   a site of yours: makes its API client, sets its landing page, and prints a complete .env for it.
                     The .env goes to standard output, everything else to standard error. May be there several times;
                     then each .env is shown on standard error, for together in one file the last site would win
  --write-env <file> writes the .env of the site into this file once the emulator runs, and leaves the file alone if it
                     is there
  --write-env-dir <folder>
                     writes the .env of each site into a file of its own there, and leaves alone what is there
  --port <number>    port to listen on; 0 takes a free one (default ${DEFAULT_PORT})
  --host <address>   address to listen on, 0.0.0.0 for containers (default ${DEFAULT_HOST})
  --config <file>    JSON file with the options of createEmulator(); demo data when left out
  --print-config     prints the configuration that would run, complete and with its secrets, and ends
  --production       plays the production environment: debug_url is refused
  --help             shows this
`

interface Arguments {
  readonly port: number
  readonly host: string
  readonly config: string | undefined
  readonly sites: readonly string[]
  readonly envDir: string | undefined
  readonly envFile: string | undefined
  readonly printConfig: boolean
  readonly production: boolean
  readonly help: boolean
}

/**
 * Runs the command.
 * @param args arguments after the name of the command
 * @returns the exit code after the emulator has ended: 0 after SIGINT or SIGTERM, 1 if the emulator cannot run, 2 for wrong
 * arguments
 */
export async function emulatorCommand(args: readonly string[]): Promise<number> {
  try {
    const given = readEmulatorArguments(args)
    if (given === undefined || given.help) {
      ;(given ? process.stdout : process.stderr).write(help)
      return given ? 0 : 2
    }
    await runEmulator(given)
    return 0
  } catch (error) {
    process.stderr.write(`express-sso2 emulator: ${errorMessage(error)}\n`)
    return 1
  }
}

async function runEmulator(given: Arguments): Promise<void> {
  const { port, host, config, sites: addresses, envDir, envFile, production, printConfig } = given
  const base = config === undefined ? demoOptions() : readFile(config)
  const configured = config === undefined ? [] : stateOf(create(base, config)).clients
  const sites = addresses.map((siteUrl) => clientForSite(siteUrl, configured))
  const made = sites.filter(({ isConfigured }) => !isConfigured).map(({ client }) => client)
  const clients = made.length === 0 ? base.clients : [...configured, ...made]
  // Sites run in other processes, which cannot follow a virtual clock.
  const options = { tokenTime: 'real', ...base, clients, ...(production ? { production } : {}) } as const
  const emulator = create(options, config)
  if (printConfig) return printOptions(emulator)
  const { url, isOpen } = await listenEmulator(emulator, port, host)
  try {
    const text = writeSettings(emulator, {
      url,
      openHost: isOpen ? host : undefined,
      sites,
      envDir,
      envFile,
      isDemo: config === undefined,
    })
    const stopped = stopSignal() // before the text, because the text says how to stop
    process.stderr.write(text)
    await stopped
  } finally {
    await emulator.close()
  }
}

interface Started {
  readonly url: string
  readonly openHost: string | undefined
  readonly sites: readonly SiteClient[]
  readonly envDir: string | undefined
  readonly envFile: string | undefined
  readonly isDemo: boolean
}

/** Writes the settings of the sites, to files or to the standard output. @returns the text for the user */
function writeSettings(emulator: Emulator, { url, openHost, sites, envDir, envFile, isDemo }: Started): string {
  const platform = stateOf(emulator)
  const [first] = platform.clients
  const usual = first && siteForClient(first, !isDemo)
  const described = (sites.length > 0 || !usual ? sites : [usual]).map((site) => ({
    site,
    environment: environmentOf(site, url, platform),
  }))
  const fileOfSite = (site: SiteClient) =>
    envFile ?? (envDir === undefined ? undefined : path.join(envDir, fileOf(site)))
  const files = described.flatMap(({ site, environment }) => {
    const file = fileOfSite(site)
    return file === undefined ? [] : [writeSiteFile(file, site, environment)]
  })
  const shown = files.length > 0 ? [] : described.map(({ environment }) => `${environment}\n`)
  // if several sites shared a `.env`, only the last site's values would apply
  if (shown.length === 1) process.stdout.write(shown.join(''))
  const apart = shown.length > 1 ? shown : []
  return startText({ url, openHost, platform, sites, isDemo, apart, files })
}

function writeSiteFile(file: string, site: SiteClient, environment: string): EnvironmentFile {
  try {
    return writeEnvironment(file, site, environment)
  } catch (error) {
    throw new Error(`cannot write ${file}: ${errorMessage(error)}`)
  }
}

/** The running state has all options. */
const stateOf = (emulator: Emulator) => emulator.export() as RunningPlatform

function printOptions(emulator: Emulator): void {
  const { sessions: _s, faults: _f, clockAheadSeconds: _c, ...options } = emulator.export()
  process.stdout.write(`${JSON.stringify(options, undefined, 2)}\n`)
}

function readEmulatorArguments(args: readonly string[]): Arguments | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: String(DEFAULT_PORT) },
        host: { type: 'string', default: DEFAULT_HOST },
        config: { type: 'string' },
        site: { type: 'string', multiple: true, default: [] },
        'write-env': { type: 'string' },
        'write-env-dir': { type: 'string' },
        'print-config': { type: 'boolean', default: false },
        production: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const { port, host, config, production, help: asksForHelp } = values
    const { 'print-config': printConfig, 'write-env': envFile, 'write-env-dir': envDir } = values
    const isPort = /^\d{1,5}$/.test(port) && Number(port) <= 65_535
    if (!isPort) throw new TypeError('--port must be a number from 0 to 65535')
    const sites = values.site.map(readSite)
    if (new Set(sites).size < sites.length) throw new TypeError('--site is there twice with one address')
    if (envFile !== undefined && (sites.length > 1 || envDir !== undefined))
      throw new TypeError('--write-env writes the .env of one site. --write-env-dir writes one for each site')
    return { port: Number(port), host, config, sites, envDir, envFile, printConfig, production, help: asksForHelp }
  } catch (error) {
    process.stderr.write(`express-sso2 emulator: ${errorMessage(error)}\n\n`)
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
    throw new Error(`cannot read ${file}: ${errorMessage(error)}`)
  }
}

function create(options: EmulatorOptions, file: string | undefined): Emulator {
  try {
    return createEmulator(options)
  } catch (error) {
    if (!(error instanceof Sso2ConfigError)) throw error
    const lines = error.problems.map(({ option, message }) => `  - ${option}: ${message}`)
    throw new Error(`${file ?? 'the configuration'} is not right:\n${lines.join('\n')}`)
  }
}

const LISTEN_FAULTS: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port) => `port ${port} is taken; choose another one with --port`,
  EACCES: (port) => `port ${port} is not allowed for this user; choose one above 1023`,
  EADDRNOTAVAIL: (_port, host) => `${host} is no address of this machine; choose another one with --host`,
  ENOTFOUND: (_port, host) => `${host} is no address of this machine; choose another one with --host`,
}

async function listenEmulator(emulator: Emulator, port: number, host: string): Promise<Listening> {
  try {
    return await emulator.listen(port, host)
  } catch (error) {
    const fault = LISTEN_FAULTS[Object(error).code]
    throw fault ? new Error(fault(port, host)) : error
  }
}

/** Resolves at the first SIGINT or SIGTERM. The timer keeps the process running until then. */
function stopSignal(): Promise<void> {
  const stay = setInterval(() => {}, 2 ** 30)
  return new Promise((resolve) => {
    const stop = () => {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      clearInterval(stay)
      resolve()
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
  })
}
