import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { cleanEnvironment } from '../../test/support/process'
import { root } from '../../test/support/sources'

/** Something to try, and what it is of. */
export type Trial = readonly [name: string, work: () => Promise<unknown>]

/** An empty folder of a stranger, into which packages are installed. */
export class Project {
  constructor(readonly folder: string) {
    mkdirSync(folder, { recursive: true })
    this.write('package.json', { name: path.basename(folder), private: true })
  }

  /** @param packages as `npm install` takes them */
  async install(packages: readonly string[]): Promise<void> {
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], this.folder)
  }

  /** What is installed in the end, where a range was asked for. */
  versionOf(name: string): string {
    return JSON.parse(readFileSync(this.path('node_modules', name, 'package.json'), 'utf8')).version
  }

  has(name: string): boolean {
    return existsSync(this.path('node_modules', name))
  }

  path(...names: string[]): string {
    return path.join(this.folder, ...names)
  }

  write(file: string, content: string | object): void {
    mkdirSync(path.dirname(this.path(file)), { recursive: true })
    writeFileSync(this.path(file), typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
  }

  /** Copies a file or folder of the repository, without what a build has left in it. */
  copy(from: string, to: string): void {
    cpSync(path.join(root, from), this.path(to), { recursive: true, filter: (file) => path.basename(file) !== 'dist' })
  }
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Runs a program to its end. @throws {Error} with all that it printed, when it fails */
export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, env: { ...cleanEnvironment(), ...env } })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string }
    throw new Error(`${stdout}${stderr}`.trim() || message)
  }
}
