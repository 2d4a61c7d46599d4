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
    // express is theirs to bring: they shall use the same as everybody here
    const flags = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', ['ci', ...flags], { cwd: __dirname, stdio: 'inherit' })
    return true
  } catch {
    console.log('the peers could not be installed: their rows are left out')
    return false
  }
}
