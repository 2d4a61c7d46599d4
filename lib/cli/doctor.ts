/**
 * Runs `express-sso2 doctor`, which prints a line for each check of the real set-up, and advice for each problem.
 * The checks are listed in `doctor-checks.ts`.
 */
import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'
import { parseArgs } from 'node:util'
import { checkDoctorTarget } from './doctor-checks'
import { about, errorCode, type Finding } from './doctor-finding'
import { readEnvironment, readModule, type Subjects } from './doctor-subject'

const help = `Usage: express-sso2 doctor [--env-file .env] [--module ./sso.js]

Checks the set-up of a site that runs with the same environment: configuration, names and certificates of each address,
client ID and secret, clock, landing page, token endpoint, user path, the running site, proxy, cookies, Redis. It starts
one anonymous session in the SSO system, changes nothing else and prints no secret. Below each wrong line is its fix.
The exit code is 1 if a line is wrong, because then users may not be able to log in. Otherwise it is 0.

  --env-file <file>  reads variables from a file, as node --env-file does
  --module <file>    checks each sso2() that the file exports, with its options
  --help             prints this text

docs/doctor.md has a heading for each line.
`

/**
 * Runs the command.
 * @param args arguments after the name of the command
 * @returns the exit code
 */
export async function doctorCommand(args: readonly string[]): Promise<number> {
  const given = parse(args)
  if (!given || given.help) {
    ;(given ? process.stdout : process.stderr).write(help)
    return given ? 0 : 2
  }
  const { module, 'env-file': envFile } = given
  const problem = envFile === undefined ? undefined : readEnvFile(envFile)
  if (module !== undefined) process.on('uncaughtException', printModuleError)
  const subjects = problem ? { sites: [], problems: [problem] } : await subjectsOf(module)
  const isWell = await examineAll(subjects, envFile !== undefined)
  const code = isWell ? 0 : 1
  // the process exits here, because the doctor cannot close a port that the module has opened
  if (module !== undefined) process.stdout.write('', () => process.exit(code))
  return code
}

function parse(args: readonly string[]) {
  const options = {
    'env-file': { type: 'string' },
    module: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values
  } catch {
    return undefined
  }
}

/** @returns the problem of the file, or undefined */
function readEnvFile(file: string): Finding | undefined {
  try {
    loadEnvFile(file)
    return undefined
  } catch (error) {
    return about('configuration').wrong(`${file} cannot be read: ${errorCode(error)}`, '--env-file <path of the file>')
  }
}

const subjectsOf = (module: string | undefined): Promise<Subjects> | Subjects =>
  module === undefined ? readEnvironment(process.env) : readModule(module)

async function examineAll({ sites, problems }: Subjects, hasEnvFile: boolean): Promise<boolean> {
  let isWell = true
  let heading: string | undefined // of the lines before, which share a link
  const tell = (finding: Finding) => {
    const next = finding.state === 'ok' ? undefined : headingOf(finding)
    if (heading !== undefined && heading !== next) printLink(heading)
    heading = next
    print(finding)
    if (finding.state === 'wrong') isWell = false
  }
  problems.forEach(tell)
  if (problems.length > 0 && !hasEnvFile && existsSync('.env'))
    tell(
      about('configuration').note(
        'the doctor has not read the file .env in this folder',
        'express-sso2 doctor --env-file .env',
      ),
    )
  for (const site of sites) {
    for await (const finding of checkDoctorTarget(site)) tell(finding)
    await site.close()
  }
  if (heading !== undefined) printLink(heading)
  return isWell
}

/**
 * Reports an error of the module and goes on. A module that starts a second site fails at the port of the running site.
 * The doctor examines the running site.
 */
function printModuleError(error: Error): void {
  const finding = about('module').note(`the module throws an error that it does not catch: ${errorCode(error)}`)
  print(finding)
  printLink(headingOf(finding))
}

const BELOW = ' '.repeat(25)
const SIGNS = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' }

function print({ state, what, says, help: helps }: Finding): void {
  const advice = helps === undefined ? '' : `${BELOW}-> ${helps}\n`
  process.stdout.write(`${SIGNS[state]}  ${what.padEnd(16)}  ${says}\n${advice}`)
}

function printLink(heading: string): void {
  process.stdout.write(`${BELOW}See docs/doctor.md#${heading}\n`)
}

/** Returns the anchor of a subject's heading in `docs/doctor.md`. The four addresses share a heading. */
const headingOf = ({ what }: Finding): string =>
  /^(?:sso|token|api|site)Url$/.test(what) ? 'ssourl-tokenurl-apiurl-siteurl' : what.toLowerCase().replaceAll(' ', '-')
