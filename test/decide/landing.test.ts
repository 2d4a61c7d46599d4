import { decideLanding, isNewVisitor, type LandingDecision, type LandingFacts } from '../../lib/decide/landing'
import type { SsoRecord } from '../../lib/decide/record'
import { anonRecord, loggedInRecord, NOW, sessionToken } from './samples'

const loggedIn = sessionToken({ sts: 'loggedin', at: 'ticket' })
const anon = sessionToken({ sts: 'anon' })
const failed = sessionToken({ sts: 'anon', err: 'session_not_found' })
const usual: LandingFacts = {
  binding: 'bound',
  token: loggedIn,
  isReplayed: false,
  isSsoSessionRevoked: false,
  isLandingLimitReached: false,
  isStoreAvailable: true,
  logoutCookie: undefined,
  record: undefined,
  successor: undefined,
  sidHash: 'hash-of-s1',
  clockOffset: 0,
}
type Reason<Action> = Extract<LandingDecision, { action: Action }> extends { reason: infer R } ? R : never
const signIn: LandingDecision = { action: 'sign_in', token: loggedIn }
const stayAnonymous: LandingDecision = { action: 'stay_anonymous', token: anon }
const logOut: LandingDecision = { action: 'log_out', token: loggedIn, reason: 'signed_out' }
const logOutAnon: LandingDecision = { ...logOut, token: anon }
const markCookieless: LandingDecision = { action: 'mark_cookieless', reason: 'no_cookies' }
const adopt: LandingDecision = { action: 'adopt', reason: 'session_moved' }
const goOn: LandingDecision = { action: 'go_on', token: anon, reason: 'session_moved' }
const leave = (reason: Reason<'as_it_is'>): LandingDecision => ({ action: 'as_it_is', reason })
const anew = (reason: Reason<'start_anew'>): LandingDecision => ({ action: 'start_anew', reason })
const keepLogin = leave('logged_in_since')
const giveUp = (reason: Reason<'give_up'>): LandingDecision => ({ action: 'give_up', reason })
const at = <R extends SsoRecord>(record: R, checkedAt: number): R => ({ ...record, checkedAt })
/** Records of the token's own SSO session, and of another one. */
const [login, visit] = [loggedInRecord(), anonRecord()]
const [otherLogin, otherVisit] = [loggedInRecord({ sidHash: 'other' }), anonRecord({ sidHash: 'other' })]
const pending = at(anonRecord({ pending: true }), NOW - 1)
const revoked = { isSsoSessionRevoked: true }
const loggedOut: Partial<LandingFacts> = { logoutCookie: { of: 'next_login' } }
/** The cookie of a logout of an SSO session. */
const logoutOf = (sidHash: string): Partial<LandingFacts> => ({ logoutCookie: { of: 'sso_session', sidHash } })
const spent = { isLandingLimitReached: true }

const recent: Partial<LandingFacts> = { logoutCookie: { of: 'recent' } }
const unnamed: Partial<LandingFacts> = {
  sidHash: undefined,
  logoutCookie: { of: 'session', key: 'k', isAll: false, isConfirmed: false, sidHash: undefined },
}

