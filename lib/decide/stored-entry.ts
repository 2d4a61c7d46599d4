/** What stands in a record's place in the store: a record, what is left of a session that has ended, or nothing. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { parseRecord, type SsoRecord } from './record'
import { isYoungerThan } from './timestamps'

/** Why a session ID is dead: its session goes on under another one, or has ended. */
export type Tombstone = 'moved' | 'ended'

/** What was read; `raw` is the text that a compare-and-set compares with. */
export type StoredEntry =
  | { readonly state: 'none'; readonly raw: null }
  | { readonly state: 'live'; readonly raw: string; readonly record: SsoRecord }
  /** A record that this version, or this secret, cannot read. */
  | { readonly state: 'unreadable'; readonly raw: string }
  | {
      readonly state: Tombstone
      readonly raw: string
      readonly since: EpochSeconds
      /** Sealed session ID of the session that followed. */
      readonly successor: string
    }

/** Nothing was stored. */
export const NO_ENTRY: StoredEntry = Object.freeze({ state: 'none', raw: null })

const TOMBSTONE = /^(moved|ended)\.(\d{1,12})(?:\.([\w-]+))?$/

/** Reads what was stored. */
export function readEntry(raw: string | null): StoredEntry {
  if (raw === null) return NO_ENTRY
  const record = parseRecord(raw)
  if (record) return { state: 'live', raw, record }
  const [, word, since, successor = ''] = TOMBSTONE.exec(raw) ?? []
  if (word !== 'moved' && word !== 'ended') return { state: 'unreadable', raw }
  return { state: word, raw, since: Number(since), successor }
}

/** Text of a tombstone. @param successor sealed session ID of the session that followed */
export function tombstone(word: Tombstone, now: EpochSeconds, successor = ''): string {
  return `${word}.${now}${successor === '' ? '' : `.${successor}`}`
}

/** The record that lives there and can be read, if any. */
export function recordIn(stored: StoredEntry): SsoRecord | undefined {
  return stored.state === 'live' ? stored.record : undefined
}

/** Is this what is left of a session? */
export function isGone({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'moved' || state === 'ended'
}

/** May a session live there? What cannot be read may be one. */
export function mayLive({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'live' || state === 'unreadable'
}

/** May another session take its place? One whose record was there must not have come to an end meanwhile. */
export function mayFollow({ state }: Pick<StoredEntry, 'state'>, wasThere: boolean): boolean {
  return state === 'live' || (!wasThere && !isGone({ state }))
}

/** May it go on under another session ID? */
export function mayMove({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'live' || state === 'none'
}

/** A browser may still send, and a request may still carry, the ID of a session that has just ended, for so many seconds. */
const LATE_SECONDS = 60

/** Has this session ended a moment ago? Then whoever comes with it is late, and gets no session in its place. */
export function isLateFor(stored: StoredEntry, now: EpochSeconds): boolean {
  return (stored.state === 'moved' || stored.state === 'ended') && isYoungerThan(stored.since, now, LATE_SECONDS)
}
