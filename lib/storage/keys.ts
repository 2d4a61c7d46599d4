/** Derives the names of keys in the store. The names are hashes, so that a dump of the store opens no session and names no account. */
import { hash } from 'node:crypto'
import type { Kv } from './kv'
import { type Unavailable, unlessUnavailable } from './unavailable'

/** Returns the name of a session in the store. */
export function sessionKey(sessionId: string): string {
  return hash('sha256', sessionId, 'base64url')
}

/** Returns a short hash, for comparing and logging identifiers. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}

/** Base of the classes that name keys. All keys begin with the prefix of the site. */
export class SiteStore {
  /** @param encryptionKeys the first encrypts, all decrypt @param nowMs milliseconds since 1970 */
  constructor(
    protected readonly kv: Kv,
    protected readonly prefix: string,
    protected readonly encryptionKeys: () => readonly Buffer[],
    protected readonly nowMs: () => number,
  ) {}

  protected isSet(...change: Parameters<Kv['compareAndSet']>): Promise<boolean | Unavailable> {
    return unlessUnavailable(async () => (await this.kv.compareAndSet(...change)).isDone)
  }
}
