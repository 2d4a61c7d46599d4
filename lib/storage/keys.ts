/** Names of things in the store: hashes, so that a dump of it opens no session and names no account. */
import { hash } from 'node:crypto'

/** Name of a session in the store. */
export function sessionKey(sessionId: string): string {
  return hash('sha256', sessionId, 'base64url')
}

/** Short hash for comparing and logging identifiers. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}
