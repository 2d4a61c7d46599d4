/** `req.session.regenerate()`: gives the request an empty session under a new ID. A logged-in user stays logged in. */
import { hasMovedOrEnded, mayBeAlive } from '../../decide/record'
import { sessionKey, storeUnavailable, type Unavailable } from '../../storage/site-store'
import { StoredRecord, type StoredRecordParts } from '../stored-record'
import type { Adapter } from './adapter'
import type { CookieTarget, CurrentSession, RequestSession } from './request-session'
import { newSessionId } from './store'

interface Next {
  readonly current: CurrentSession
  readonly target: CookieTarget
}

/** Parts of the site that a regeneration needs. */
export interface RegenerationParts extends StoredRecordParts {
  readonly adapter: Adapter
  /** Moves the login record of a session to a new ID. @returns false if there is no login record any more */
  moveRecord(slot: RequestSession, newId: string): Promise<boolean>
}

/** Gives the request its new session. If that fails, the request gets an empty session that is not saved, and the error is thrown. */
export async function replaceSession(site: RegenerationParts, slot: RequestSession): Promise<void> {
  const { current, target } = slot
  const go = (next: Next) => {
    slot.moveTo(next.current, next.target)
    site.adapter.attachSessionObject(slot)
    site.adapter.sendCookieBeforeHeaders(slot)
  }
  try {
    go(await nextOf(site, slot))
  } catch (error) {
    go({ current: { ...current, phase: 'unavailable', text: null, cookieAction: 'nothing' }, target })
    throw error
  }
}

async function nextOf(site: RegenerationParts, slot: RequestSession): Promise<Next> {
  const { current, target } = slot
  if (current.phase === 'unavailable') throw storeUnavailable()
  if (current.phase === 'just_ended' || current.phase === 'not_kept')
    return { current: { ...current, text: null }, target }
  if (current.phase === 'new' && !slot.hasData) {
    // no session has to end, but the new session could not be saved while Redis does not respond
    known(site.records.isAvailable ? await site.records.read(sessionKey(newSessionId())) : 'unavailable')
    return { current: site.adapter.freshSession('send_if_filled'), target }
  }
  return leave(site, slot)
}

/** Moves the login record, or deletes data without a record. If another request has just ended the session, no new session begins. */
async function leave(site: RegenerationParts, slot: RequestSession): Promise<Next> {
  const { current, target } = slot
  const stored = new StoredRecord(site, sessionKey(current.id), 'unavailable')
  known(await stored.reread())
  const next = { current: site.adapter.freshSession('send'), target: { key: undefined, stored: undefined } }
  const { outcome } = await stored.writeMarker(({ isUnwritten }) => isUnwritten, 'moved', next.current.id)
  known(outcome)
  if (outcome === 'done') return next
  if (mayBeAlive(stored)) return moved(site, slot)
  if (stored.hasJustEnded)
    return { current: { ...current, phase: 'just_ended', text: null, cookieAction: 'nothing' }, target }
  if (hasMovedOrEnded(stored)) return next
  throw storeUnavailable()
}

async function moved(site: RegenerationParts, slot: RequestSession): Promise<Next> {
  const id = newSessionId()
  if (!(await site.moveRecord(slot, id)))
    return { current: site.adapter.freshSession('send', id), target: { key: undefined, stored: undefined } }
  const current: CurrentSession = { ...slot.current, phase: 'live', id, text: null, cookieAction: 'send' }
  return { current, target: { key: sessionKey(id), stored: undefined } }
}

function known<T>(answer: T | Unavailable): T {
  if (answer === 'unavailable') throw storeUnavailable()
  return answer
}
