/** Keeps a logout that the SSO system has not confirmed, for the retry queue. */
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import type { Device } from '../../protocol/claims'
import type { PendingLogout } from '../../storage/logout-outbox'
import type { Done, Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'

/** Account of which all sessions end, if they shall. */
export const accountOf = (record: SsoRecord, isAll: boolean): string | undefined =>
  isAll && isLoggedIn(record) ? record.user.accountId : undefined

export const logoutOf = (sid: string, aid: string | undefined, device: Device): PendingLogout => ({
  sid,
  ...(aid === undefined ? {} : { aid }),
  ...device,
})

/** Queues a logout. If Redis does not take it, this process remembers it. @param name hash of the SSO session, or key of the session */
export async function queueLogout(site: Site, name: string, logout: PendingLogout): Promise<Done | Unavailable> {
  const kept = await site.logoutOutbox.keep(name, logout, site.now())
  site.logoutWorker.start()
  return kept
}
