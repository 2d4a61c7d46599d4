import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readText, root } from '../../test/support/sources'
import { withComments } from './comments'
import { llmsText } from './llms'
import { optionsPage } from './options-page'
import { readOptions } from './read-options'
import { apiReference } from './reference'

const REFERENCE = 'docs/api'

/** @param folder where to write; by default the repository itself */
export async function main([folder = root]: readonly string[]): Promise<number> {
  const options = readOptions()
  // first: the pages below are made of these
  writeAll(folder, new Map([...withComments(options), ['docs/options.md', optionsPage(options)]]))
  writeAll(folder, new Map([['docs/llms.txt', llmsText(readText('README.md'))]]))
  const pages = await apiReference()
  forgetOthers(path.join(folder, REFERENCE), pages)
  writeAll(folder, new Map([...pages].map(([name, text]) => [`${REFERENCE}/${name}`, text])))
  return 0
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
