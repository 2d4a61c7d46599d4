import { decideLanding, isNewVisitor, type LandingDecision, type LandingFacts } from '../../lib/decide/landing'
import { anonRecord, loggedInRecord, NOW, sessionToken } from './samples'

const loggedIn = sessionToken({ sts: 'loggedin', at: 'ticket' })
const anon = sessionToken({ sts: 'anon' })
const usual: LandingFacts = {
  binding: 'bound',
  token: loggedIn,
  isReplayed: false,
  isSidEnded: false,
  isShareSpent: false,
  isStoreAvailable: true,
  hasLogoutCookie: false,
  record: undefined,
  successor: undefined,
  sidHash: 'hash-of-s1',
  clockOffset: 0,
}
const again: LandingDecision = { action: 'as_it_is', reason: 'same_token_again' }
const anew = (reason: 'unbound' | 'replayed' | 'clock'): LandingDecision => ({
  action: 'start_anew',
  reason,
})
const logOut = (token: typeof loggedIn): LandingDecision => ({ action: 'log_out', token, reason: 'signed_out' })
const giveUp = (reason: 'clock' | 'secret_or_issuer' | 'undocumented' | 'too_many_landings'): LandingDecision => ({
  action: 'give_up',
  reason,
})

const rows: [name: string, facts: Partial<LandingFacts>, decision: LandingDecision][] = [
  ['bound and logged in signs in', {}, { action: 'sign_in', token: loggedIn }],
  [
    'bound and logged in signs in over an anonymous record',
    { record: anonRecord() },
    { action: 'sign_in', token: loggedIn },
  ],
  ['bound and anonymous stays anonymous', { token: anon }, { action: 'stay_anonymous', token: anon }],
  ['the same token again leaves a login as it is', { isReplayed: true, record: loggedInRecord() }, again],
  [
    'the same token again leaves an anonymous record as it is',
    { token: anon, isReplayed: true, record: anonRecord() },
    again,
  ],
  ['the same token without a record starts anew', { isReplayed: true }, anew('replayed')],
  [
    'the same token beside another session\u2019s record starts anew',
    { isReplayed: true, record: loggedInRecord({ sidHash: 'other' }) },
    anew('replayed'),
  ],
  ['unbound changes nothing, however good the token', { binding: 'unbound' }, anew('unbound')],
  ['unbound is looked at before a refused token', { binding: 'unbound', token: 'signature' }, anew('unbound')],
  ['unbound is looked at before the store', { binding: 'unbound', isStoreAvailable: false }, anew('unbound')],
  [
    'without any cookie the browser is marked',
    { binding: 'no_cookies' },
    { action: 'mark_cookieless', reason: 'no_cookies' },
  ],
  [
    'without any cookie even a refused token marks',
    { binding: 'no_cookies', token: 'expired' },
    { action: 'mark_cookieless', reason: 'no_cookies' },
  ],
  ['a token too old starts anew, for the clock', { token: 'expired' }, anew('clock')],
  ['a token too young starts anew, for the clock', { token: 'not_yet_valid' }, anew('clock')],
  ['a wrong signature gives up', { token: 'signature' }, giveUp('secret_or_issuer')],
  ['a wrong issuer gives up', { token: 'issuer' }, giveUp('secret_or_issuer')],
  ['a wrong audience gives up', { token: 'audience' }, giveUp('secret_or_issuer')],
  ['a wrong algorithm gives up', { token: 'algorithm' }, giveUp('secret_or_issuer')],
  ['a malformed token gives up', { token: 'malformed' }, giveUp('secret_or_issuer')],
  ['undocumented claims give up', { token: 'claims' }, giveUp('undocumented')],
  [
    'a token with an error gives up',
    { token: sessionToken({ sts: 'anon', err: 'session_not_found' }) },
    giveUp('undocumented'),
  ],
  [
    'without a store all stays as it is',
    { isStoreAvailable: false },
    { action: 'as_it_is', reason: 'store_unavailable' },
  ],
  ['a session that this site logged out is logged out there', { isSidEnded: true }, logOut(loggedIn)],
  [
    'a session that this site logged out is logged out there, whoever is logged in here',
    { isSidEnded: true, record: loggedInRecord() },
    logOut(loggedIn),
  ],
  ['a login that meets the mark of a logout is logged out there', { hasLogoutCookie: true }, logOut(loggedIn)],
  [
    'a login that meets the mark is logged out there without a store too',
    { hasLogoutCookie: true, isStoreAvailable: false },
    logOut(loggedIn),
  ],
  [
    'a token that comes again with the mark is logged out there as well',
    { hasLogoutCookie: true, isReplayed: true, record: loggedInRecord() },
    logOut(loggedIn),
  ],
  [
    'the mark does not matter to an anonymous landing',
    { hasLogoutCookie: true, token: anon },
    { action: 'stay_anonymous', token: anon },
  ],
  ['the mark does not matter to an unbound landing', { hasLogoutCookie: true, binding: 'unbound' }, anew('unbound')],
  [
    'the mark does not matter to a browser without any cookie',
    { hasLogoutCookie: true, binding: 'no_cookies' },
    { action: 'mark_cookieless', reason: 'no_cookies' },
  ],
  ['the mark does not matter to a refused token', { hasLogoutCookie: true, token: 'expired' }, anew('clock')],
  ['a session that was logged out is not taken twice', { isSidEnded: true, isReplayed: true }, anew('replayed')],
  [
    'without a store nobody knows which sessions were logged out',
    { isSidEnded: true, isStoreAvailable: false },
    { action: 'as_it_is', reason: 'store_unavailable' },
  ],
  [
    'a session that was logged out may be anonymous',
    { isSidEnded: true, token: anon },
    { action: 'stay_anonymous', token: anon },
  ],
  ['a newcomer of a spent network gives up', { isShareSpent: true, token: anon }, giveUp('too_many_landings')],
  [
    'a known visitor of a spent network goes on',
    { isShareSpent: true, token: anon, record: anonRecord() },
    { action: 'stay_anonymous', token: anon },
  ],
  ['a login from a spent network signs in', { isShareSpent: true }, { action: 'sign_in', token: loggedIn }],
  [
    'an anonymous token leaves a login of its own session as it is: it is the older one',
    { token: anon, record: loggedInRecord() },
    { action: 'as_it_is', reason: 'logged_in_since' },
  ],
  [
    'however long ago the SSO system has confirmed that',
    { token: anon, record: loggedInRecord({ checkedAt: NOW - 1 }) },
    { action: 'as_it_is', reason: 'logged_in_since' },
  ],
  [
    'an anonymous token of another session takes the place of a login',
    { token: anon, record: loggedInRecord({ sidHash: 'other', checkedAt: NOW - 1 }) },
    { action: 'stay_anonymous', token: anon },
  ],
  [
    'but not of one that the SSO system has confirmed since',
    { token: anon, record: loggedInRecord({ sidHash: 'other' }) },
    { action: 'as_it_is', reason: 'logged_in_since' },
  ],
  [
    'nor of one that has followed on the browser\u2019s session',
    { token: anon, successor: loggedInRecord({ sidHash: 'other' }) },
    { action: 'as_it_is', reason: 'logged_in_since' },
  ],
  [
    'our clock ahead of the SSO system\u2019s makes no token older',
    { token: anon, clockOffset: 30, record: loggedInRecord({ sidHash: 'other', checkedAt: NOW + 29 }) },
    { action: 'stay_anonymous', token: anon },
  ],
  [
    'nor one behind it newer',
    { token: anon, clockOffset: -30, record: loggedInRecord({ sidHash: 'other', checkedAt: NOW - 30 }) },
    { action: 'as_it_is', reason: 'logged_in_since' },
  ],
  [
    'a session that has moved is taken over where the token is about it',
    { successor: loggedInRecord() },
    { action: 'adopt', reason: 'session_moved' },
  ],
  [
    'a login is not taken over by an anonymous token, which is the older one',
    { successor: loggedInRecord(), token: anon },
    { action: 'as_it_is', reason: 'logged_in_since' },
  ],
  [
    'an anonymous session is taken over by an anonymous token',
    { successor: anonRecord(), token: anon },
    { action: 'adopt', reason: 'session_moved' },
  ],
  [
    'an anonymous session goes on where the token is about another one',
    { successor: anonRecord({ sidHash: 'other' }), token: anon },
    { action: 'go_on', token: anon, reason: 'session_moved' },
  ],
  [
    'also where the network of the visitor has begun its share of sessions, for this is none',
    { successor: anonRecord({ sidHash: 'other' }), token: anon, isShareSpent: true },
    { action: 'go_on', token: anon, reason: 'session_moved' },
  ],
  [
    'but not a login, nor where there is a session',
    { successor: anonRecord({ sidHash: 'other' }), token: anon, record: anonRecord() },
    { action: 'stay_anonymous', token: anon },
  ],
  [
    'nor where the other one is newer: the browser has its cookie at the SSO system',
    { successor: anonRecord({ sidHash: 'other', checkedAt: NOW + 1 }), token: anon },
    { action: 'adopt', reason: 'session_moved' },
  ],
  [
    'an anonymous session stays where the token is about an older one',
    { record: anonRecord({ sidHash: 'other', checkedAt: NOW + 1 }), token: anon },
    { action: 'as_it_is', reason: 'newer_session' },
  ],
  [
    'and takes the token of the same session, whatever its age',
    { record: anonRecord({ checkedAt: NOW + 1 }), token: anon },
    { action: 'stay_anonymous', token: anon },
  ],
  [
    'and the token of one that was made in the same second',
    { record: anonRecord({ sidHash: 'other' }), token: anon },
    { action: 'stay_anonymous', token: anon },
  ],
  [
    'by the clock of the SSO system',
    { record: anonRecord({ sidHash: 'other', checkedAt: NOW + 5 }), token: anon, clockOffset: 6 },
    { action: 'stay_anonymous', token: anon },
  ],
  [
    'and not where it is about another one',
    { successor: loggedInRecord({ sidHash: 'other' }) },
    { action: 'sign_in', token: loggedIn },
  ],
  ['nor where it is still anonymous', { successor: anonRecord() }, { action: 'sign_in', token: loggedIn }],
  [
    'nor after a logout',
    { successor: loggedInRecord(), hasLogoutCookie: true },
    { action: 'log_out', token: loggedIn, reason: 'signed_out' },
  ],
]
test.each(rows)('%s', (_name, facts, decision) => {
  expect(decideLanding({ ...usual, ...facts })).toEqual(decision)
})

test('only an anonymous token begins an anonymous session, and only where there is none', () => {
  expect([isNewVisitor(anon, undefined), isNewVisitor(anon, anonRecord()), isNewVisitor(loggedIn, undefined)]).toEqual([
    true,
    false,
    false,
  ])
})
