/** What a user reads: the README, the pages that it leads to, and those beside the examples. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The repository. */
export const root = path.join(__dirname, '..', '..')

/** A page with its path in the repository. */
export interface Page {
  readonly file: string
  readonly text: string
}

const FOLDERS = ['docs', 'examples', 'example-app']
const SINGLE = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'lib/emulator/README.md']

/** Every page, the README first. */
export function pagesOf(folder: string): Page[] {
  const inFolders = FOLDERS.filter((name) => existsSync(path.join(folder, name))).flatMap((name) =>
    readdirSync(path.join(folder, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !/node_modules|^site\b/.test(file))
      .map((file) => path.posix.join(name, file.split(path.sep).join('/'))),
  )
  return [...SINGLE, ...inFolders.sort()].map((file) => ({
    file,
    text: readFileSync(path.join(folder, file), 'utf8'),
  }))
}
