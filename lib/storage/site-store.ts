/** Shared by the stores of this folder: names, encryption of values, and the outage of Redis. */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { Sso2UnavailableError } from '../errors'
import type { Kv } from './kv'

/** Creates the error of a command. The error has no cause, because a cause may hold the command's arguments. */
export function storeUnavailable(): Sso2UnavailableError {
  return new Sso2UnavailableError('store', true, 'the session store did not answer')
}

/** Is this the error of a command that Redis did not answer, or refused? */
export const isStoreUnavailable = (error: unknown): boolean =>
  error instanceof Sso2UnavailableError && error.operation === 'store'

/** Runs the commands of a flow. @returns the result, or `otherwise` if Redis does not answer */
export async function unlessUnavailable<T, const O = 'unavailable'>(
  run: () => Promise<T>,
  otherwise = 'unavailable' as O,
): Promise<T | O> {
  try {
    return await run()
  } catch (error) {
    if (isStoreUnavailable(error)) return otherwise
    throw error
  }
}

/** Returns a new session ID: 256 random bits. */
export const newSessionId = (): string => randomBytes(32).toString('base64url')

/** Returns the name of a session in the store: a hash, so that a dump of Redis holds no session ID. */
export function sessionKey(sessionId: string): string {
  return hash('sha256', sessionId, 'base64url')
}

/** Returns a short hash, for comparing and logging identifiers. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}

const NONCE = 12
const TAG = 16

/** What every store of a site gets. */
interface StoreParts {
  readonly kv: Kv
  /** Begins every key. */
  readonly prefix: string
  /** Keys of the encryption. The first encrypts, all decrypt. */
  readonly keys: () => readonly [Buffer, ...Buffer[]]
}

/** A store of a site: the commands, the names of its keys, and values that Redis holds encrypted. */
export abstract class SiteStore {
  readonly kv: Kv
  protected readonly prefix: string
  readonly #keys: () => readonly [Buffer, ...Buffer[]]

  constructor({ kv, prefix, keys }: StoreParts) {
    this.kv = kv
    this.prefix = prefix
    this.#keys = keys
  }

  /** Returns a key. Because of the braces, all keys of one name are in one slot of a Cluster. */
  protected key(kind: string, name: string): string {
    return `${this.prefix}${kind}:{${name}}`
  }

  /** Returns the key of the record of a session. */
  protected recordKey(session: string): string {
    return this.key('sso2', session)
  }

  /** Encrypts a value as JSON with AES-256-GCM. */
  protected sealed(value: object): string {
    const [key] = this.#keys()
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
  }

  /** Decrypts a value, which only this package can have written. @returns `undefined` if no secret of this process fits */
  protected opened<T>(text: string): T | undefined {
    const bytes = Buffer.from(text, 'base64url')
    for (const key of this.#keys()) {
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
        decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
        const body = Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()])
        return JSON.parse(body.toString('utf8'))
      } catch {
        // another key may fit, because secrets are rotated
      }
    }
    return undefined
  }
}
