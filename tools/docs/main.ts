import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readText, root } from '../../test/support/sources'
import { withComments } from './comments'
import { PALETTES, sequencePicture } from './diagrams'
import { llmsText } from './llms'
import { optionsPage } from './options-page'
import { readOptions } from './read-options'
import { apiReference } from './reference'

const REFERENCE = 'docs/api'

/** @param folder where to write; by default the repository itself */
export async function main([folder = root]: readonly string[]): Promise<number> {
  const options = readOptions()
  const generated = [...pictures(), ['docs/options.md', optionsPage(options)]] as const
  // first: the pages below are made of these
  writeAll(folder, new Map([...withComments(options), ...generated]))
  writeAll(folder, new Map([['docs/llms.txt', llmsText(readText('README.md'))]]))
  const pages = await apiReference()
  forgetOthers(path.join(folder, REFERENCE), pages)
  writeAll(folder, new Map([...pages].map(([name, text]) => [`${REFERENCE}/${name}`, text])))
  return 0
}

/** Every diagram in both schemes. */
function pictures(): Map<string, string> {
  const names = readdirSync(path.join(root, 'docs', 'diagrams')).map((file) => path.basename(file, '.mmd'))
  const sources = names.map((name) => [name, readText('docs', 'diagrams', `${name}.mmd`)] as const)
  return new Map(
    sources.flatMap(([name, source]) =>
      Object.entries(PALETTES).map(
        ([scheme, palette]) => [`docs/images/${name}-${scheme}.svg`, sequencePicture(source, palette)] as const,
      ),
    ),
  )
}

/** Touches nothing that is as it should be. */
function writeAll(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
  }
}

/** Pages of names that are exported no more. */
function forgetOthers(folder: string, pages: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(path.join(folder, name), { recursive: true })
}
