/** Ends sessions here, whatever the SSO system says of them. Threats S16, S17. */
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import type { Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'

/** What ends here. */
export interface Ending {
  /** Every session here of this session of the SSO system. */
  readonly sidHash: string
  /** One of them, whatever the lists say. */
  readonly key?: string | undefined
  /** Account of all of these, where that is known. */
  readonly accountId?: string | undefined
  /** Account of which all sessions end. */
  readonly aid: string | undefined
}

/** What a logout of this session ends. */
export const endingOf = (key: string | undefined, record: SsoRecord, aid: string | undefined): Ending => ({
  sidHash: record.sidHash,
  key,
  accountId: isLoggedIn(record) ? record.user.accountId : undefined,
  aid,
})

/** Marks first, then ends everything on the lists: whoever establishes a session meanwhile sees the mark, or is on a list. */
export async function endHere(site: Site, { sidHash, key, accountId, aid }: Ending): Promise<'done' | Unavailable> {
  const [ofSid, ofAccount] = await Promise.all([
    site.lists.endSid(sidHash),
    aid === undefined ? 'done' : endAccount(site, aid),
  ])
  const keys = new Set(ofSid === 'unavailable' ? [] : ofSid)
  if (key !== undefined) keys.add(key)
  const ended = await endAll(site, [...keys], accountId)
  return [ofSid, ofAccount, ended].includes('unavailable') ? 'unavailable' : 'done'
}

/** Marks and ends all sessions of an account. */
export async function endAccount(site: Site, aid: string): Promise<'done' | Unavailable> {
  const keys = await site.lists.endAccount(aid)
  return keys === 'unavailable' ? keys : endAll(site, keys, aid)
}

async function endAll(site: Site, keys: string[], aid: string | undefined): Promise<'done' | Unavailable> {
  const ended = await Promise.all(keys.map((key) => site.records.end(key)))
  if (aid !== undefined) await Promise.all(keys.map((key) => site.lists.leaveAccount(aid, key)))
  return ended.includes('unavailable') ? 'unavailable' : 'done'
}
