/** Ends sessions on this site, with or without a response of the SSO system. Threats S16, S17, S21. */
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import { type Entry, MAX_SESSIONS, type Surplus } from '../../storage/session-index'
import type { Done, Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'
import { StoredRecord } from '../stored-record'

/** The sessions to end on the site. */
export interface LocalLogout {
  /** Hash of an SSO session: all its sessions on the site end. */
  readonly sidHash: string
  /** Key of a session to end even if missing in the index. */
  readonly key?: string | undefined
  readonly accountId?: string | undefined
  readonly aid?: string | undefined
}

/** Batch size. Between two batches, other requests are served. */
const BATCH = 50
/** An oversized index is processed in at most so many parts of {@link MAX_SESSIONS}. */
const MAX_PARTS = 100

/** Returns the sessions that end with a logout. @param isAll do all sessions of the account end? */
export function localLogoutOf(key: string | undefined, record: SsoRecord, isAll: boolean): LocalLogout {
  const accountId = isLoggedIn(record) ? record.user.accountId : undefined
  return { sidHash: record.sidHash, key, accountId, aid: isAll ? accountId : undefined }
}

/** Writes a revocation first, then ends every session in the index. So a login in progress either finds the revocation or is in the index. */
export async function revokeLocalSessions(
  site: Site,
  { sidHash, key, accountId, aid }: LocalLogout,
): Promise<Done | Unavailable> {
  const { sessionIndex: index, records } = site
  const list = () =>
    Promise.all([index.revokeSsoSession(sidHash, key), aid === undefined ? [] : index.revokeAccount(aid, key)])
  const remove = (keys: readonly string[]) =>
    Promise.all([
      index.removeOfSsoSession(sidHash, keys),
      accountId === undefined ? 'done' : index.removeOfAccount(accountId, keys),
    ])
  const isLeft = key !== undefined && accountId !== undefined && aid === undefined
  const ends = await Promise.all([
    revokeListed(site, list, remove),
    key === undefined ? 'done' : records.end(key),
    isLeft ? index.removeOfAccount(accountId, [key]) : 'done',
  ])
  return ends.slice(0, 2).includes('unavailable') ? 'unavailable' : 'done'
}

/** Revokes all logins of an account in progress, and ends the account's sessions. */
export function revokeAccountSessions(site: Site, aid: string): Promise<Done | Unavailable> {
  const { sessionIndex: index } = site
  return revokeListed(
    site,
    async () => [await index.revokeAccount(aid)],
    (keys) => index.removeOfAccount(aid, keys),
  )
}

/**
 * Ends the sessions of some indexes. A session stays in its indexes until the session has ended, so that a retry finds it. No request waits
 * for the removal, because the entry of an ended session does no harm. An oversized index is processed in parts.
 */
async function revokeListed(
  site: Site,
  list: () => Promise<readonly (readonly string[] | Unavailable)[]>,
  remove: (keys: readonly string[]) => Promise<unknown>,
): Promise<Done | Unavailable> {
  for (let parts = 1; ; parts += 1) {
    const lists = await list()
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
export async function revokeSurplus(site: Site, added: Entry, { count, candidates }: Surplus): Promise<void> {
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
