/** docs/api: the API reference, made of the comments in lib by TypeDoc, a page an entry point. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import ts from 'typescript'
import { headingsOf } from '../../test/support/markdown'
import { root } from '../../test/support/sources'

/** What needs no comment of its own: members of a type that has one, codes, and names that the interface gives without a word on them. */
const SAYS_ITSELF = /\.__type\.|\.code \(|emulator\.(?:Address|Market\w*|SiteOptions|AccountView)\./

/** @returns pages by their names @throws {Error} what TypeDoc has to say of the comments, links that lead nowhere among it */
export async function apiReference(): Promise<Map<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-api-'))
  try {
    await write(folder)
    const pages = Object.entries(TITLES).map(
      ([name, title]) => [name, tidied(readFileSync(path.join(folder, name), 'utf8'), title)] as const,
    )
    return new Map([['README.md', INDEX], ...pages])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** TypeDoc forgets which error it is that `@throws` tells of; as a word of the text it stays. */
function keepThrown(folder: string): void {
  const { readFile } = ts.sys
  ts.sys.readFile = (file, encoding) => {
    const text = readFile(file, encoding)
    return file.startsWith(folder) ? text?.replace(/@throws \{(\w+)\}/g, '@throws `$1`') : text
  }
}

async function write(folder: string): Promise<void> {
  keepThrown(path.join(root, 'lib'))
  const { Application, LogLevel } = await import('typedoc')
  const format = 'table'
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: ['index.ts', 'emulator/index.ts', 'testing/index.ts'].map((file) => path.join(root, 'lib', file)),
    tsconfig: path.join(root, 'tsconfig.build.json'),
    packageOptions: {},
    skipErrorChecking: true, // the compiler has its own turn
    readme: 'none',
    router: 'module',
    disableSources: true,
    githubPages: false,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    sort: ['source-order'],
    groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables'],
    validation: { notExported: false, notDocumented: true, invalidLink: true, invalidPath: true },
    requiredToBeDocumented: [
      'Class',
      'Interface',
      'TypeAlias',
      'Variable',
      'Function',
      'Method',
      'Accessor',
      'Property',
    ],
    logLevel: 'Warn',
    ...{ hideBreadcrumbs: true, hidePageHeader: true, propertyMembersFormat: format },
    ...{ parametersFormat: format, interfacePropertiesFormat: format, classPropertiesFormat: format },
    ...{ typeAliasPropertiesFormat: format, typeDeclarationFormat: format },
    ...{ tableColumnSettings: { hideModifiers: true, hideDefaults: true, hideOverrides: true, hideInherited: true } },
    outputs: [{ name: 'markdown', path: folder }],
  })
  const said: string[] = []
  app.logger.log = (message, level) => {
    if (level >= LogLevel.Warn && !SAYS_ITSELF.test(message)) said.push(message)
  }
  const project = await app.convert()
  if (project) {
    app.validate(project)
    await app.generateOutputs(project)
  }
  if (said.length > 0) throw new Error(`TypeDoc is not content:\n${said.join('\n')}`)
}

const TITLES: Readonly<Record<string, string>> = {
  'index.md': 'express-sso2',
  'emulator.md': 'express-sso2/emulator',
  'testing.md': 'express-sso2/testing',
}

const MARK = '<!-- Written by `npm run docs` from the comments in lib: change them there. -->'

const INDEX = `# API reference

${MARK}

${Object.entries(TITLES)
  .map(([name, title]) => `- [\`${title}\`](${name})`)
  .join('\n')}

All exported names, with meaning, inputs, units, results and errors. [Options](../options.md) have a page of their own.
_Interface: "…"_ cites [the protocol](../internals/protocol.md).
`

/** Without what a reader does not look for, with a list of what the page holds, and with links that tell `sso2` from `Sso2`. */
function tidied(page: string, title: string): string {
  const lean = page
    .replace(/^# .+\n/, `# ${title}\n`)
    .replace(/^#+ (?:Overrides|Extended by)\n\n(?:.+\n)+\n/gm, '')
    .replace(/^#+ Get Signature\n\n/gm, '')
    .replace(/^#+ Returns\n\n.+\n\n(?=#|\*\*\*|$(?![\s\S]))/gm, '')
    .replace(/\n{3,}/g, '\n\n')
  const names = headingsOf(lean)
    .filter(({ level }) => level === 3)
    .map(({ title: name, anchor }) => ({ name: name.replace(/`abstract` |\\/g, ''), anchor }))
  const list = names.map(({ name, anchor }) => `[${name}](#${anchor})`).join(' · ')
  const anchors = new Map(names.map(({ name, anchor }) => [name.replace('()', ''), anchor]))
  return lean
    .replace(/\[`(\w+)`\]\(#[\w-]+\)/g, (link, name) =>
      anchors.has(name) ? `[\`${name}\`](#${anchors.get(name)})` : link,
    )
    .replace('\n', `\n\n${MARK}\n\n${list}\n`)
    .trimEnd()
    .concat('\n')
}
