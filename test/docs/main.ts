/** Writes everything in the documentation that is generated. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { withComments } from './comments'
import { PALETTES, sequencePicture, sessionsPicture } from './diagrams'
import { llmsText } from './llms'
import { optionsPage, withRequired } from './options-page'
import { root } from './pages'
import { makeProgram } from './program'
import { readOptions } from './read-options'
import { apiReference } from './reference'
import { apiReport } from './report'

const REFERENCE = 'docs/api'

/** @param folder where to write; by default the repository itself */
export async function main([folder = root]: readonly string[]): Promise<void> {
  const program = makeProgram()
  const options = readOptions(program)
  writeAll(folder, withComments(options))
  writeAll(folder, new Map([['docs/options.md', optionsPage(options)]]))
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8')
  writeAll(folder, new Map([['README.md', withRequired(readme, options)]]))
  writeAll(folder, new Map([['docs/internals/api-report.md', apiReport(program)]]))
  writeAll(folder, pictures())
  const contents = readFileSync(path.join(root, 'docs', 'README.md'), 'utf8')
  writeAll(folder, new Map([['docs/llms.txt', llmsText(contents)]]))
  const pages = await apiReference(root)
  forgetOthers(path.join(folder, REFERENCE), pages)
  writeAll(folder, new Map([...pages].map(([name, text]) => [`${REFERENCE}/${name}`, text])))
}

const DIAGRAMS = path.join(root, 'docs', 'diagrams')

/** Every diagram in both schemes. */
function pictures(): Map<string, string> {
  const names = readdirSync(DIAGRAMS).map((file) => path.basename(file, '.mmd'))
  const sources = names.map((name) => [name, readFileSync(path.join(DIAGRAMS, `${name}.mmd`), 'utf8')] as const)
  return new Map(
    Object.entries(PALETTES).flatMap(([scheme, palette]) => [
      [`docs/images/two-sessions-${scheme}.svg`, sessionsPicture(palette)] as const,
      ...sources.map(
        ([name, source]) => [`docs/images/${name}-${scheme}.svg`, sequencePicture(source, palette)] as const,
      ),
    ]),
  )
}

/** Touches nothing that is as it should be. */
function writeAll(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    if (!isThere(file, text)) writeFileSync(file, text)
  }
}

function isThere(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8') === text
  } catch {
    return false
  }
}

/** Pages of names that are exported no more. */
function forgetOthers(folder: string, pages: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(path.join(folder, name), { recursive: true })
}
