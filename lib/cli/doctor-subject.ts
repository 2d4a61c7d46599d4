/** Finds the sites to examine: the site that the environment describes, or the sites that a module exports. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeConfig } from '../config'
import { type DoctorTarget, doctorTargetOf } from '../doctor-target'
import type { ConfigProblem, Sso2ConfigError } from '../errors'
import { about, type Finding } from './doctor-finding'

/** Sites to examine, and the problems if there are no sites. */
export interface Subjects {
  readonly sites: readonly DoctorTarget[]
  readonly problems: readonly Finding[]
}

const { wrong } = about('configuration')

/** Reads the site from the environment variables alone. */
export function readEnvironment(environment: NodeJS.ProcessEnv): Subjects {
  try {
    const config = makeConfig({}, environment, { now: () => Date.now() })
    const close = async () => {}
    const site = { config, exchangeTicket: undefined, ticketExchange: {}, namesUsers: false, close }
    return { sites: [site], problems: [] }
  } catch (error) {
    return { sites: [], problems: configProblems(error) ?? rethrow(error) }
  }
}

/**
 * Finds every `sso2()` that a file exports by name, as default, or as a member of the default.
 * @param file relative to the working directory
 */
export async function readModule(file: string): Promise<Subjects> {
  try {
    const exported: unknown = await import(pathToFileURL(path.resolve(file)).href)
    const sites = [...new Set(valuesOf(exported).flatMap((value) => doctorTargetOf(value) ?? []))]
    return sites.length > 0
      ? { sites, problems: [] }
      : {
          sites,
          problems: [wrong(`${file} exports no sso2()`, 'export const sso = sso2({ … })   or   module.exports = sso')],
        }
  } catch (error) {
    return { sites: [], problems: configProblems(error) ?? [loadProblem(file, error)] }
  }
}

function valuesOf(exported: unknown): unknown[] {
  const values = membersOf(exported)
  return [...values, ...values.flatMap(membersOf)]
}

const membersOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []

/** Recognises a configuration error by its code, because the module can load another copy of the package and its classes. */
function configProblems(error: unknown): Finding[] | undefined {
  const isOurs = error instanceof Error && 'code' in error && error.code === 'ERR_SSO2_CONFIG' && 'problems' in error
  if (!isOurs) return undefined
  const problems = error.problems as Sso2ConfigError['problems'] // the code shows that the error is from the package
  return problems.map((problem) => wrong(`${problemName(problem)} ${problem.message}`))
}

const problemName = ({ option, variable }: ConfigProblem) => `${option}${variable ? ` (${variable})` : ''}`

/** Reports the first line of the module's own error. */
function loadProblem(file: string, error: unknown): Finding {
  const [message = ''] = (error instanceof Error ? error.message : 'unknown error').split('\n')
  return wrong(`${file} cannot be loaded: ${error instanceof Error ? error.name : 'error'}: ${message}`)
}

function rethrow(error: unknown): never {
  throw error
}
