/** The entry of a session in the store: a login record, the marker of a session that has moved or ended, or nothing. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { parseRecord, type SsoRecord } from './record'
import { isYoungerThan } from './timestamps'

/** Reason why a session ID is no longer valid: the session has another ID, or has ended. */
export type Tombstone = 'moved' | 'ended'

/** An entry as read. A compare-and-set compares with `raw`. */
export type StoredEntry =
  | { readonly state: 'none'; readonly raw: null }
  | { readonly state: 'live'; readonly raw: string; readonly record: SsoRecord }
  /** A record that this version or the process's secrets cannot read. */
  | { readonly state: 'unreadable'; readonly raw: string }
  | {
      readonly state: Tombstone
      readonly raw: string
      readonly since: EpochSeconds
      /** Encrypted session ID of the session that follows. */
      readonly successor: string
    }

/** The entry of a session without a record. */
export const NO_ENTRY: StoredEntry = Object.freeze({ state: 'none', raw: null })

const TOMBSTONE = /^(moved|ended)\.(\d{1,12})(?:\.([\w-]+))?$/

/** Reads a stored text. */
export function readEntry(raw: string | null): StoredEntry {
  if (raw === null) return NO_ENTRY
  const record = parseRecord(raw)
  if (record) return { state: 'live', raw, record }
  const [, word, since, successor = ''] = TOMBSTONE.exec(raw) ?? []
  if (word !== 'moved' && word !== 'ended') return { state: 'unreadable', raw }
  return { state: word, raw, since: Number(since), successor }
}

/** Returns the text of a marker. @param successor encrypted session ID of the session that follows */
export function tombstone(word: Tombstone, now: EpochSeconds, successor = ''): string {
  return `${word}.${now}${successor === '' ? '' : `.${successor}`}`
}

/** Returns the record of an entry, if the entry has a readable record. */
export function recordIn(stored: StoredEntry): SsoRecord | undefined {
  return stored.state === 'live' ? stored.record : undefined
}

/** Has the session moved or ended? */
export function isGone({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'moved' || state === 'ended'
}

/** May the entry be a live session? An unreadable entry may be live. */
export function mayBeAlive({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'live' || state === 'unreadable'
}

/** May another session replace the session? If the session had a record, the record must still exist. */
export function mayBeReplaced({ state }: Pick<StoredEntry, 'state'>, hadRecord: boolean): boolean {
  return state === 'live' || (!hadRecord && !isGone({ state }))
}

/** May the session get another session ID? */
export function mayMove({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'live' || state === 'none'
}

/** Seconds in which a browser may still send the ID of an ended session. */
const JUST_ENDED_SECONDS = 60

/** Has the session just ended? Its browser then gets no session in its place. */
export function hasJustEnded(stored: StoredEntry, now: EpochSeconds): boolean {
  return (stored.state === 'moved' || stored.state === 'ended') && isYoungerThan(stored.since, now, JUST_ENDED_SECONDS)
}
