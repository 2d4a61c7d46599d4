/** The part of a store that belongs to one site. */
import type { Kv } from './kv'

/** Base of the classes that name keys. All keys begin with the prefix of the site. */
export class SiteStore {
  /** @param encryptionKeys the first encrypts, all decrypt @param nowMs milliseconds since 1970 */
  constructor(
    protected readonly kv: Kv,
    protected readonly prefix: string,
    protected readonly encryptionKeys: () => readonly Buffer[],
    protected readonly nowMs: () => number,
  ) {}
}
