import type { LoggedInRecord } from '../../lib/decide/record'
import {
  decideRequest,
  isVerified,
  type RequestFacts,
  type StatusChecksAtStart,
} from '../../lib/decide/request-decision'
import {
  isEnded,
  isHidden,
  isShown,
  isShownUnchecked,
  isWaitedFor,
  isWithoutStore,
  type Outcome,
  show,
  timeLimits,
  usual,
} from './request-facts'
import { anonRecord, loggedInRecord, NOW } from './samples'

/* A page that wants a fresh status takes no response to a check that was sent before its request began. */

const noChecks = { currentCheckId: undefined, lastCheckId: undefined }
const began = (changes: Partial<StatusChecksAtStart>) => ({ fresh: { ...noChecks, ...changes } })
const wanted: RequestFacts = { ...usual, ...began({}) }
const isAsked: Outcome = (record) => ({ action: 'check_status', record, reason: 'fresh' })

const underWay = { checkBeganAt: NOW, currentCheckId: 'q1' }
const endedBefore = began({ lastCheckId: 'q0' })
const unanswered = (seconds: number) => ({ unansweredAt: NOW - seconds, lastCheckId: 'q0' })
const away = { isSsoAvailable: false }
type Row = [name: string, changes: Partial<LoggedInRecord>, facts: Partial<RequestFacts>, outcome: Outcome]
const rows: Row[] = [
  ['a record that was checked just now is checked', {}, {}, isAsked],
  ['so is one that was never checked by name', {}, began({ currentCheckId: 'q1', lastCheckId: 'q0' }), isAsked],
  ['the response to an earlier check does not count', { lastCheckId: 'q0' }, endedBefore, isAsked],
  ['nor does one under way', { lastCheckId: 'q1' }, began({ currentCheckId: 'q1', lastCheckId: 'q0' }), isAsked],
  ['the response to a later check is shown', { lastCheckId: 'q2' }, began({ currentCheckId: 'q1' }), isShown],
  ['the first response of all is shown', { lastCheckId: 'q1' }, {}, isShown],
  ['a response is shown though SSO2 is away by now', { lastCheckId: 'q2' }, away, isShown],
  ['so it is while the next check is under way', { ...underWay, lastCheckId: 'q2', currentCheckId: 'q3' }, {}, isShown],
  ['a check of another request is waited for', underWay, {}, isWaitedFor],
  ['so is one that was under way before', underWay, began({ currentCheckId: 'q1' }), isWaitedFor],
  ['a request that has waited as long as it may checks itself', underWay, { hasWaited: true }, isAsked],
  ['a check lock that has lapsed is not waited for', { ...underWay, checkBeganAt: NOW - 3 }, {}, isAsked],
  ['a check lock in the future is not waited for', { ...underWay, checkBeganAt: NOW + 30 }, {}, isAsked],
  ['for 4 s after a check without a response it is not checked again', unanswered(3), endedBefore, isShownUnchecked],
  ['then it is', unanswered(4), endedBefore, isAsked],
  ['a later check without a response is shown as one', { lastCheckId: 'q1', unansweredAt: NOW }, {}, isShownUnchecked],
  ['while SSO2 is away the record is shown as not checked', {}, away, isShownUnchecked],
  ['past the grace it is not shown at all', { checkedAt: NOW - 1260 }, away, isHidden],
  ['without a store nothing is shown', { lastCheckId: 'q1' }, { isStoreAvailable: false }, isWithoutStore],
  ['a session at its limit ends before any check', { since: NOW - timeLimits.absoluteSeconds }, {}, isEnded],
  ['one without an access token is shown: the guard asked', { lastCheckId: 'q1', accessRefused: true }, {}, isShown],
]
test.each(rows)('%s', (_name, changes, facts, outcome) => {
  const record = loggedInRecord(changes)
  expect(decideRequest({ ...wanted, ...facts, record }, timeLimits)).toEqual(outcome(record))
})

test('a fresh response that leaves a login pending says so', () => {
  const record = anonRecord({ pending: true, lastCheckId: 'q1' })
  expect(decideRequest({ ...wanted, record }, timeLimits)).toEqual(show(record, 'user_unknown'))
})

test.each(rows)('without a fresh response nothing shown is verified: %s', (_name, changes, facts) => {
  const record = loggedInRecord(changes)
  const decision = decideRequest({ ...wanted, ...facts, record, isSsoAvailable: false }, timeLimits)
  const isFresh =
    record.lastCheckId !== undefined &&
    record.unansweredAt === undefined &&
    facts.fresh?.lastCheckId !== record.lastCheckId &&
    facts.fresh?.currentCheckId !== record.lastCheckId
  if (decision.action === 'show' && !isFresh) expect(isVerified(decision)).toBe(false)
})
