/** docs/options.md: every option in its group. */
import { table } from '../figures'
import type { Option } from './read-options'

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'The platform': [
    ...['ssoUrl', 'apiUrl', 'tokenUrl', 'clientId', 'clientSecret', 'allowWeakSecret', 'organisationId'],
    'ssoIdentifier',
  ],
  'The site': ['siteUrl', 'sessionSecret', 'redis', 'session', 'routes', 'trustedReturnOrigins'],
  'Who the user is': ['exchangeTicket', 'ticketExchange', 'loadUser', 'userPath', 'onLogin', 'onLogout'],
  'When the SSO system is asked': [
    ...['identify', 'shouldIdentify', 'recheckSeconds', 'graceSeconds', 'timeoutMs', 'clockToleranceSeconds'],
  ],
  'Logging in': ['loginLimit', 'rememberDevices', 'loginMessages'],
  'What the pages look like': ['brand', 'links', 'language', 'loginName', 'texts', 'views', 'contentSecurityPolicy'],
  Operation: ['agent', 'logger', 'clock'],
}

const HEAD = `# Options

<!-- Written by \`npm run docs\` from lib/config: change the descriptions there. -->

Pass these options to \`sso2(options)\`. An option with an environment variable may come from the environment. An explicit option wins.
All problems are reported at once in one [\`Sso2ConfigError\`](troubleshooting.md#sso2configerror), by option and variable, without values.

- An address begins with \`https:\`. Outside production \`http:\` is accepted for loopback hosts (\`localhost\`, \`*.localhost\`, \`127.0.0.1\`, \`::1\`).
- Times are in seconds. If the name of an option ends in \`Ms\`, its unit is milliseconds.
- \`undefined\` counts as absent.

A site needs these:
`

/** @throws {Error} an option that is in no group, or a group that names none */
export function optionsPage(options: readonly Option[]): string {
  const grouped = Object.values(GROUPS).flat()
  const tops = options.map(({ name }) => name).filter((name) => !name.includes('.'))
  const lost = [...tops, ...grouped].filter((name) => !(grouped.includes(name) && tops.includes(name)))
  if (lost.length > 0) throw new Error(`options-page.ts: these are in no group, or no option: ${lost.join(', ')}`)
  const parts = Object.entries(GROUPS).map(([title, names]) => {
    const all = names.flatMap((name) => options.filter((option) => option.name.split('.')[0] === name))
    return [`## ${title}`, ...all.map(section)].join('\n\n')
  })
  return `${[HEAD.trimEnd(), requiredTable(options), ...parts].join('\n\n')}\n`
}

/** A table of what a site must say. */
function requiredTable(options: readonly Option[]): string {
  const rows = options
    .filter(({ name, defaultText, variable }) => variable && (defaultText?.startsWith('required') || name === 'redis'))
    .map(({ name, variable, defaultText = '', description }) => ({
      option: `\`${name}\``,
      environment: `\`${variable}\``,
      default: defaultText,
      meaning: firstSentence(description),
    }))
  return table(rows)
}

const firstSentence = (text: string) => text.replace(/\.( .*)?$/, '')

/** An option with a heading of its own, so that messages and pages can link to it. */
function section({ name, variable, type, defaultText, description, mustBe }: Option): string {
  const fallback = defaultText?.replace(/^required/, '**required**') ?? (type === 'object' ? undefined : 'none')
  const facts = [
    variable && `- Environment: \`${variable}\``,
    type !== 'object' && `- Type: ${typeText(type)}`,
    fallback && `- Default: ${fallback}`,
    mustBe && `- Must be ${mustBe}`,
  ]
  return [`### ${name}`, withLinks(description), facts.filter(Boolean).join('\n')]
    .filter((text) => text !== '')
    .join('\n\n')
}

/** Names of ours are explained in the API reference. The type of a view names the view's context only. */
function typeText(type: string): string {
  const [own] = /^[A-Z]\w+$/.exec(type) ?? []
  if (!own) return `\`${type}\``
  const link = `[\`${own}\`](api/index.md#${own.toLowerCase()})`
  return own.endsWith('Context') ? `a function of ${link} that returns HTML, or a promise of HTML` : link
}

const withLinks = (text: string) =>
  text.replace(/\bdocs\/([\w-]+)\.md/g, (_path, page: string) => `[${page.replaceAll('-', ' ')}](${page}.md)`)
