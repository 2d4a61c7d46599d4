import type { LoggedInRecord } from '../../lib/decide/record'
import {
  type ChecksAtStart,
  type DegradedReason,
  decideRequest,
  isVerified,
  type RequestDecision,
  type RequestFacts,
} from '../../lib/decide/request-decision'
import { anonRecord, loggedInRecord, NOW } from './samples'

/* A page that wants fresh news is answered by nothing that was asked before its request began. */

const policy = { recheckSeconds: 360, graceSeconds: 900, absoluteSeconds: 7_776_000, lockSeconds: 3 }
const usual: RequestFacts = {
  now: NOW,
  record: undefined,
  isStoreAvailable: true,
  isSsoAvailable: true,
  isIdentifyBroken: false,
  mayIdentify: true,
  blocked: undefined,
  logoutCookie: 'no',
  isLoginPage: false,
  fresh: { asking: undefined, asked: undefined },
  hasWaited: false,
}
const login = (changes: Partial<LoggedInRecord> = {}) => loggedInRecord(changes)
const began = (changes: Partial<ChecksAtStart> = {}): ChecksAtStart => ({
  asking: undefined,
  asked: undefined,
  ...changes,
})
const show = (record: RequestFacts['record'], degraded?: DegradedReason): RequestDecision => ({
  action: 'show',
  record,
  degraded,
})
const ask = (record: LoggedInRecord): RequestDecision => ({ action: 'ask_status', record, reason: 'fresh' })

const underWay = login({ askingAt: NOW, asking: 'q1' })
const rows: [name: string, record: LoggedInRecord, facts: Partial<RequestFacts>, decision: RequestDecision][] = [
  ['a record that was checked just now is asked about', login(), {}, ask(login())],
  [
    'what was asked and answered before is no answer',
    login({ asked: 'q0' }),
    { fresh: began({ asked: 'q0' }) },
    ask(login({ asked: 'q0' })),
  ],
  [
    'the answer to a question that was under way is no answer',
    login({ asked: 'q1' }),
    { fresh: began({ asking: 'q1', asked: 'q0' }) },
    ask(login({ asked: 'q1' })),
  ],
  [
    'an answer to a later question is shown',
    login({ asked: 'q2' }),
    { fresh: began({ asking: 'q1' }) },
    show(login({ asked: 'q2' })),
  ],
  ['the first answer of all is shown', login({ asked: 'q1' }), {}, show(login({ asked: 'q1' }))],
  [
    'an answer to a later question is shown though SSO2 is away by now',
    login({ asked: 'q2' }),
    { isSsoAvailable: false },
    show(login({ asked: 'q2' })),
  ],
  [
    'an answer to a later question is shown though the next one is under way',
    login({ asked: 'q2', askingAt: NOW, asking: 'q3' }),
    {},
    show(login({ asked: 'q2', askingAt: NOW, asking: 'q3' })),
  ],
  ['a question of somebody else is waited for', underWay, {}, { action: 'wait_for_answer' }],
  [
    'so is one that was under way before: the claim is taken after it',
    underWay,
    { fresh: began({ asking: 'q1' }) },
    { action: 'wait_for_answer' },
  ],
  ['whoever has waited as long as he may asks himself', underWay, { hasWaited: true }, ask(underWay)],
  [
    'a claim that has lapsed is not waited for',
    login({ askingAt: NOW - 3, asking: 'q1' }),
    {},
    ask(login({ askingAt: NOW - 3, asking: 'q1' })),
  ],
  [
    'a claim in the future is not waited for',
    login({ askingAt: NOW + 61, asking: 'q1' }),
    {},
    ask(login({ askingAt: NOW + 61, asking: 'q1' })),
  ],
  [
    'for 4 s after a check without a response it is not checked again',
    login({ unansweredAt: NOW - 3, asked: 'q0' }),
    { fresh: began({ asked: 'q0' }) },
    show(login({ unansweredAt: NOW - 3, asked: 'q0' }), 'sso_unavailable'),
  ],
  [
    'then it is',
    login({ unansweredAt: NOW - 4, asked: 'q0' }),
    { fresh: began({ asked: 'q0' }) },
    ask(login({ unansweredAt: NOW - 4, asked: 'q0' })),
  ],
  [
    'a later question without an answer shows the record as one that could not be checked',
    login({ asked: 'q1', unansweredAt: NOW }),
    {},
    show(login({ asked: 'q1', unansweredAt: NOW }), 'sso_unavailable'),
  ],
  [
    'while SSO2 is away the record is shown as one that could not be checked',
    login(),
    { isSsoAvailable: false },
    show(login(), 'sso_unavailable'),
  ],
  [
    'past the grace it is not shown at all',
    login({ checkedAt: NOW - 1260 }),
    { isSsoAvailable: false },
    show(undefined, 'sso_unavailable'),
  ],
  [
    'without a store nothing is shown',
    login({ asked: 'q1' }),
    { isStoreAvailable: false },
    show(undefined, 'store_unavailable'),
  ],
  [
    'a session at its limit ends before anything is asked',
    login({ since: NOW - policy.absoluteSeconds }),
    {},
    { action: 'end_session', reason: 'absolute_limit' },
  ],
  [
    'a fresh answer without an access token is shown: it is the guard that wanted one',
    login({ asked: 'q1', accessRefused: true }),
    {},
    show(login({ asked: 'q1', accessRefused: true })),
  ],
]
test.each(rows)('%s', (_name, record, facts, decision) => {
  expect(decideRequest({ ...usual, ...facts, record }, policy)).toEqual(decision)
})

test('a fresh answer that leaves a login pending says so', () => {
  const record = anonRecord({ pending: true, asked: 'q1' })
  expect(decideRequest({ ...usual, record }, policy)).toEqual(show(record, 'user_unknown'))
})

test('what is shown without a fresh answer is never known for sure', () => {
  for (const [, record, facts] of rows) {
    const decision = decideRequest({ ...usual, ...facts, record, isSsoAvailable: false }, policy)
    const isFresh =
      record.asked !== undefined &&
      record.unansweredAt === undefined &&
      facts.fresh?.asked !== record.asked &&
      facts.fresh?.asking !== record.asked
    if (decision.action === 'show' && !isFresh) expect(isVerified(decision)).toBe(false)
  }
})