type Row = [name: string, facts: Partial<LandingFacts>, decision: LandingDecision]
const rows: Row[] = [
  ['a bound login signs in', {}, signIn],
  ['a bound login signs in over an anonymous record', { record: visit }, signIn],
  ['a bound anonymous token stays anonymous', { token: anon }, stayAnonymous],
  ['the same token again leaves a login as it is', { isReplayed: true, record: login }, leave('same_token_again')],
  ['it leaves an anonymous record too', { token: anon, isReplayed: true, record: visit }, leave('same_token_again')],
  ['the same token without a record starts anew', { isReplayed: true }, anew('replayed')],
  ['the same token beside another session starts anew', { isReplayed: true, record: otherLogin }, anew('replayed')],
  ['unbound changes nothing, however good the token', { binding: 'unbound' }, anew('unbound')],
  ['unbound is looked at before a refused token', { binding: 'unbound', token: 'signature' }, anew('unbound')],
  ['unbound is looked at before the store', { binding: 'unbound', isStoreAvailable: false }, anew('unbound')],
  ['a browser without any cookie is marked', { binding: 'no_cookies' }, markCookieless],
  ['it is marked, whatever its token', { binding: 'no_cookies', token: 'expired' }, markCookieless],
  ['a token too old starts anew, for the clock', { token: 'expired' }, anew('clock')],
  ['a token too young starts anew, for the clock', { token: 'not_yet_valid' }, anew('clock')],
  ['a wrong signature gives up', { token: 'signature' }, giveUp('secret_or_issuer')],
  ['a wrong issuer gives up', { token: 'issuer' }, giveUp('secret_or_issuer')],
  ['a wrong audience gives up', { token: 'audience' }, giveUp('secret_or_issuer')],
  ['a wrong algorithm gives up', { token: 'algorithm' }, giveUp('secret_or_issuer')],
  ['a malformed token gives up', { token: 'malformed' }, giveUp('secret_or_issuer')],
  ['undocumented claims give up', { token: 'claims' }, giveUp('undocumented')],
  ['a token with an error gives up', { token: failed }, giveUp('undocumented')],
  ['without a store all stays as it is', { isStoreAvailable: false }, leave('store_unavailable')],
  ['a session that this site logged out is logged out there', revoked, logOut],
  ['it is logged out there, whoever is logged in here', { ...revoked, record: login }, logOut],
  ['a session that this site logged out is not taken twice', { ...revoked, isReplayed: true }, anew('replayed')],
  [
    'an anonymous session that this site logged out ends, and no login begins in it',
    { ...revoked, token: anon },
    logOutAnon,
  ],
  ['without a store the site cannot know that', { ...revoked, isStoreAvailable: false }, leave('store_unavailable')],
  ['a login that meets the logout cookie is logged out there', { ...loggedOut }, logOut],
  ['so it is without a store', { ...loggedOut, isStoreAvailable: false }, logOut],
  ['so it is with a token that comes again', { ...loggedOut, isReplayed: true, record: login }, logOut],
  ['the logout cookie leaves an anonymous landing alone', { ...loggedOut, token: anon }, stayAnonymous],
  ['it ends the anonymous session that it names', { ...logoutOf('hash-of-s1'), token: anon }, logOutAnon],
  ['it does without a store', { ...logoutOf('hash-of-s1'), token: anon, isStoreAvailable: false }, logOutAnon],
  ['it leaves another anonymous session alone', { ...logoutOf('other'), token: anon }, stayAnonymous],
  ['it ends a login of another session', logoutOf('other'), logOut],
  ['a cookie and a token without a session have none in common', { ...unnamed, token: anon }, stayAnonymous],
  ['a login that meets the cookie of a recent logout is logged out there', recent, logOut],
  ['the cookie of a recent logout leaves an anonymous landing alone', { ...recent, token: anon }, stayAnonymous],
  ['the logout cookie leaves an unbound landing alone', { ...loggedOut, binding: 'unbound' }, anew('unbound')],
  ['it leaves a browser without other cookies alone', { ...loggedOut, binding: 'no_cookies' }, markCookieless],
  ['the logout cookie leaves a refused token alone', { ...loggedOut, token: 'expired' }, anew('clock')],
  ['a newcomer of a spent network gives up', { ...spent, token: anon }, giveUp('too_many_landings')],
  ['a known visitor of a spent network goes on', { ...spent, token: anon, record: visit }, stayAnonymous],
  ['a login from a spent network signs in', spent, signIn],
  ['an anonymous token, the older one, leaves a login of its session', { token: anon, record: login }, keepLogin],
  ['it does, however long ago that was confirmed', { token: anon, record: at(login, NOW - 1) }, keepLogin],
  ['it leaves a login of its session that is pending', { token: anon, record: pending }, keepLogin],
  ['it leaves one whose outcome is unknown', { token: anon, record: anonRecord({ mustCheck: true }) }, keepLogin],
  [
    'it replaces a pending login of another session',
    { token: anon, record: { ...pending, sidHash: 'o' } },
    stayAnonymous,
  ],
  ['it replaces a login of another session', { token: anon, record: at(otherLogin, NOW - 1) }, stayAnonymous],
  ['it leaves one that the SSO system has confirmed since', { token: anon, record: otherLogin }, keepLogin],
  ['it leaves one that has followed on the session', { token: anon, successor: otherLogin }, keepLogin],
  ['a clock ahead makes none older', { token: anon, clockOffset: 30, record: at(otherLogin, NOW + 29) }, stayAnonymous],
  ['a clock behind makes none newer', { token: anon, clockOffset: -30, record: at(otherLogin, NOW - 30) }, keepLogin],
  ['a session that has moved is taken over by its own token', { successor: login }, adopt],
  ['a moved login is not taken over by an anonymous token', { successor: login, token: anon }, keepLogin],
  ['a moved anonymous session is taken over by an anonymous token', { successor: visit, token: anon }, adopt],
  ['a moved anonymous session goes on with a token of another', { successor: otherVisit, token: anon }, goOn],
  ['it goes on from a spent network too: it begins no session', { ...spent, successor: otherVisit, token: anon }, goOn],
  ['it does not where there is a session', { successor: otherVisit, token: anon, record: visit }, stayAnonymous],
  ['it is taken over if newer: the browser has its cookie', { successor: at(otherVisit, NOW + 1), token: anon }, adopt],
  ['a moved login of another session is not taken over', { successor: otherLogin }, signIn],
  ['a moved session that is still anonymous is not taken over by a login', { successor: visit }, signIn],
  ['a moved session is not taken over after a logout', { successor: login, ...loggedOut }, logOut],
  ['a newer anonymous session stays', { record: at(otherVisit, NOW + 1), token: anon }, leave('newer_session')],
  ['it takes a token of its own, whatever its age', { record: at(visit, NOW + 1), token: anon }, stayAnonymous],
  ['it takes the token of one that began in the same second', { record: otherVisit, token: anon }, stayAnonymous],
  ['by the clock of the SSO system', { record: at(otherVisit, NOW + 5), token: anon, clockOffset: 6 }, stayAnonymous],
]
test.each(rows)('%s', (_name, facts, decision) => {
  expect(decideLanding({ ...usual, ...facts })).toEqual(decision)
})

test('only an anonymous token begins an anonymous session, and only where there is none', () => {
  const begins = [isNewVisitor(anon, undefined), isNewVisitor(anon, visit), isNewVisitor(loggedIn, undefined)]
  expect(begins).toEqual([true, false, false])
})
