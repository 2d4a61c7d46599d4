/** Shared by the stores of this folder: names of keys, encryption of values, and outages as values. */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { Sso2UnavailableError } from '../errors'
import type { Kv } from './kv'

/** Result of a method if the store does not answer in time, or refuses a command. */
export type Unavailable = 'unavailable'

/** Result of a method that only writes. */
export type Done = 'done'

/** Creates the error of a command. The error has no cause, because a cause may hold the command's arguments. */
export function storeUnavailable(): Sso2UnavailableError {
  return new Sso2UnavailableError('store', true, 'the session store did not answer')
}

/** Runs commands, and returns an outage as a value. */
export async function unlessUnavailable<T>(run: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Sso2UnavailableError && error.operation === 'store') return 'unavailable'
    throw error
  }
}

/** As {@link unlessUnavailable}, for commands whose result is not needed. */
export function doneUnlessUnavailable(run: () => Promise<unknown>): Promise<Done | Unavailable> {
  return unlessUnavailable(async () => {
    await run()
    return 'done' as const
  })
}

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
