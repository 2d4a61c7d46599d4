/** Creates an API client and a complete `.env` for each site of the command line. */
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { address } from '../config/validators'
import type { ClientOptions, EmulatorOptions } from '../emulator'
import { withoutLastSlashes } from '../protocol/requests'

/** Landing page of a site that does not set `routes.landing`. */
const LANDING = '/sso2/landing'

/** The options of a running emulator, which have no gaps. */
export type RunningPlatform = { readonly [K in keyof EmulatorOptions]-?: NonNullable<EmulatorOptions[K]> }

/** A site and its client. */
export interface SiteClient {
  readonly siteUrl: string
  readonly client: ClientOptions
  /** True if a configuration file defines the client. The secret is then not printed. */
  readonly isConfigured: boolean
}

/**
 * Reads the address of a site, as browsers write it and without slashes at the end.
 * @throws {TypeError} if the address is invalid, with the reason
 */
export function readSite(text: string): string {
  const { data, error } = address(false, 'http://localhost:3000').safeParse(text)
  if (data === undefined) throw new TypeError(`--site ${error?.issues[0]?.message}`)
  return withoutLastSlashes(data)
}

/**
 * Returns the client of a site.
 * Prefers a configured client whose landing page is on the site. Otherwise creates a client, the same for each start.
 */
export function clientForSite(siteUrl: string, configured: readonly ClientOptions[]): SiteClient {
  const found = configured.find(({ landingPage }) => isLandingPageOfSite(landingPage, siteUrl))
  if (found) return { siteUrl, client: found, isConfigured: true }
  const name = siteName(siteUrl)
  const clientId = wordOf(siteUrl)
  // the secret stays the same at the next start. In production, sites refuse the secret because of its last words
  const clientSecret = `${clientId}-demo-secret-not-for-production`
  return { siteUrl, client: { clientId, clientSecret, name, landingPage: siteUrl + LANDING }, isConfigured: false }
}

/** Returns host, port and path of a site. */
function siteName(siteUrl: string): string {
  const { host, pathname } = new URL(siteUrl)
  return `${host}${pathname}`.replace(/\/$/, '')
}

/** Returns the same name with letters, digits and dashes only. */
const wordOf = (siteUrl: string) =>
  siteName(siteUrl)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** Returns the file name of the site's `.env`, for more than one site. */
export const fileOf = ({ siteUrl }: SiteClient): string => `${wordOf(siteUrl)}.env`

const isLandingPageOfSite = (landingPage: string, siteUrl: string) => landingPage.startsWith(`${siteUrl}/`)

/** Returns the site of a client, if the client has the default landing page. */
export function siteForClient(client: ClientOptions, isConfigured: boolean): SiteClient | undefined {
  if (!client.landingPage.endsWith(LANDING)) return undefined
  return { siteUrl: client.landingPage.slice(0, -LANDING.length), client, isConfigured }
}

/** Returns the lines of a complete `.env`. Each call creates a new session secret. */
export function environmentOf(site: SiteClient, url: string, platform: RunningPlatform): string {
  const { clientId, clientSecret } = site.client
  const secret = `SSO2_CLIENT_SECRET=${site.isConfigured ? '' : quoted(clientSecret)}`
  return `# .env of ${site.siteUrl}
SSO2_SITE_URL=${site.siteUrl}
${portLine(site.siteUrl)}SSO2_SESSION_SECRET=${randomBytes(32).toString('hex')}
SSO2_URL=${url}/sso
SSO2_API_URL=${url}
SSO2_TOKEN_URL=${url}/oauth/token
SSO2_ORGANISATION_ID=${quoted(platform.organisationId)}
SSO2_IDENTIFIER=${quoted(platform.ssoIdentifier)}
SSO2_CLIENT_ID=${quoted(clientId)}
${site.isConfigured ? `# its clientSecret in the configuration file\n${secret}` : secret}
# REDIS_URL=redis://127.0.0.1:6379
`
}

/** Returns the site's port, if the address contains a port. */
function portLine(siteUrl: string): string {
  const { port } = new URL(siteUrl)
  return port === '' ? '' : `PORT=${port}\n`
}

/** The `.env` file of a site. */
export interface EnvironmentFile {
  readonly siteUrl: string
  readonly file: string
  /** True if the file existed before. An existing file is not changed, because a user may have edited it. */
  readonly isKept: boolean
  /** Variables of a kept file that have another value than this emulator needs. */
  readonly outdated: readonly string[]
}

/** Writes the `.env` of a site, readable by the file's owner only. Keeps a file that exists and is not empty. */
export function writeEnvironment(file: string, site: SiteClient, environment: string): EnvironmentFile {
  mkdirSync(path.dirname(file), { recursive: true })
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const isKept = before.trim() !== ''
  if (!isKept) {
    writeFileSync(file, environment, { mode: 0o600 })
    chmodSync(file, 0o600) // of an empty file that was there
  }
  return {
    siteUrl: site.siteUrl,
    file,
    isKept,
    outdated: isKept ? outdatedNames(parseEnv(before), parseEnv(environment)) : [],
  }
}

/** Names the variables that lead to another emulator or client. The session secret is the site's own, and a secret may be left out. */
const outdatedNames = (kept: NodeJS.Dict<string>, needed: NodeJS.Dict<string>): string[] =>
  Object.keys(needed)
    .filter((name) => name !== 'SSO2_SESSION_SECRET' && needed[name] !== '' && kept[name] !== needed[name])
    .sort()

/** Quotes a value so that `node --env-file` reads the same value. */
const quoted = (value: string) => (/^[\w.:/@-]*$/.test(value) ? value : `'${value}'`)

/** Returns host names that more than one site uses. Sites with the same host name share cookies, because cookies ignore the port. */
export function sharedHosts(sites: readonly SiteClient[]): string[] {
  const names = sites.map(({ siteUrl }) => new URL(siteUrl).hostname)
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}
