import { type Config, makeConfig } from '../../lib/config'
import type { ConfigOptions } from '../../lib/config/config-options'
import { VARIABLES } from '../../lib/config/load'
import { type ConfigProblem, Sso2ConfigError } from '../../lib/errors'

/* Configurations that are made, and those that are refused. */

export const clock = { now: () => 1_800_000_000_000 }
export const clientSecret = 'client-secret-0123456789-abcdefgh'
export const sessionSecret = 'session-secret-0123456789-abcdefg'
export const required: ConfigOptions = {
  ssoUrl: 'https://sso.example/base',
  clientId: 'the-site',
  clientSecret,
  organisationId: 'the-publisher',
  siteUrl: 'https://news.example',
  apiUrl: 'https://api.example/',
  tokenUrl: 'https://login.example/token',
  sessionSecret,
}
export const make = (options: object = {}, environment: NodeJS.ProcessEnv = {}): Config =>
  makeConfig({ ...required, ...options }, environment, clock)

/** Options as variables of the environment. */
export const variablesOf = (options: ConfigOptions): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(options).map(([option, value]) => [VARIABLES[option], value]))

/** The error of a configuration that must be refused. */
export function errorOf(options: object, environment: NodeJS.ProcessEnv = {}): Sso2ConfigError {
  try {
    makeConfig(options, environment, clock)
  } catch (error) {
    if (error instanceof Sso2ConfigError) return error
    throw error
  }
  throw new Error('the configuration was taken')
}

export const problemsOf = (options: object, environment: NodeJS.ProcessEnv = {}): readonly ConfigProblem[] =>
  errorOf({ ...required, ...options }, environment).problems

/** Options that are refused, each once. */
export const optionsOf = (options: object, environment: NodeJS.ProcessEnv = {}) =>
  [...new Set(problemsOf(options, environment).map(({ option }) => option))].sort()
