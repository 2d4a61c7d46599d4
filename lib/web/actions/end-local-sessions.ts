/** Ends sessions on this site, with or without a response of the SSO system. Threats S16, S17, S21. */
import { accountOfAll, type LogoutScope } from '../../decide/logout'
import { isLoggedIn } from '../../decide/record'
import { isGone } from '../../decide/stored-entry'
import { type Entry, MAX_SESSIONS, type Surplus } from '../../storage/session-index'
import type { Done, Unavailable } from '../../storage/site-store'
import type { Site } from '../site'
import { StoredRecord } from '../stored-record'

/** Batch size. Between two batches, other requests are served. */
const BATCH = 50
/** An oversized index is processed in at most so many parts of {@link MAX_SESSIONS}. */
const MAX_PARTS = 100

/**
 * Ends the sessions of an SSO session, and of a logout's scope. Writes a revocation first, then ends every session in the index. So a login
 * in progress either finds the revocation or is in the index.
 */
export async function endLocalSessions(site: Site, sidHash: string, scope: LogoutScope): Promise<Done | Unavailable> {
  const { sessionIndex: index, records } = site
  const { key, accountId, isAll } = scope
  const account = accountOfAll(scope)
  const revoke = () =>
    Promise.all([index.revokeSsoSession(sidHash, key), account === undefined ? [] : index.revokeAccount(account, key)])
  const remove = (keys: readonly string[]) =>
    Promise.all([
      index.removeOfSsoSession(sidHash, keys),
      accountId === undefined ? 'done' : index.removeOfAccount(accountId, keys),
    ])
  const isLeftInIndex = key !== undefined && accountId !== undefined && !isAll
  const [listed, own] = await Promise.all([
    endListedSessions(site, revoke, remove),
    key === undefined ? 'done' : records.end(key),
    isLeftInIndex ? index.removeOfAccount(accountId, [key]) : 'done',
  ])
  return listed === 'done' && own === 'done' ? 'done' : 'unavailable'
}

/**
 * Ends a session without a readable record, so that its cookie is void.
 * @returns `changed` if another request has written a record first
 */
export async function endWithoutRecord(stored: StoredRecord): Promise<Done | Unavailable | 'changed'> {
  if (stored.key === undefined || isGone(stored)) return 'done'
  const { outcome } = await stored.revoke(({ value }) => value === undefined && !isGone(stored), 'ended')
  return outcome
}

/** Revokes all logins of an account in progress, and ends the account's sessions. */
export function endAccountSessions(site: Site, accountId: string): Promise<Done | Unavailable> {
  const { sessionIndex: index } = site
  return endListedSessions(
    site,
    async () => [await index.revokeAccount(accountId)],
    (keys) => index.removeOfAccount(accountId, keys),
  )
}

/**
 * Ends the sessions of the indexes that `revoke` revokes and lists. A session stays in its indexes until the session has ended, so that
 * a retry finds it. No request waits for the removal, because the entry of an ended session does no harm. An oversized index is processed
 * in parts.
 */
async function endListedSessions(
  site: Site,
  revoke: () => Promise<readonly (readonly string[] | Unavailable)[]>,
  remove: (keys: readonly string[]) => Promise<unknown>,
): Promise<Done | Unavailable> {
  for (let parts = 1; ; parts += 1) {
    const lists = await revoke()
    const keys = [...new Set(lists.flatMap((found) => (found === 'unavailable' ? [] : found)))]
    let isOver = !lists.includes('unavailable')
    for (let from = 0; from < keys.length; from += BATCH) {
      const batch = keys.slice(from, from + BATCH)
      const ends = await Promise.all(batch.map((key) => site.records.end(key)))
      const gone = batch.filter((_key, index) => ends[index] === 'done')
      if (gone.length > 0) remove(gone).catch(() => {})
      isOver &&= gone.length === batch.length
    }
    if (!isOver) return 'unavailable'
    if (keys.length < MAX_SESSIONS || parts === MAX_PARTS) return 'done'
  }
}

/** Ends the surplus sessions of an index, the least recently used first. @param added the new session that exceeded the limit */
export async function endSurplus(site: Site, added: Entry, { count, candidates }: Surplus): Promise<void> {
  const found = await Promise.all(candidates.map((key) => readCandidate(site, added, key)))
  const used = found.filter((one) => one !== undefined).sort((a, b) => a.usedAt - b.usedAt)
  await Promise.all(used.slice(0, count).map(({ end }) => end()))
}

async function readCandidate(site: Site, { sidHash, accountId }: Entry, key: string) {
  const stored = new StoredRecord(site, key, 'unavailable')
  if ((await stored.reread()) === 'unavailable') return undefined
  const { value } = stored
  const end = async () => {
    if (value !== undefined && (await stored.revoke((found) => found.value === value, 'ended')).outcome !== 'done')
      return // in use
    const entry = isLoggedIn(value)
      ? { sidHash: value.sidHash, accountId: value.user.accountId }
      : { sidHash, accountId }
    await site.sessionIndex.remove({ key, ...entry })
  }
  return { usedAt: value?.checkedAt ?? 0, end }
}
