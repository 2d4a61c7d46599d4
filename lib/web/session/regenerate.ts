/** `req.session.regenerate()`: the request goes on with an empty session under a new ID, and whoever was logged in stays so. */
import { isGone, mayLive } from '../../decide/stored'
import { sessionKey } from '../../storage/hashes'
import { storeUnavailable, type Unavailable } from '../../storage/unavailable'
import { type Parts, StoredRecord } from '../stored-record'
import type { Adapter } from './adapter'
import type { Lead, Place, RequestSession } from './request-session'
import { newSessionId } from './store'

interface Next {
  readonly place: Place
  readonly lead: Lead
}

/** What a regeneration needs of its site. */
export interface Site extends Parts {
  readonly adapter: Adapter
  /** Moves the record of a session to a new ID. @returns false where there is none any more */
  moveRecord(slot: RequestSession, newId: string): Promise<boolean>
}

/** Gives the request its new session. Where that fails it gets an empty one that is not saved, and the error is for the caller. */
export async function replaceSession(site: Site, slot: RequestSession): Promise<void> {
  const { place, lead } = slot
  const go = (next: Next) => {
    slot.moveTo(next.place, next.lead)
    site.adapter.present(slot)
    site.adapter.watch(slot)
  }
  try {
    go(await nextOf(site, slot))
  } catch (error) {
    go({ place: { ...place, standing: 'away', text: null, duty: 'nothing' }, lead })
    throw error
  }
}

async function nextOf(site: Site, slot: RequestSession): Promise<Next> {
  const { place, lead } = slot
  if (place.standing === 'away') throw storeUnavailable()
  if (place.standing === 'late') return { place: { ...place, text: null }, lead }
  if (place.standing === 'fresh' && !slot.hasData) {
    // nothing is to be ended, but what follows could not be saved either
    known(site.records.isAvailable ? await site.records.read(sessionKey(newSessionId())) : 'unavailable')
    return { place: site.adapter.freshPlace('send_if_filled'), lead }
  }
  return leave(site, slot)
}

/** Moves a record; revokes data without a record. If the session has just ended, no other begins in its place. */
async function leave(site: Site, slot: RequestSession): Promise<Next> {
  const { place, lead } = slot
  const stored = new StoredRecord(site, sessionKey(place.id), 'unavailable')
  known(await stored.reread())
  const next = { place: site.adapter.freshPlace('send'), lead: { key: undefined, stored: undefined } }
  const { did } = await stored.revoke(({ isYetToCome }) => isYetToCome, 'moved', next.place.id)
  known(did)
  if (did === 'done') return next
  if (mayLive(stored)) return moved(site, slot)
  if (stored.isLate) return { place: { ...place, standing: 'late', text: null, duty: 'nothing' }, lead }
  if (isGone(stored)) return next
  throw storeUnavailable()
}

async function moved(site: Site, slot: RequestSession): Promise<Next> {
  const id = newSessionId()
  if (!(await site.moveRecord(slot, id)))
    return { place: site.adapter.freshPlace('send', id), lead: { key: undefined, stored: undefined } }
  const place: Place = { ...slot.place, standing: 'live', id, text: null, duty: 'send' }
  return { place, lead: { key: sessionKey(id), stored: undefined } }
}

function known<T>(answer: T | Unavailable): T {
  if (answer === 'unavailable') throw storeUnavailable()
  return answer
}
