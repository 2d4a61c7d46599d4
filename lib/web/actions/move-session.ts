/** The site renews a session's ID by itself, as `req.session.regenerate()` does: the record goes over to the new one. */
import { mayMove } from '../../decide/stored-entry'
import { sessionKey } from '../../storage/keys'
import type { Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'
import type { StoredRecord } from '../stored-record'
import { beginSession, removeFromIndex } from './sign-in'

/** Moves the record of a session to a new ID; nothing is there where the session is logged out meanwhile. */
export async function moveSession(
  site: Site,
  stored: StoredRecord,
  newId: string,
): Promise<'moved' | 'nothing' | Unavailable> {
  const start = site.sessionIndex.startNow()
  const { key } = stored
  let { value } = stored
  const revoked = await stored.revoke(
    (found) => {
      value = found.value
      return mayMove(found)
    },
    'moved',
    newId,
  )
  if (revoked.outcome === 'unavailable') return revoked.outcome
  if (revoked.outcome === 'changed' || value === undefined) {
    stored.forget()
    return 'nothing'
  }
  const [began] = await Promise.all([
    beginSession(site, stored, sessionKey(newId), value, start),
    removeFromIndex(site, key, value),
  ])
  if (began === 'done') return 'moved'
  if (began === 'lost_race') stored.forget()
  return began === 'lost_race' ? 'nothing' : began
}
