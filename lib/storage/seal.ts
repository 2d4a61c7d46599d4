/** Seals what must not be readable in a dump of the store: AES-256-GCM, keys derived from the session secret. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE = 12
const TAG = 16

/** Seals a text. @param keys the first seals */
export function seal(text: string, keys: readonly Buffer[]): string {
  const [key] = keys
  if (!key) throw new TypeError('seal: no key')
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** Opens a sealed text with any of the keys; `undefined` when none fits. */
export function unseal(sealed: string, keys: readonly Buffer[]): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  for (const key of keys) {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
      decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
      return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
    } catch {
      // another key may fit: secrets are rotated
    }
  }
  return undefined
}
