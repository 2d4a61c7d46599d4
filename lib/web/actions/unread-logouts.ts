/** Finishes logouts of sessions that Redis did not return, even if the browser does not return. Threat S22. */
import type { Done, Unavailable } from '../../storage/unavailable'
import type { UnreadLogout } from '../../storage/unread-logouts'
import type { Site } from '../site'
import { StoredRecord } from '../stored-record'
import { accountOf, logoutOf, queueLogout } from './queue-logout'
import { localLogoutOf, revokeLocalSessions } from './revoke-local-sessions'

const AT_ONCE = 8

/** Name of the pending logout of such a session. */
export const pendingLogoutName = ({ key, sidHash }: Pick<UnreadLogout, 'key' | 'sidHash'>): string => sidHash ?? key

/** Reads the session again, ends it on this site and queues its logout at the SSO system. A session that has ended since needs nothing. */
export async function endUnreadSession(site: Site, logout: UnreadLogout): Promise<Done | Unavailable> {
  const stored = new StoredRecord(site, logout.key, 'unavailable')
  if ((await stored.reread()) === 'unavailable' || (await stored.follow()) === 'unavailable') return 'unavailable'
  const { value, secrets } = stored
  if (!value) return 'done'
  const aid = accountOf(value, logout.isAll)
  // first: a browser that finds its session ended looks for the pending logout
  if (
    secrets &&
    (await queueLogout(site, pendingLogoutName(logout), logoutOf(secrets.sid, aid, logout.device))) !== 'done'
  )
    return 'unavailable'
  return revokeLocalSessions(site, localLogoutOf(stored.key, value, aid))
}

/** Finishes the logouts that this process remembers, until Redis does not answer. */
export async function endUnreadSessions(site: Site): Promise<void> {
  for (;;) {
    const batch = site.unreadLogouts.oldest(AT_ONCE)
    const results = await Promise.all(batch.map((logout) => endUnreadSession(site, logout)))
    for (const [index, logout] of batch.entries()) if (results[index] === 'done') site.unreadLogouts.remove(logout)
    if (batch.length === 0 || results.includes('unavailable')) return
  }
}
