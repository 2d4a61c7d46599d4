import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root } from '../support/sources'

/** A folder that finds packages as the repository does. The caller removes it. */
export function makeWorkshop(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-workshop-'))
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir')
  return folder
}

/** A folder of a site that has installed this package, and others that the repository has. The caller removes it. */
export function makeProject(files: Readonly<Record<string, string>> = {}, packages: readonly string[] = []): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-project-'))
  const modules = path.join(folder, 'node_modules')
  mkdirSync(modules)
  symlinkSync(root, path.join(modules, 'express-sso2'), 'dir')
  for (const name of packages) symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name), 'dir')
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
  return folder
}

export function compilerMessages(project: string): string {
  try {
    return execFileSync(path.join(root, 'node_modules', '.bin', 'tsc'), ['-p', project], { encoding: 'utf8' })
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string } // without a word of its own it has crashed, or is not there
    return stdout || message || 'failed'
  }
}
