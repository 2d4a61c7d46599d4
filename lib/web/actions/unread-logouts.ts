/** Logouts of sessions that Redis did not return. This process finishes them when Redis is back, even if the browser does not return. Threat S22. */
import type { OfSession } from '../../decide/signed-out'
import type { Done, Unavailable } from '../../storage/unavailable'
import type { Site, UnreadLogout, UnreadLogouts } from '../site'
import { StoredRecord } from '../stored-record'
import { accountOf, keepForLater, logoutOf } from './keep-logout'
import { endHere, endingOf } from './revoke-local-sessions'

/** A process remembers so many. The oldest are forgotten first. */
const MAX_REMEMBERED = 10_000
const AT_ONCE = 8

/** @see the head of the file */
export class RememberedLogouts implements UnreadLogouts {
  /** By session key. */
  readonly #logouts = new Map<string, UnreadLogout>()

  /** Remembers a logout. One of all sessions stays one of all. */
  remember(logout: UnreadLogout): void {
    const { key } = logout
    const isAll = logout.isAll || this.#logouts.get(key)?.isAll === true
    this.#logouts.delete(key)
    this.#logouts.set(key, { ...logout, isAll })
    const [oldest] = this.#logouts.keys()
    if (this.#logouts.size > MAX_REMEMBERED && oldest !== undefined) this.#logouts.delete(oldest)
  }

  async handOver(site: Site): Promise<void> {
    while (this.#logouts.size > 0) {
      const batch = [...this.#logouts.values()].slice(0, AT_ONCE)
      const results = await Promise.all(batch.map((logout) => endUnread(site, logout)))
      for (const [index, logout] of batch.entries())
        if (results[index] === 'done' && this.#logouts.get(logout.key) === logout) this.#logouts.delete(logout.key)
      if (results.includes('unavailable')) return
    }
  }
}

/** Name of the pending logout of such a session. */
export const nameOf = ({ key, sidHash }: Pick<OfSession, 'key' | 'sidHash'>): string => sidHash ?? key

/** Reads the session again, ends it on this site and queues its logout at the SSO system. A session that has ended since needs nothing. */
export async function endUnread(site: Site, logout: UnreadLogout): Promise<Done | Unavailable> {
  const stored = new StoredRecord(site, logout.key, 'unavailable')
  if ((await stored.reread()) === 'unavailable' || (await stored.follow()) === 'unavailable') return 'unavailable'
  const { value, secrets } = stored
  if (!value) return 'done'
  const aid = accountOf(value, logout.isAll)
  // first: a browser that finds its session ended looks for the pending logout
  if (secrets && (await keepForLater(site, nameOf(logout), logoutOf(secrets.sid, aid, logout.device))) !== 'done')
    return 'unavailable'
  return endHere(site, endingOf(stored.key, value, aid))
}
