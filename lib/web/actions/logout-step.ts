/** What a logout is to do, by what the browser's session is in the store at that moment. */
import { decideLogout, type LogoutDecision } from '../../decide/logout'
import { isGone } from '../../decide/stored-entry'
import type { RequestContext } from '../request-context'
import { MAX_TRIES, type StoredRecord } from '../stored-record'

/** Where the browser names a session without a record, what the site has put there ends at once; what has come of it meanwhile is looked at anew. */
export async function nextLogoutStep(context: RequestContext, isAll: boolean): Promise<LogoutDecision> {
  const { stored, browser } = context
  for (let tries = 1; ; tries += 1) {
    await stored.follow()
    const step = decideLogout({
      isAvailable: stored.isAvailable,
      record: stored.value,
      key: stored.key,
      state: stored.state,
      hasUnreadableCookie: context.hasUnreadableCookie,
      hasLogoutCookie: browser.logoutCookie !== undefined,
      isAll,
    })
    if (step.action === 'end' || tries === MAX_TRIES || (await endWithoutRecord(stored)) === 'ended') return step
  }
}

/** Ends what has no record, or one that nobody can read: it opens nothing any more. `changed`: something has come of it first. */
async function endWithoutRecord(stored: StoredRecord): Promise<'ended' | 'changed'> {
  if (stored.key === undefined || !stored.isAvailable || isGone(stored)) return 'ended'
  const { outcome } = await stored.revoke(({ value }) => value === undefined && !isGone(stored), 'ended')
  return outcome === 'changed' ? 'changed' : 'ended'
}
