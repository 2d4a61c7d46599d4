/** docs/llms.txt: every page with its first sentences, for tools that read documentation. */
import path from 'node:path'
import { readText } from '../../test/support/sources'

const HEAD = `# express-sso2

> Express middleware for SSO2, the single sign-on of newspaper subscription platforms: one \`app.use(sso)\`, sessions in Redis, an emulator of the whole platform.

Read the README first. Names of options, errors and events are exact.
`

/** @param readme its section "Documentation" has a point for each group of pages */
export function llmsText(readme: string): string {
  const contents = readme.slice(readme.indexOf('\n## Documentation\n'))
  const seen = new Set(['README.md'])
  const parts = [...contents.matchAll(/^- \*\*(.+?):\*\* (.+)$/gm)].map(([, title = '', links = '']) => {
    const files = [...links.matchAll(/\]\(([^)#]+\.md)[^)]*\)/g)].map(([, file = '']) => file)
    const fresh = files.filter((file) => !seen.has(file) && seen.add(file))
    return [`## ${title}`, '', ...fresh.map(line)].join('\n')
  })
  return `${[HEAD.trimEnd(), `## Overview\n\n${line('README.md')}`, ...parts].join('\n\n')}\n`
}

/** A page with its title and its first paragraph. */
function line(file: string): string {
  const text = readText(file).replace(/<!--[\s\S]*?-->|<picture>[\s\S]*?<\/picture>/g, '')
  const [, title = file] = /^# (.+)$/m.exec(text) ?? []
  const [, first = ''] = /^# .+\n+(?:#.+\n+)*((?!#|\||```|- ).+(?:\n(?!\n|- |\||```).+)*)/m.exec(text) ?? []
  const plain = first
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]{1,2}([^*_]+)[*_]{1,2}/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
  const two = plain
    .split(/(?<=[.?]) (?=[A-Z`])/)
    .slice(0, 2)
    .join(' ')
    .replace(/:$/, '.')
  const link = path.posix.relative('docs', file)
  return `- [${title}](${link})${two === '' ? '' : `: ${two}`}`
}
