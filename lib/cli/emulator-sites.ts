/** Sites of the command line: each gets an API client, and a complete `.env`. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { address } from '../config/validators'
import type { ClientOptions, EmulatorOptions } from '../emulator'
import { withoutLastSlashes } from '../protocol/requests'

/** Where a site has its landing page unless `routes.landing` says otherwise. */
const LANDING = '/sso2/landing'

/** A site and the client that it uses. */
export interface SiteClient {
  readonly siteUrl: string
  readonly client: ClientOptions
  /** The client is of a configuration file: its secret is not printed. */
  readonly isConfigured: boolean
}

/** The address of a site without slashes at its end. @throws {TypeError} saying what is wrong with it */
export function readSite(text: string): string {
  const [problem] = address(false, 'http://localhost:3000').safeParse(text).error?.issues ?? []
  if (problem) throw new TypeError(`--site ${problem.message}`)
  return withoutLastSlashes(text)
}

/** The client of a site: of the configuration, where one lands there; else made, always the same for the same address. */
export function clientOf(siteUrl: string, configured: readonly ClientOptions[]): SiteClient {
  const found = configured.find(({ landingPage }) => isBelow(landingPage, siteUrl))
  if (found) return { siteUrl, client: found, isConfigured: true }
  const name = nameOf(siteUrl)
  const clientId = wordOf(siteUrl)
  // stays valid when the emulator is started again; in production sites refuse it by its last words
  const clientSecret = `${clientId}-demo-secret-not-for-production`
  return { siteUrl, client: { clientId, clientSecret, name, landingPage: siteUrl + LANDING }, isConfigured: false }
}

/** Host, port and path of a site. */
function nameOf(siteUrl: string): string {
  const { host, pathname } = new URL(siteUrl)
  return `${host}${pathname}`.replace(/\/$/, '')
}

/** The same as a word of letters, digits and dashes. */
const wordOf = (siteUrl: string) =>
  nameOf(siteUrl)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** What the `.env` of a site is called, where there are several. */
export const fileOf = ({ siteUrl }: SiteClient): string => `${wordOf(siteUrl)}.env`

const isBelow = (landingPage: string, siteUrl: string) => landingPage.startsWith(`${siteUrl}/`)

/** The site of a client, where its landing page is the usual one. */
export function siteOf(client: ClientOptions, isConfigured: boolean): SiteClient | undefined {
  if (!client.landingPage.endsWith(LANDING)) return undefined
  return { siteUrl: client.landingPage.slice(0, -LANDING.length), client, isConfigured }
}

/** Lines of a `.env` with everything that a site needs; the session secret is made anew each time. */
export function environmentOf(site: SiteClient, url: string, platform: EmulatorOptions): string {
  const { clientId, clientSecret } = site.client
  const secret = `SSO2_CLIENT_SECRET=${site.isConfigured ? '' : quoted(clientSecret)}`
  return `# .env of ${site.siteUrl}
SSO2_SITE_URL=${site.siteUrl}
${portOf(site.siteUrl)}SSO2_SESSION_SECRET=${randomBytes(32).toString('hex')}
SSO2_URL=${url}/sso
SSO2_API_URL=${url}
SSO2_TOKEN_URL=${url}/oauth/token
SSO2_ORGANISATION_ID=${quoted(platform.organisationId ?? '')}
SSO2_IDENTIFIER=${quoted(platform.ssoIdentifier ?? '')}
SSO2_CLIENT_ID=${quoted(clientId)}
${site.isConfigured ? `# its clientSecret in the configuration file\n${secret}` : secret}
# REDIS_URL=redis://127.0.0.1:6379
`
}

/** Where the site listens, if its address says so. */
function portOf(siteUrl: string): string {
  const { port } = new URL(siteUrl)
  return port === '' ? '' : `PORT=${port}\n`
}

/** A file with the environment of a site. */
export interface EnvironmentFile {
  readonly siteUrl: string
  readonly file: string
  /** It was there before, with a session secret and changes of its own, and is as it was. */
  readonly isKept: boolean
}

/** Writes the `.env` of a site into a folder, for its owner to read, unless there is one. */
export function writeEnvironment(folder: string, site: SiteClient, environment: string): EnvironmentFile {
  const file = path.join(folder, fileOf(site))
  mkdirSync(folder, { recursive: true })
  const isKept = existsSync(file)
  if (!isKept) writeFileSync(file, environment, { mode: 0o600, flag: 'wx' })
  return { siteUrl: site.siteUrl, file, isKept }
}

/** As `node --env-file` reads it back. */
const quoted = (value: string) => (/^[\w.:/@-]*$/.test(value) ? value : `'${value}'`)

/** Host names that several sites share: cookies know no ports. */
export function sharedHosts(sites: readonly SiteClient[]): string[] {
  const names = sites.map(({ siteUrl }) => new URL(siteUrl).hostname)
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}
