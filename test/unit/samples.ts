import { type AnonymousRecord, type LoginRecord, RECORD_VERSION } from '../../lib/decide/record'
import { SessionToken, type SessionTokenFields } from '../../lib/protocol/session-token'

/** The one moment of these tests, in seconds since 1970. */
export const NOW = 1_800_000_000

const common = {
  v: RECORD_VERSION,
  since: NOW - 1000,
  checkedAt: NOW,
  startedAt: (NOW - 1000) * 1000,
  sidHash: 'hash-of-s1',
  sealed: 'sealed',
}

/** An anonymous record that was checked just now. */
export const anonRecord = (changes: Partial<AnonymousRecord> = {}): AnonymousRecord => ({
  ...common,
  status: 'anon',
  ...changes,
})

/** A logged-in record that was checked just now. */
export const loginRecord = (changes: Partial<LoginRecord> = {}): LoginRecord => ({
  ...common,
  status: 'loggedin',
  user: { accountId: 'a1' },
  ...changes,
})

/** A Session Token as the reader makes it. */
export const sessionToken = (fields: Partial<SessionTokenFields>): SessionToken =>
  new SessionToken({ sid: 's1', iat: NOW, ...fields })
