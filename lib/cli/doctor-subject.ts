/** Finds the sites to examine: the site that the environment describes, or the sites that a module exports. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeConfig } from '../config'
import { misspeltVariables } from '../config/load'
import { type DoctorTarget, doctorTargetOf } from '../doctor-target'
import type { ConfigProblem, Sso2ConfigError } from '../errors'
import { about, type Finding } from './doctor-finding'
import { errorMessage } from './error-message'

/** Sites to examine, and what is found before that. */
export interface Subjects {
  readonly sites: readonly DoctorTarget[]
  readonly problems: readonly Finding[]
}

const { note, wrong } = about('configuration')

/** Reads the site from the environment variables alone. */
export function readEnvironment(environment: NodeJS.ProcessEnv): Subjects {
  const notes = misspeltVariables(environment).map((says) => note(says))
  const logger = { warn: () => {}, info: () => {} }
  try {
    const config = makeConfig({ logger }, environment, { now: () => Date.now() })
    const close = async () => {}
    const site = { config, exchangeTicket: undefined, ticketExchange: {}, namesUsers: false, close }
    return { sites: [site], problems: notes }
  } catch (error) {
    return { sites: [], problems: [...notes, ...problemsIn('the environment', error)] }
  }
}

/**
 * Finds every `sso2()` that a file exports by name, as default, or as a member of the default. If there is none, calls the
 * exported function and looks into its result.
 * @param module file, relative to the working directory. `file#name` names the function to call
 */
export async function readModule(module: string): Promise<Subjects> {
  const file = module.replace(/#[\w$]+$/, '')
  const name = /#([\w$]+)$/.exec(module)?.[1]
  try {
    const exported: unknown = await import(pathToFileURL(path.resolve(file)).href)
    const sites = name === undefined ? targetsIn(exported) : []
    return sites.length > 0 ? { sites, problems: [] } : await readFactory(file, functionsIn(exported), name)
  } catch (error) {
    return { sites: [], problems: problemsIn(file, error) }
  }
}

const noSite = (says: string, help = 'export const sso = sso2({ … })   or   module.exports = sso'): Subjects => ({
  sites: [],
  problems: [wrong(says, help)],
})

type Factory = () => unknown

/** Calls the function that makes the site. An error that it throws is an error of the module. */
async function readFactory(file: string, factories: Map<string, Factory>, name?: string): Promise<Subjects> {
  const names = [...factories.keys()]
  const chosen = name ?? (names.length === 1 ? names[0] : undefined)
  if (chosen === undefined)
    return names.length === 0
      ? noSite(`${file} exports no sso2()`)
      : noSite(`${file} exports no sso2(), but the functions ${names.join(', ')}`, `--module ${file}#${names[0]}`)
  const factory = factories.get(chosen)
  if (!factory) return noSite(`${file} exports no function ${chosen}`)
  const sites = targetsIn({ made: await factory() })
  return sites.length > 0 ? { sites, problems: [] } : noSite(`${chosen}() of ${file} returns no sso2()`)
}

/** Returns the exported functions by name: those of the module, and the members of its default. */
function functionsIn(exported: unknown): Map<string, Factory> {
  const found = new Map<unknown, string>()
  const entries = entriesOf(exported)
  for (const [name, value] of [...entries, ...entries.flatMap(([, value]) => entriesOf(value))])
    if (typeof value === 'function' && (!found.has(value) || found.get(value) === 'default')) found.set(value, name)
  return new Map([...found].map(([factory, name]) => [name, factory as Factory])) // only functions are in it
}

function targetsIn(exported: unknown): DoctorTarget[] {
  const values = entriesOf(exported).map(([, value]) => value)
  const inner = values.flatMap(entriesOf).map(([, value]) => value)
  return [...new Set([...values, ...inner].flatMap((value) => doctorTargetOf(value) ?? []))]
}

const entriesOf = (value: unknown): [name: string, value: unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

/** Returns the problems of the configuration, or the error that prevents its reading. */
const problemsIn = (source: string, error: unknown): readonly Finding[] =>
  configProblems(error) ?? [loadProblem(source, error)]

/** Recognises a configuration error by its code, because the module can load another copy of the package and its classes. */
function configProblems(error: unknown): Finding[] | undefined {
  const isOurs = error instanceof Error && 'code' in error && error.code === 'ERR_SSO2_CONFIG' && 'problems' in error
  if (!isOurs) return undefined
  const problems = error.problems as Sso2ConfigError['problems'] // the code shows that the error is from the package
  return problems.map((problem) => wrong(`${problemName(problem)} ${problem.message}`))
}

const problemName = ({ option, variable }: ConfigProblem) => `${option}${variable ? ` (${variable})` : ''}`

/** Reports the first line of the module's own error. */
function loadProblem(source: string, error: unknown): Finding {
  const name = error instanceof Error ? error.name : 'error'
  return wrong(`${source} cannot be loaded: ${name}: ${errorMessage(error).replace(/\n.*/s, '')}`)
}
