/** Reads `examine.json`, and lists the settings that a site needs for an examination. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'

const text = z.string().min(1)
const seconds = z.number().min(0).max(86_400)

const settingsSchema = z.strictObject({
  pages: z
    .strictObject({
      public: text.default('/'),
      account: text.optional(),
      sensitive: text.optional(),
      data: text.optional(),
    })
    .prefault({}),
  login: z
    .strictObject({
      page: text.optional(),
      usernameField: text.optional(),
      passwordField: text.optional(),
      returnField: text.optional(),
    })
    .prefault({}),
  logout: z
    .strictObject({ page: text.optional(), form: text.optional(), method: z.enum(['GET', 'POST']).optional() })
    .prefault({}),
  logoutAll: text.optional(),
  loggedIn: text.optional(),
  loggedOut: text.optional(),
  landing: text.default('/sso2/landing'),
  recheckSeconds: seconds.default(360),
  graceSeconds: seconds.optional(),
  clockToleranceSeconds: seconds.default(5),
  headers: z.record(z.string(), z.string()).default({}),
  skip: z.record(z.string(), text).default({}),
  rest: z
    .strictObject({
      marketplace: text.optional(),
      gift: text.optional(),
      administrators: text.optional(),
      user: text.optional(),
    })
    .prefault({}),
})

/** Complete content of `examine.json`. */
export type Settings = z.infer<typeof settingsSchema>

/**
 * Reads `examine.json`.
 * @throws {TypeError} if keys are wrong, with the name of each key
 */
export function readSettings(value: unknown): Settings {
  const read = settingsSchema.safeParse(value)
  if (read.success) return read.data
  const problems = read.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
  throw new TypeError(problems.join('; '))
}

/** A setting of the site, such as an address of the platform or the client. */
export interface SiteSetting {
  readonly variable: string
  readonly value: string
  readonly meaning: string
}

/** Addresses and IDs of the platform and of the site's client. */
export interface PlatformAddresses {
  readonly url: string
  readonly siteUrl: string
  readonly landing: string
  readonly organisationId: string
  readonly ssoIdentifier: string
  readonly clientId: string
  readonly clientSecret: string
}

/** Returns the settings of a site, in the order of the table. */
export function siteSettings(platform: PlatformAddresses): SiteSetting[] {
  const row = (variable: string, value: string, meaning: string): SiteSetting => ({ variable, value, meaning })
  return [
    row('SSO2_URL', `${platform.url}/sso`, 'base address of the SSO system ({sso_url})'),
    row('SSO2_API_URL', platform.url, 'base address of the REST API ({base_url}); the user is at /external/api/v1/me'),
    row('SSO2_TOKEN_URL', `${platform.url}/oauth/token`, 'access token endpoint: form POST, authorization_code'),
    row('SSO2_ORGANISATION_ID', platform.organisationId, 'iss of request tokens'),
    row('SSO2_IDENTIFIER', platform.ssoIdentifier, 'aud of request tokens, iss of Session Tokens'),
    row('SSO2_CLIENT_ID', platform.clientId, 'cid of request tokens, aud of Session Tokens, client_id'),
    row('SSO2_CLIENT_SECRET', platform.clientSecret, 'signs every token; client_secret at the token endpoint'),
    row('SSO2_SITE_URL', platform.siteUrl, 'the address of your site'),
    row(
      'SSO2_LANDING',
      `${platform.siteUrl}${platform.landing}`,
      'where Identify redirects to; "landing" in examine.json changes the path',
    ),
    row('SSO2_SESSION_SECRET', randomBytes(32).toString('hex'), 'only for sites that use express-sso2'),
  ]
}

/** Returns the settings as a table, as a `.env` and as JSON. */
export function settingsText(platform: PlatformAddresses): string {
  const rows = siteSettings(platform)
  const width = Math.max(...rows.map(({ variable }) => variable.length))
  const table = rows.map(
    ({ variable, value, meaning }) => `  ${variable.padEnd(width)}  ${value}\n  ${' '.repeat(width)}    ${meaning}`,
  )
  const file = rows.map(({ variable, value }) => `${variable}=${value}`)
  const json = Object.fromEntries(rows.map(({ variable, value }) => [variable, value]))
  return [
    `Settings of ${platform.siteUrl} for an examination. They are made up, and open no real system.`,
    table.join('\n'),
    `# .env\n${file.join('\n')}`,
    JSON.stringify(json, undefined, 2),
    '',
  ].join('\n\n')
}

/** Returns the client secret of a site. The secret is the same for each run, so that settings stay valid. */
export const clientSecretOf = (siteUrl: string): string =>
  `examined-${new URL(siteUrl).host.replace(/\W+/g, '-')}-made-up-secret-not-for-production`
