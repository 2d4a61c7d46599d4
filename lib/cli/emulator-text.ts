/** Writes the start message of the emulator's command. The `.env` of a site is in `emulator-sites.ts`. */
import { type EnvironmentFile, fileOf, type RunningPlatform, type SiteClient, sharedHosts } from './emulator-sites'

/** Facts for the start message. */
export interface StartFacts {
  readonly url: string
  /** The host as given, if other machines can reach the emulator. */
  readonly openHost: string | undefined
  readonly platform: RunningPlatform
  /** Sites that the command line names. */
  readonly sites: readonly SiteClient[]
  /** True for the demo accounts, whose published passwords may be shown. */
  readonly isDemo: boolean
  /** The `.env` texts of several sites, which cannot share standard output. */
  readonly apart: readonly string[]
  /** Files that have the `.env` texts instead. */
  readonly files: readonly EnvironmentFile[]
}

/** Returns the start message: addresses, accounts, and how to end the emulator. */
export function startText(facts: StartFacts): string {
  const { url, platform, isDemo } = facts
  const width = Math.max(...platform.clients.map(({ clientId }) => clientId.length), 12)
  const clients = platform.clients.map(
    ({ clientId, landingPage, sso2 }) =>
      `  ${clientId.padEnd(width)}  ${landingPage}${sso2 ? '' : ' (not flagged for SSO2)'}`,
  )
  const accounts = platform.accounts.map(({ username, password, name, active }) => {
    const secret = isDemo ? password.padEnd(16) : ''
    return `  ${username.padEnd(12)} ${secret}${name}${active === false ? ' (not active)' : ''}`
  })
  return `
${banner(facts)}${environments(facts)}Admin portal   ${url}/
Controls       ${url}/_emulator

Clients and their landing pages
${clients.join('\n')}

Accounts
${accounts.join('\n')}
${advice(facts)}
Ctrl+C ends it.
`
}

function banner({ openHost, url }: StartFacts): string {
  if (openHost === undefined) return ''
  const line = '='.repeat(78)
  const port = new URL(url).port
  return `${line}
This emulator listens on ${openHost}, not on this machine alone: whoever reaches it
can log in as anybody and press every button. Only where nobody else is, such as
in a network of containers. Sites take http: for loopback names alone, so give the
container a name such as sso.localhost and set SSO2_URL=http://sso.localhost:${port}/sso
${line}

`
}

function environments({ sites, apart, files }: StartFacts): string {
  if (files.length > 0) return `Environments\n${files.map(fileLine).join('\n')}\n\n`
  if (apart.length === 0) return ''
  return `${apart.join('')}${apart.length} sites have ${apart.length} files: in one file the last site would win. --write-env-dir . writes them:
${sites.map(fileOf).join(' and ')}

`
}

function fileLine({ file, siteUrl, isKept, outdated }: EnvironmentFile): string {
  const others = outdated.length === 0 ? '' : `, but ${outdated.join(', ')} differ: delete the file, or correct it`
  return `  ${file}  ${siteUrl}${isKept ? `, left as it was${others}` : ''}`
}

function advice({ sites }: StartFacts): string {
  if (sites.length === 0) return '\nA site of your own: --site http://localhost:3000 prints its complete .env\n'
  return sharedHosts(sites)
    .map(
      (host) => `
${host} has two sites, and cookies know no ports: give each a session.cookieName of its own,
or another host name, such as http://127.0.0.1 beside http://localhost
`,
    )
    .join('')
}
