import { type DegradedReason, isVerified, show, userOf } from '../../lib/decide/identity'
import { anonRecord, loginRecord } from './samples'

test.each<
  [what: string, identity: ReturnType<typeof show>, user: string | undefined, degraded: DegradedReason | undefined]
>([
  ['nobody', show(undefined), undefined, undefined],
  ['nobody, in an outage', show(undefined, 'store_unavailable'), undefined, 'store_unavailable'],
  ['an anonymous visitor', show(anonRecord()), undefined, undefined],
  ['a user', show(loginRecord()), 'a1', undefined],
  ['a user within the grace period', show(loginRecord(), 'sso_unavailable'), 'a1', 'sso_unavailable'],
  ['a login whose user is not known', show(anonRecord({ pending: true })), undefined, 'user_unknown'],
  ['the same in an outage', show(anonRecord({ pending: true }), 'sso_unavailable'), undefined, 'sso_unavailable'],
])('%s', (_what, identity, user, degraded) => {
  expect([userOf(identity)?.accountId, identity.degraded]).toEqual([user, degraded])
})

test.each<[reason: DegradedReason | undefined, isVerified: boolean]>([
  [undefined, true],
  ['user_unknown', true],
  ['logout_pending', true],
  ['sso_unavailable', false],
  ['store_unavailable', false],
  ['identify_loop', false],
  ['cookies_blocked', false],
  ['token_refused', false],
])('a status with the reason %s is verified: %s', (reason, expected) => {
  expect(isVerified(show(undefined, reason))).toBe(expected)
})
