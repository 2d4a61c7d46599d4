/** What a logout is to do, by what the browser's session is in the store at that moment. */
import { decideLogout, type LogoutDecision } from '../../decide/logout'
import { isGone } from '../../decide/stored'
import { MAX_TRIES, type StoredRecord } from '../stored-record'
import type { Visit } from '../visit'

/** Where the browser names a session without a record, what the site has put there ends at once; what has come of it meanwhile is looked at anew. */
export async function nextStep(visit: Visit, isAll: boolean): Promise<LogoutDecision> {
  const { stored, browser } = visit
  for (let tries = 1; ; tries += 1) {
    await stored.follow()
    const step = decideLogout({
      isAvailable: stored.isAvailable,
      record: stored.value,
      key: stored.key,
      state: stored.state,
      hasUnreadableCookie: visit.hasUnreadableCookie,
      isSignedOut: browser.signedOut !== undefined,
      isAll,
    })
    if (step.do === 'end' || tries === MAX_TRIES || (await endWithoutRecord(stored)) === 'ended') return step
  }
}

/** Ends what has no record, or one that nobody can read: it opens nothing any more. `changed`: something has come of it first. */
async function endWithoutRecord(stored: StoredRecord): Promise<'ended' | 'changed'> {
  if (stored.key === undefined || !stored.isAvailable || isGone(stored)) return 'ended'
  const { did } = await stored.revoke(({ value }) => value === undefined && !isGone(stored), 'ended')
  return did === 'changed' ? 'changed' : 'ended'
}
