/** `req.session.regenerate()`: the request goes on with an empty session under a new ID, and whoever was logged in stays so. */
import { isGone, isLate, mayLive } from '../../decide/stored'
import { sessionKey } from '../../storage/hashes'
import type { Records } from '../../storage/records'
import { storeUnavailable, type Unavailable } from '../../storage/unavailable'
import type { Adapter } from './adapter'
import type { Lead, Place, RequestSession } from './request-session'
import { newSessionId } from './store'

const MOST_TRIES = 4

interface Next {
  readonly place: Place
  readonly lead: Lead
}

/** What a regeneration needs of its site. */
export interface Site {
  readonly adapter: Adapter
  readonly records: Records
  /** Seconds since 1970. */
  now(): number
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
  return leave(site, slot, MOST_TRIES)
}

/** A record moves; data without a record is buried; where the session has ended meanwhile no other begins in its place. */
async function leave(site: Site, slot: RequestSession, tries: number): Promise<Next> {
  if (tries === 0) throw storeUnavailable()
  const { place, lead } = slot
  const key = sessionKey(place.id)
  const stored = known(await site.records.read(key))
  if (mayLive(stored)) return moved(site, slot)
  if (isLate(stored, site.now())) return { place: { ...place, standing: 'late', text: null, duty: 'nothing' }, lead }
  const next = { place: site.adapter.freshPlace('send'), lead: { key: undefined, stored: undefined } }
  if (isGone(stored) || known(await site.records.bury(key, null, 'moved', next.place.id))) return next
  return leave(site, slot, tries - 1) // something has come there since it was read
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
