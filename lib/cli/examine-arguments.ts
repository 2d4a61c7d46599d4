/** Reads the command line of `express-sso2 examine`. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { unknownName } from '../examiner'
import { isLoopbackHost } from '../examiner/request'
import { readSettings, type Settings } from '../examiner/settings'
import { withoutLastSlashes } from '../protocol/requests'
import { errorMessage } from './error-message'

const DEFAULT_PORT = 4000

export const examineHelp = `Usage: express-sso2 examine <address of the site> [options] [-- command that starts the site]
       express-sso2 examine --settings <address of the site>
       express-sso2 examine --list

Plays the SSO2 platform, its users and attackers against a running site, in any language, and reports.
The accounts of the examiner are made up: no real password is needed.

  --settings         prints the configuration that the site needs, as a table, .env and JSON, and ends
  --list             lists all checks with the subject of each, and ends
  --config <file>    examine.json: pages and forms that are not found, recheckSeconds, checks to leave out
  --port <number>    port of the platform (default ${DEFAULT_PORT})
  --only <names>     checks or groups, separated by commas: landing,logout/here
  --skip <names>     checks or groups to leave out
  --quick            leaves out the checks that wait, and those that are like another one; takes less than a minute
  --browser          opens pages in Chromium, for sites whose login needs scripts; needs playwright-core
  --report <file>    writes an HTML report
  --junit <file>     writes JUnit XML
  --json <file>      writes JSON
  --i-own-this-site <address>   the address of the site once more; needed where it is not on this machine
  --help             shows this

Exit codes: 0 no check failed, 1 at least one failed, 2 the examination could not be made.
`

/** The task of the command, with its options. */
export interface ExamineArguments {
  readonly what: 'help' | 'list' | 'settings' | 'examine'
  readonly siteUrl: string
  readonly settings: Settings
  readonly port: number
  readonly only: readonly string[]
  readonly skip: readonly string[]
  readonly isQuick: boolean
  readonly hasChromium: boolean
  readonly report: string | undefined
  readonly junit: string | undefined
  readonly json: string | undefined
  /** The command that starts the site. */
  readonly command: SiteCommand | undefined
}

/** A program with its arguments. */
export interface SiteCommand {
  readonly program: string
  readonly args: readonly string[]
}

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const options = {
  settings: flag,
  list: flag,
  quick: flag,
  browser: flag,
  help: { ...flag, short: 'h' },
  config: text,
  port: { ...text, default: String(DEFAULT_PORT) },
  only: { ...text, default: '' },
  skip: { ...text, default: '' },
  report: text,
  junit: text,
  json: text,
  'i-own-this-site': text,
} as const

/**
 * Reads the arguments.
 * @throws {TypeError} if an argument is wrong, with the reason
 */
export function readExamineArguments(args: readonly string[]): ExamineArguments {
  const end = args.indexOf('--')
  const own = end < 0 ? args : args.slice(0, end)
  const { values, positionals } = parseArgs({ args: [...own], options, allowPositionals: true })
  const what = values.help ? 'help' : values.list ? 'list' : values.settings ? 'settings' : 'examine'
  const isPort = /^\d{1,5}$/.test(values.port) && Number(values.port) <= 65_535
  if (!isPort) throw new TypeError('--port must be a number from 0 to 65535')
  const [only, skip] = [namesOf(values.only), namesOf(values.skip)]
  const unknown = unknownName([...only, ...skip])
  if (unknown !== undefined) throw new TypeError(`there is no check ${JSON.stringify(unknown)}: see --list`)
  const needsSite = what === 'settings' || what === 'examine'
  const siteUrl = needsSite ? siteAddress(positionals, values['i-own-this-site']) : ''
  const { port, quick: isQuick, browser: hasChromium, report, junit, json, config } = values
  const settings = readSettingsFile(config)
  const [program, ...rest] = end < 0 ? [] : args.slice(end + 1)
  const command = program === undefined ? undefined : { program, args: rest }
  return { what, siteUrl, settings, port: Number(port), only, skip, isQuick, hasChromium, report, junit, json, command }
}

const namesOf = (list: string) =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

function siteAddress([given, ...more]: readonly string[], again: string | undefined): string {
  if (given === undefined || more.length > 0) throw new TypeError('the address of one site is needed')
  const url = URL.canParse(given) ? new URL(given) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isWeb || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError('the address of the site must be absolute, http or https, without a query')
  if (!isLoopbackHost(url.hostname) && again !== given)
    throw new TypeError(
      `${url.host} is not on this machine. The examiner attacks the site: give --i-own-this-site ${given} if it is yours`,
    )
  return withoutLastSlashes(url.origin + url.pathname)
}

function readSettingsFile(file: string | undefined): Settings {
  if (file === undefined) return readSettings({})
  try {
    return readSettings(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new TypeError(`${file}: ${errorMessage(error)}`)
  }
}
