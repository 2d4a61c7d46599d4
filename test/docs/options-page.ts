/** docs/options.md: every option in its group. */
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
  'Logging in': ['loginLimit', 'loginMessages'],
  'What the pages look like': ['brand', 'links', 'language', 'texts', 'views', 'contentSecurityPolicy'],
  Operation: ['logger', 'clock'],
}

const HEAD = `# Options

<!-- Written by \`npm run docs\` from lib/config: change the descriptions there. -->

\`sso2(options)\` takes what stands here. An option with a variable may come from the environment instead; one that is given wins.
Everything that is wrong is reported at once, by option and variable, in one
[\`Sso2ConfigError\`](api/index.md#sso2configerror) that prints no value.

_Addresses_ begin with \`https:\`; outside production \`http:\` is taken for a loopback host (\`localhost\`, \`*.localhost\`, \`127.0.0.1\`, \`::1\`).
Every time is in seconds, but where the name ends in \`Ms\`: milliseconds.
`

/** @throws {Error} an option that is in no group, or a group that names none */
export function optionsPage(options: readonly Option[]): string {
  const grouped = Object.values(GROUPS).flat()
  const tops = options.map(({ name }) => name).filter((name) => !name.includes('.'))
  const lost = [...tops, ...grouped].filter((name) => !(grouped.includes(name) && tops.includes(name)))
  if (lost.length > 0) throw new Error(`options-page.ts: these are in no group, or no option: ${lost.join(', ')}`)
  const parts = Object.entries(GROUPS).map(([title, names]) => {
    const rows = names.flatMap((name) => options.filter((option) => option.name.split('.')[0] === name)).map(row)
    return [`## ${title}`, '', '| option | type | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
  })
  return `${[HEAD.trimEnd(), ...parts].join('\n\n')}\n`
}

const [BEGIN, END] = ['<!-- required options: `npm run docs` -->', '<!-- end of required options -->']

/** The README with its table of what a site must say. @throws {Error} the README has no place for it */
export function withRequired(readme: string, options: readonly Option[]): string {
  const [before, rest] = readme.split(`${BEGIN}\n`)
  const [, after] = rest?.split(END) ?? []
  if (before === undefined || after === undefined) throw new Error(`README.md has no ${BEGIN} and ${END}`)
  const rows = options
    .filter(({ name, otherwise, variable }) => variable && (otherwise?.startsWith('required') || name === 'redis'))
    .map(({ name, variable, otherwise = '', description }) => [
      `\`${name}\``,
      `\`${variable}\``,
      otherwise,
      firstSentence(description),
    ])
  return `${before}${BEGIN}\n\n${aligned([['option', 'environment', 'default', 'meaning'], ...rows])}\n\n${END}${after}`
}

const firstSentence = (text: string) => text.replace(/\.( .*)?$/, '')

/** A table as the formatter leaves it. */
function aligned(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(width(column))).join(' | ')} |`
  const [head = [], ...body] = rows
  const rule = head.map((_cell, column) => '-'.repeat(width(column)))
  return [head, rule, ...body].map(line).join('\n')
}

function row({ name, variable, type, otherwise, description, mustBe }: Option): string {
  const cells = [
    [`\`${name}\``, variable && `\`${variable}\``].filter(Boolean).join('<br>'),
    typeCell(type),
    otherwise?.replace(/^required/, '**required**') ?? (type === 'object' ? '' : 'none'),
    withLinks(mustBe ? `${description} Must be ${mustBe}.` : description),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** Names of ours are explained in the API reference. */
function typeCell(type: string): string {
  const [own] = /^[A-Z]\w+$/.exec(type) ?? []
  return own ? `[\`${own}\`](api/index.md#${own.toLowerCase()})` : `\`${type}\``
}

const withLinks = (text: string) => text.replace(/\bdocs\/([\w-]+\.md)/g, '[$1]($1)')
