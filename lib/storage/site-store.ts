/** The part of a store that belongs to one site. */
import type { Kv } from './kv'
import { type Unavailable, unlessUnavailable } from './unavailable'

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
