/**
 * Runs `express-sso2 doctor`, which prints a line for each check of the real set-up, and advice for each problem.
 * The checks are listed in `doctor-checks.ts`.
 */
import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'
import { parseArgs } from 'node:util'
import { checkDoctorTarget } from './doctor-checks'
import { about, errorCode, type Finding } from './doctor-finding'
import { jsonReport, type Report, textReport } from './doctor-output'
import { readEnvironment, readModule, type Subjects } from './doctor-subject'
import { errorMessage } from './error-message'

const help = `Usage: express-sso2 doctor [--env-file .env] [--module ./sso.js] [--json] [--long-addresses]

Checks the set-up of a site that runs with the same environment: configuration, names and certificates of each address,
client ID and secret, clock, landing page, token endpoint, user path, the running site, proxy, cookies, Redis. It starts
one anonymous session in the SSO system, changes nothing else and prints no secret. Below each wrong line is its fix.
The exit code is 1 if a line is wrong, because then users may not be able to log in. Otherwise it is 0.

  --env-file <file>  reads variables from a file, as node --env-file does
  --module <file>    checks each sso2() that the file exports, with its options. The file may export a function that makes
                     it: the doctor calls the only one, or the one named as in ./sso.js#makeSso, without arguments
  --json             prints one JSON object: { ok, findings: [{ site, check, state, message, fix, docs }] }
  --long-addresses   also sends addresses of 2,048 characters through the proxy. Access logs get lines of 5,000 characters
  --help             prints this text

node_modules/express-sso2/docs/commands.md has a heading for each line.
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
  const { module, 'env-file': envFile, 'long-addresses': hasLongAddresses } = given
  const report = given.json ? jsonReport() : textReport()
  const problem = envFile === undefined ? undefined : readEnvFile(envFile)
  if (module !== undefined) process.on('uncaughtException', (error) => report.tell(moduleFinding(error)))
  const subjects = problem ? { sites: [], problems: [problem] } : await subjectsOf(module)
  await checkAll(subjects, report, hasLongAddresses)
  if (subjects.sites.length === 0 && envFile === undefined && existsSync('.env')) report.tell(UNREAD_ENV_FILE)
  const code = report.end() ? 0 : 1
  // the process exits here, because the doctor cannot close a port that the module has opened
  if (module !== undefined) process.stdout.write('', () => process.exit(code))
  return code
}

function parse(args: readonly string[]) {
  const options = {
    'env-file': { type: 'string' },
    module: { type: 'string' },
    json: { type: 'boolean', default: false },
    'long-addresses': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values
  } catch (error) {
    process.stderr.write(`express-sso2 doctor: ${errorMessage(error)}\n\n`)
    return undefined
  }
}

const UNREAD_ENV_FILE = about('configuration').note(
  'the doctor has not read the file .env in this folder',
  'express-sso2 doctor --env-file .env',
)

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

async function checkAll({ sites, problems }: Subjects, report: Report, hasLongAddresses: boolean): Promise<void> {
  for (const problem of problems) report.tell(problem)
  for (const site of sites) {
    for await (const finding of checkDoctorTarget(site, hasLongAddresses)) report.tell(finding, site.config.siteUrl)
    await site.close()
  }
}

/**
 * Reports an error of the module and goes on. A module that starts a second site fails at the port of the running site.
 * The doctor examines the running site.
 */
const moduleFinding = (error: Error): Finding =>
  about('module').note(`the module throws an error that it does not catch: ${errorCode(error)}`)
