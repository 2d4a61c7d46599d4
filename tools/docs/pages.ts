/** What a user reads: the README, the pages that it leads to, and those beside the examples. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { readText, root } from '../../test/support/sources'

/** A page with its path in the repository. */
export interface Page {
  readonly file: string
  readonly text: string
}

const FOLDERS = ['docs', 'examples', 'example-app']
const SINGLE = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'lib/emulator/README.md']

export function allPages(): Page[] {
  const inFolders = FOLDERS.flatMap((name) =>
    readdirSync(path.join(root, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !/node_modules|^site\b/.test(file))
      .map((file) => path.posix.join(name, file.split(path.sep).join('/'))),
  )
  return [...SINGLE, ...inFolders.sort()].map((file) => ({ file, text: readText(file) }))
}
