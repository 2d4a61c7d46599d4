/** The site renews a session's ID by itself, as `req.session.regenerate()` does: the record goes over to the new one. */
import { isLoggedIn } from '../../decide/record'
import { mayMove } from '../../decide/stored'
import { sessionKey } from '../../storage/hashes'
import type { Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'
import type { StoredRecord } from '../stored-record'
import { enterLists, leaveLists } from './sign-in'

/** Moves the record of a session to a new ID; nothing is there where the session is logged out meanwhile. */
export async function moveSession(
  site: Site,
  stored: StoredRecord,
  newId: string,
): Promise<'moved' | 'nothing' | Unavailable> {
  const beginning = await site.lists.beginning()
  if (beginning === 'unavailable') return beginning
  const { key } = stored
  let { value } = stored
  const buried = await stored.buryWhile(
    (found) => {
      value = found.value
      return mayMove(found)
    },
    'moved',
    newId,
  )
  if (buried.did === 'unavailable') return buried.did
  if (buried.did === 'changed' || value === undefined) {
    stored.forget()
    return 'nothing'
  }
  if ((await stored.begin(sessionKey(newId), value)) !== 'done') return 'unavailable'
  await leaveLists(site, key, value)
  if (isLoggedIn(value)) await enterLists(site, stored, value, beginning)
  return 'moved'
}
