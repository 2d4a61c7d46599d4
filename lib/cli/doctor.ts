/** `express-sso2 doctor`: says, line by line, what is right and what is wrong with the real set-up. Contract: section 11. */
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type Config, makeConfig } from '../config'
import { Sso2ConfigError } from '../errors'
import { addressFindings } from './doctor-address'
import type { Finding } from './doctor-finding'
import { redisFindings } from './doctor-redis'
import { siteFindings } from './doctor-site'
import { ssoFindings } from './doctor-sso'

const help = `Usage: express-sso2 doctor

Checks the set-up of a site that runs with the same environment: configuration, names and certificates of each address,
clock, client ID and secret, landing page, cookies, Redis. It changes nothing and prints no secret. Exit 0 when all is
well, 1 when something is wrong.
`

/** @param args what follows the command's name @returns the exit code */
export async function doctorCommand(args: readonly string[]): Promise<number> {
  const options = { help: { type: 'boolean', short: 'h', default: false } } as const
  const given = parse(args, options)
  if (!given) {
    process.stderr.write(help)
    return 2
  }
  if (given.help) {
    process.stdout.write(help)
    return 0
  }
  const config = readConfig()
  if (!config) return 1
  print({ state: 'ok', what: 'configuration', says: 'complete' })
  let isWell = true
  for await (const finding of examine(config)) {
    print(finding)
    if (finding.state === 'wrong') isWell = false
  }
  return isWell ? 0 : 1
}

function parse<T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values
  } catch {
    return undefined
  }
}

function readConfig(): Config | undefined {
  try {
    return makeConfig({}, process.env, { now: () => Date.now() })
  } catch (error) {
    if (!(error instanceof Sso2ConfigError)) throw error
    for (const { option, variable, message } of error.problems)
      print({ state: 'wrong', what: 'configuration', says: `${option}${variable ? ` (${variable})` : ''} ${message}` })
    return undefined
  }
}

async function* examine(config: Config): AsyncGenerator<Finding> {
  yield* addressFindings(config)
  yield* ssoFindings(config, randomUUID())
  yield* siteFindings(config)
  yield* redisFindings(config.redis)
}

const SIGNS = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' }

function print({ state, what, says }: Finding): void {
  process.stdout.write(`${SIGNS[state]}  ${what.padEnd(16)}  ${says}\n`)
}
