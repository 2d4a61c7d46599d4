import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

/**
 * Installs what this package is compared with, where it is missing; no install script of theirs is run.
 * @returns false where that could not be done: their rows are left out then
 */
export function installPeers(): boolean {
  if (existsSync(path.join(__dirname, 'node_modules', 'passport-local'))) return true
  console.log('installing the peers, once')
  try {
    // with --legacy-peer-deps they get no express of their own, and use that of this repository
    const flags = ['--no-package-lock', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', ['install', ...flags, '--loglevel=error'], { cwd: __dirname, stdio: 'inherit' })
    return true
  } catch {
    console.log('the peers could not be installed: their rows are left out')
    return false
  }
}
