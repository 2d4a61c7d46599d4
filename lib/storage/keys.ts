/** Derives the names of keys in the store. The names are hashes, so that a dump of the store opens no session and names no account. */
import { hash } from 'node:crypto'

/** Returns the name of a session in the store. */
export function sessionKey(sessionId: string): string {
  return hash('sha256', sessionId, 'base64url')
}

/** Returns a short hash, for comparing and logging identifiers. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}
