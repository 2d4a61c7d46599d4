/** Reads options and environment. Reports every fault at once, by option and variable. */
import type { z } from 'zod'
import type { ConfigProblem } from '../errors'
import { agentProblems } from './agents'
import type { ConfigOptions } from './config-options'
import { type CheckedOptions, optionSchemas, schema } from './schema'
import { unchangedOptions } from './unchanged-options'
import { distance, nearest, unknownOptions, unusedOptions } from './unknown-options'
import { nameProblems, sharedSecretProblems } from './validators'

/** Hooks, views, `logger`, `clock`, `agent` and `allowWeakSecret`. They are used as the site wrote them, and only their type is checked. With `exchangeTicket`, `tokenUrl` may be absent. */
export type UnchangedOptions = Readonly<Partial<Record<keyof z.input<typeof unchangedOptions>, unknown>>>

/** Environment variables by option. */
export const VARIABLES: Readonly<Record<string, string>> = {
  ssoUrl: 'SSO2_URL',
  clientId: 'SSO2_CLIENT_ID',
  clientSecret: 'SSO2_CLIENT_SECRET',
  organisationId: 'SSO2_ORGANISATION_ID',
  siteUrl: 'SSO2_SITE_URL',
  apiUrl: 'SSO2_API_URL',
  tokenUrl: 'SSO2_TOKEN_URL',
  sessionSecret: 'SSO2_SESSION_SECRET',
  redis: 'REDIS_URL',
  ssoIdentifier: 'SSO2_IDENTIFIER',
  userPath: 'SSO2_USER_PATH',
  identify: 'SSO2_IDENTIFY',
  recheckSeconds: 'SSO2_RECHECK_SECONDS',
  graceSeconds: 'SSO2_GRACE_SECONDS',
  timeoutMs: 'SSO2_TIMEOUT_MS',
}
const NUMBERS = new Set(['recheckSeconds', 'graceSeconds', 'timeoutMs'])

function fromEnvironment(options: object, environment: NodeJS.ProcessEnv): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...options }
  for (const [option, variable] of Object.entries(VARIABLES)) {
    const text = environment[variable]
    if (merged[option] !== undefined || text === undefined || text === '') continue
    merged[option] = NUMBERS.has(option) ? (/^\d+$/.test(text) ? Number(text) : Number.NaN) : text
  }
  return merged
}

const problem = (option: string, message: string): ConfigProblem => {
  const variable = VARIABLES[option.replace(/\..*/, '')]
  return { option, message, ...(variable ? { variable } : {}) }
}

/** Returns the first sentence of an option's description, if the option is missing. Returns an empty text otherwise. */
function purposeOf([name = '', ...inner]: readonly PropertyKey[], given: Readonly<Record<string, unknown>>): string {
  if (inner.length > 0 || given[String(name)] !== undefined) return ''
  const schemas: Readonly<Record<string, z.ZodType>> = optionSchemas()
  const [sentence] = /^.*?(?=\. |\.$)/.exec(schemas[String(name)]?.description ?? '') ?? []
  return sentence === undefined ? '' : `. ${sentence}`
}

const MOST_TYPING_ERRORS = 3

/** Returns a text for each variable that has almost the name of a variable which is not set. */
export function misspeltVariables(environment: NodeJS.ProcessEnv): string[] {
  const known = Object.values(VARIABLES)
  const others = Object.keys(environment).filter((name) => name.startsWith('SSO2_') && !known.includes(name))
  return others.flatMap((name) => {
    const bare = name.replace(/^SSO2_/, '')
    const meant = known.includes(bare) ? bare : nearest(name, known)
    const isMisspelt = !environment[meant] && (meant === bare || distance(name, meant) <= MOST_TYPING_ERRORS)
    return isMisspelt ? [`${name} is no variable of this package: the nearest name is ${meant}`] : []
  })
}

/** Names the likely cause if neither environment nor code sets any `SSO2_` option: the `.env` file was not read. */
export function hintFor(problems: readonly ConfigProblem[], options: object, environment: NodeJS.ProcessEnv) {
  const variables = Object.entries(VARIABLES).filter(([, variable]) => variable.startsWith('SSO2_'))
  const isGiven = variables.some(([option, variable]) => environment[variable] || Reflect.get(options, option))
  return !isGiven && problems.some(({ variable }) => variable?.startsWith('SSO2_'))
    ? 'no SSO2_ variable is set: start the site by node --env-file=.env site.mjs, and see that the file has them'
    : undefined
}

/** Is the login page on the origin of the site, or on a trusted origin? Only such a page may redirect the visitor back to the site. */
function isTrustedLogin({ routes: { login }, siteUrl, trustedReturnOrigins }: CheckedOptions): boolean {
  if (login === false || login.startsWith('/')) return true
  return [siteUrl, ...trustedReturnOrigins].some((known) => new URL(known).origin === new URL(login).origin)
}

/** Two routes of one path, or a `siteUrl` that is the address of the landing page. */
function routeProblems({ routes, siteUrl }: CheckedOptions): { readonly option: string; readonly message: string }[] {
  const plain = (path: string) => path.toLowerCase().replace(/(?<=.)\/$/, '') // as Express compares paths
  const paths = Object.entries(routes).map(([name, path]) => [name, path === false ? path : plain(path)] as const)
  const problems = paths.flatMap(([name, path], index) => {
    const [other] = path === false ? [] : (paths.slice(0, index).find(([, earlier]) => earlier === path) ?? [])
    return other === undefined ? [] : [{ option: `routes.${name}`, message: `is the path of routes.${other} too` }]
  })
  const landing = routes.landing === false ? '' : plain(routes.landing)
  // a landing path of one word may be the path of the site too
  const isLanding = landing.lastIndexOf('/') > 0 && plain(new URL(siteUrl).pathname).endsWith(landing)
  const message = 'is the address of the landing page: leave out the path of routes.landing'
  return isLanding ? [...problems, { option: 'siteUrl', message }] : problems
}

/** Checks options and environment, and adds every fault to `problems`. @returns `undefined` if a field could not be read */
export function checkOptions(
  options: ConfigOptions & UnchangedOptions,
  environment: NodeJS.ProcessEnv,
  problems: ConfigProblem[],
): CheckedOptions | undefined {
  const isProduction = environment['NODE_ENV'] === 'production'
  const merged = fromEnvironment(options, environment)
  const result = schema(isProduction, merged).safeParse(merged)
  problems.push(...unknownOptions(optionSchemas(), options), ...unusedOptions({ ...options }))
  const issues = [...(result.error?.issues ?? []), ...(unchangedOptions.safeParse(merged).error?.issues ?? [])]
  for (const { path, message } of issues) problems.push(problem(path.join('.'), message + purposeOf(path, merged)))
  for (const { option, message } of [...nameProblems(merged), ...sharedSecretProblems(merged)])
    problems.push(problem(option, message))
  if (result.data && !isTrustedLogin(result.data))
    problems.push(problem('routes.login', 'must be on the origin of siteUrl, or on one of trustedReturnOrigins'))
  if (result.data) for (const { option, message } of routeProblems(result.data)) problems.push(problem(option, message))
  const { ssoUrl, apiUrl, tokenUrl } = result.data ?? {}
  for (const { option, message } of agentProblems(merged['agent'], { ssoUrl, apiUrl, tokenUrl }))
    problems.push(problem(option, message))
  if (isProduction && merged['redis'] === undefined) {
    problems.push(
      problem(
        'redis',
        'is required in production: sessions in memory are lost at a restart and not shared between processes',
      ),
    )
  }
  return result.data
}
