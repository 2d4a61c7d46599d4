import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import type { Engine } from './servers'

/*
 * Which servers there are: redis-server as it is installed, and valkey-server, installed or from Debian's packages.
 */

/** Where Valkey is unpacked. */
const VALKEY = path.join(__dirname, '../../node_modules/.cache/express-sso2-valkey')

/** An engine, or why there is none. */
export type Found = Engine | { readonly name: string; readonly missing: string }

/** What is called `redis` or `valkey` on this machine. */
export function findEngine(name: 'redis' | 'valkey'): Found {
  return name === 'redis' ? find('Redis', 'redis-server') : findValkey()
}

function findValkey(): Found {
  const installed = find('Valkey', 'valkey-server')
  if (!('missing' in installed)) return installed
  const { status } = spawnSync('bash', [path.join(__dirname, 'get-valkey.sh'), VALKEY], { stdio: 'ignore' })
  const unpacked = status === 0 ? find('Valkey', path.join(VALKEY, 'usr/bin/valkey-server')) : installed
  return 'missing' in unpacked ? { name: 'Valkey', missing: 'not in this Debian' } : unpacked
}

function find(name: string, program: string): Found {
  try {
    const said = execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return { name, program, version: /v=([\d.]+)/.exec(said)?.[1] ?? '' }
  } catch {
    return { name, missing: `${program} is not installed` }
  }
}
