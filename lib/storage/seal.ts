/** Encrypts values that a dump of the store must not show. AES-256-GCM with keys derived from the session secret. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE = 12
const TAG = 16

/** Encrypts a text. @param keys the first key encrypts */
export function seal(text: string, keys: readonly Buffer[]): string {
  const [key] = keys
  if (!key) throw new TypeError('seal: no key')
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** Decrypts a text with any of the keys. @returns `undefined` if no key fits */
export function unseal(sealed: string, keys: readonly Buffer[]): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  for (const key of keys) {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
      decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
      return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
    } catch {
      // another key may fit, because secrets are rotated
    }
  }
  return undefined
}
