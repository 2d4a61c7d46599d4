/** Copies the pages of the repository into a folder, under the addresses and with the links that they have on the site. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))

/** Pages outside of docs, by their files in the repository. */
const OTHERS = new Map([
  ['README.md', 'index.md'],
  ['docs/api/README.md', 'api/contents.md'],
  ['CONTRIBUTING.md', 'contributing.md'],
  ['SECURITY.md', 'security.md'],
  ['CHANGELOG.md', 'changelog.md'],
  ['LICENSE', 'licence.md'],
  ['examples/README.md', 'examples/index.md'],
  ['lib/emulator/README.md', 'emulator-rules.md'],
])
const FOLDERS = ['docs', 'docs/internals', 'docs/api']
const LANGUAGES = { '.mjs': 'js', '.ts': 'ts', '.html': 'html' }

/** Every page by its file in the repository. */
function pages() {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => path.posix.join(folder, file)),
  )
  return new Map([...inFolders.map((file) => [file, path.posix.relative('docs', file)]), ...OTHERS])
}

/** Pages show a picture for light and one for dark; the site has a switch of its own for that. */
const PICTURE =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*(<img [^>]+>)\s*<\/picture>/g
const picture = (_all, dark, light) =>
  `<span class="only-light" tabindex="0">${light}</span><span class="only-dark" tabindex="0">${light.replace(/src="[^"]+"/, `src="${dark}"`)}</span>`

/** A source that a page links to becomes a page of its own. */
function sourcePage(file) {
  const language = LANGUAGES[path.extname(file)]
  return `# ${file}\n\n\`\`\`\`${language}\n${readFileSync(path.join(root, file), 'utf8').trimEnd()}\n\`\`\`\`\n`
}

/** @param folder is emptied before @returns the names of the pages */
export function stage(folder = path.join(here, '.pages')) {
  rmSync(folder, { recursive: true, force: true })
  const known = pages()
  const sources = new Map()
  const write = (name, text) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  for (const [file, name] of known) {
    const linked = (all, target, anchor = '') => {
      if (target === '') return all
      const to = path.posix.join(path.posix.dirname(file), target)
      if (!known.has(to) && LANGUAGES[path.extname(to)]) sources.set(to, `${to.replace(/\W+/g, '-')}.md`)
      const page = known.get(to) ?? sources.get(to)
      if (page === undefined && !to.endsWith('.png') && !to.endsWith('.svg'))
        throw new Error(`${file}: ${target} is no page`)
      const place = page ?? path.posix.relative('docs', to)
      return `](${relative(name, place)}${anchor})`
    }
    const text = readFileSync(path.join(root, file), 'utf8')
    const outside = text.split(/(^ *```[\s\S]*?^ *```$)/m).map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .replace(/\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)/g, linked)
            .replace(
              /(src(?:set)?=")((?!https?:)[^"]+\.svg)/g,
              (_all, before, to) =>
                `${before}${relative(name, path.posix.relative('docs', path.posix.join(path.posix.dirname(file), to)))}`,
            )
            .replace(PICTURE, picture)
            .replace(/^( *- )\[ \] /gm, '$1<span class="box"></span>'),
    )
    write(name, file === 'LICENSE' ? `# Licence\n\n${text}` : outside.join(''))
  }
  for (const [file, name] of sources) write(name, sourcePage(file))
  cpSync(path.join(root, 'docs', 'images'), path.join(folder, 'images'), { recursive: true })
  return [...known.values(), ...sources.values()]
}

/** A link that begins with a dot, as the bundler wants it. */
function relative(from, to) {
  const link = path.posix.relative(path.posix.dirname(from), to)
  return link.startsWith('.') ? link : `./${link}`
}
