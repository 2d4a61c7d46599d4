import type { Asked, Ended, Entry, History, Trouble } from './entries'
import { judge, promises } from './promises'

/* Whether the checker sees: a small good history breaks nothing, and each promise is seen broken. Times are in seconds here. */

const CLOCK = 1_000_000
const step = (at: number, more: Partial<Entry>): Entry => ({
  agent: 1,
  what: 'page',
  begin: at * 1000,
  end: at * 1000 + 100,
  clock: CLOCK + at,
  status: 200,
  at: 'site',
  slowest: 100,
  hops: 1,
  asked: 1,
  ...more,
})
const page = (at: number, user: string | undefined, more: Partial<Entry> = {}) =>
  step(at, { user, view: user === undefined ? 'anon' : 'loggedin', items: [], ...more })
const login = (at: number, more: Partial<Entry> = {}) => step(at, { what: 'login', account: 'ada', ...more })
const logout = (at: number, more: Partial<Entry> = {}) => step(at, { what: 'logout', logout: 'confirmed', ...more })
const put = (at: number, item: string, more: Partial<Entry> = {}) =>
  page(at, 'ada', { what: 'put', item, items: [`${item}@ada`], ...more })
const trouble = (part: Trouble['part'], from: number, to: number): Trouble => ({
  part,
  name: part,
  begin: from * 1000,
  end: to * 1000,
  clockBegin: CLOCK + from,
  clockEnd: CLOCK + to,
})
const during = (part: Trouble['part'], from: number, to: number) => ({ troubles: [trouble(part, from, to)] })
const ended = (at: number, more: Partial<Ended> = {}): Ended => ({
  begin: at * 1000,
  end: at * 1000,
  clock: CLOCK + at,
  ...more,
})
const call = (operation: string, at: number, more: Partial<Asked> = {}): Asked => ({
  operation,
  clock: CLOCK + at,
  seen: at * 1000 + 50,
  sid: 'sid-1',
  username: undefined,
  aid: undefined,
  lks: undefined,
  outcome: 'loggedin',
  isSpoilt: false,
  ...more,
})
const authenticate = (at: number, more: Partial<Asked> = {}) => call('authenticate', at, { username: 'ada', ...more })
const refusedUnasked = { status: 401, error: 'session_ended' }
const status = (at: number) => call('sessionstatus', at, { lks: 'loggedin' })

function history(entries: Entry[], more: Partial<History> = {}): History {
  return {
    bounds: { recheckSeconds: 360, graceSeconds: 900 },
    entries,
    troubles: [],
    ends: [],
    calls: [],
    aftermath: { stillIn: [], broken: [] },
    spills: [],
    mishaps: [],
    ...more,
  }
}

const wellDone = [
  page(0, undefined),
  login(10),
  page(11, 'ada'),
  put(12, '1.1'),
  page(13, 'ada', { items: ['1.1@ada'] }),
]

test('a good history breaks nothing', () => {
  const later = [logout(20), page(21, undefined), login(30), page(31, 'ada')]
  const troubles = [trouble('platform', 14, 15), trouble('store', 16, 17)]
  const calls = [authenticate(10), authenticate(30), status(390)]
  expect(judge(history([...wellDone, ...later], { troubles, calls }))).toEqual([])
})

/** By promise, histories that break it. */
const broken: Record<string, Record<string, History>> = {
  'I3 right person': {
    'somebody who never logged in there': history([login(1, { agent: 2 }), page(5, 'ada')]),
    'somebody whose login was refused': history([login(1, { status: 401 }), page(5, 'ada')]),
  },
  'I3 wrong password': {
    'a wrong password': history([step(1, { what: 'wrong', account: 'ada' })]),
    'one whose answer is lost after that of the right one': history(
      [login(1, { status: 503, error: 'unavailable' }), step(2, { what: 'wrong', account: 'ada' })],
      during('platform', 0, 5),
    ),
    'one whose answer is lost after that of the right one, of which a page knows': history(
      [
        login(1, { status: 503 }),
        page(2, undefined, { degraded: 'user_unknown' }),
        step(3, { what: 'wrong', account: 'bob' }),
      ],
      { troubles: [trouble('platform', 0, 5), trouble('store', 0, 0.9)] },
    ),
  },
  'I4 an end is noticed': {
    'past check and grace': history([login(1), page(1300, 'ada', { degraded: 'sso_unavailable' })], {
      ends: [ended(2)],
      troubles: [trouble('platform', 1299, 1301)],
    }),
    'although time passed before it': history([login(1), page(1300, 'ada', { degraded: 'sso_unavailable' })], {
      ends: [ended(2)],
      troubles: [trouble('time', 1, 1.5), trouble('time', 3, 100), trouble('platform', 1299, 1301)],
    }),
  },
  'I4 fresh is fresh': {
    'a session that has ended': history([login(1), page(5, 'ada', { what: 'fresh' })], { ends: [ended(2)] }),
  },
  'I4 the check is made': {
    'a page after the one that had to ask': history([login(1), page(400, 'ada'), page(402, 'ada')], {
      ends: [ended(2)],
    }),
  },
  'I5 logout is final': {
    'a page after a logout': history([login(1), logout(5), page(8, 'ada')]),
    'a login as somebody else since': history([login(1), logout(5), login(6, { account: 'bob' }), page(8, 'ada')]),
  },
  'I5 an old cookie is dead': {
    'a cookie of before the logout': history([
      login(1),
      logout(5),
      step(8, { what: 'old', user: 'ada', heldAt: 4000 }),
    ]),
  },
  'I5 log out everywhere': {
    'another browser': history(
      [login(1), login(1, { agent: 2 }), logout(5, { agent: 2, what: 'logoutAll', account: 'ada' }), page(8, 'ada')],
      { calls: [call('logoutall', 5, { aid: 'account-ada', outcome: 'terminated' })] },
    ),
  },
  'I6 login kept': {
    'nobody, and nothing has happened': history([login(1), page(5, 'ada'), page(8, undefined)]),
    'nobody after an outage': history([login(1), page(5, 'ada'), page(12, undefined)], during('store', 6, 7)),
  },
  'I6 doubt is said': {
    'a stranger, where the store cannot tell': history([page(5, undefined), page(8, undefined, { view: 'none' })], {
      troubles: [trouble('store', 7, 9)],
    }),
  },
  'I3 right data': {
    "another browser's data": history([put(1, '2.1'), login(0)]),
    "another account's data": history([login(1), login(2, { account: 'bob' }), page(5, 'bob', { items: ['1.1@ada'] })]),
    "somebody's data for nobody": history([login(1), page(5, undefined, { items: ['1.1@ada'] })]),
  },
  'I5 logout drops the data': {
    'data of before the logout': history([...wellDone, logout(20), page(25, undefined, { items: ['1.1@'] })]),
    'data of before a logout that Redis heard of late, long after it': history(
      [...wellDone, logout(20, { logout: 'pending' }), page(26, undefined, { items: ['1.1@'] })],
      during('store', 19, 21),
    ),
  },
  'I6 data kept': { nothing: history([...wellDone, page(15, 'ada')]) },
  'I7 one Authenticate a form': {
    'two for one form': history([login(1), login(1)], { calls: [authenticate(1), authenticate(1)] }),
    'two for one form that let its reader in': history([login(1), login(1, { end: 1300 })], {
      calls: [authenticate(1), authenticate(1, { seen: 1200 })],
    }),
    'two for a form whose answer was lost, among forms that were refused unasked': history(
      [login(1), login(3, refusedUnasked), login(6), login(9, refusedUnasked)],
      {
        calls: [authenticate(1), authenticate(6, { isSpoilt: true }), authenticate(6)],
        troubles: [trouble('platform', 6, 7)],
      },
    ),
  },
  'I7 one Session Status a check': {
    'two in six minutes': history([login(1)], { calls: [authenticate(1), status(400), status(410)] }),
    'two in six minutes, after a machine that was busy for a moment, and long before the first': history([login(1)], {
      calls: [authenticate(1), status(400), status(410)],
      troubles: [trouble('busy', 390, 397), trouble('busy', 399.5, 399.7)],
    }),
    'two in six minutes, long after Redis came back': history([login(1)], {
      calls: [authenticate(1), status(400), status(410)],
      troubles: [trouble('store', 390, 398)],
    }),
  },
  'I1 serves': {
    'a page that failed': history([step(1, { status: 500 })]),
    'a form that failed': history([login(1, { status: 500 })]),
  },
  'I1 answers': { 'a connection that was cut': history([step(1, { status: 0 })], during('store', 0, 5)) },
  'I1 no loop': {
    'more than three trips': history([page(1, undefined, { hops: 16 })]),
    'redirects without an end': history([step(1, { status: -1 })]),
  },
  'I1 spared a dead platform': {
    'nothing was wrong': history([step(1, { status: 0, at: 'platform' })]),
    'away for long': history([step(20, { status: 503, at: 'platform' })], during('platform', 5, 30)),
  },
  'I2 bounded': { 'a page that took long': history([page(1, undefined, { slowest: 9000 })], during('store', 0, 5)) },
  'I5 logouts arrive': { somebody: history([], { aftermath: { stillIn: ['account-ada'], broken: [] } }) },
  'I8 no spill': { 'a password': history([], { spills: ['a password stood in the log'] }) },
  'I9 heals': {
    'an outage of the SSO system long after it, beside no other page': history(
      [login(1), page(19, 'ada'), page(20, 'ada', { degraded: 'sso_unavailable' })],
      during('platform', 5, 6),
    ),
    'an outage long after it': history([page(20, undefined, { degraded: 'store_unavailable' })], during('store', 5, 6)),
    'a login page that has gone through Identify twice, longer ago than the guard pauses': history([
      step(20, { what: 'form', hops: 4 }),
      step(25, { what: 'form', hops: 4 }),
      step(32, { what: 'form', status: 503 }),
    ]),
  },
  'I9 works in the end': { 'a login': history([], { aftermath: { stillIn: [], broken: ['1 cannot log in'] } }) },
  'no process ends or warns': { 'an end': history([], { mishaps: ['a process ended with 1'] }) },
}

const cases = Object.entries(broken).flatMap(([promise, histories]) =>
  Object.entries(histories).map(([what, bad]) => [promise, what, bad] as const),
)

test.each(cases)('%s: %s is seen', (promise, _what, bad) => {
  expect(judge(bad).map((violation) => violation.promise)).toEqual([promise])
})

test('each promise has been seen broken', () => {
  expect([...new Set(cases.map(([promise]) => promise))].sort()).toEqual(Object.keys(promises).sort())
})

const excused: Record<string, History> = {
  'a platform that is away again a moment after an outage that was long': history(
    [step(20, { status: 503, at: 'platform' })],
    { troubles: [trouble('platform', 5, 19.5), trouble('platform', 19.8, 22)] },
  ),
  'a script with the old cookie, while a landing of another tab moves the session': history([
    put(10, '1.1', { user: undefined, items: ['1.1@'] }),
    page(15, undefined, { hops: 4, items: ['1.1@'] }),
    page(15, undefined, { what: 'script', view: 'none' }),
  ]),
  'a login that may yet come to its end': history([login(1, { status: 503 }), page(60, 'ada')], {
    troubles: [trouble('platform', 0, 2)],
  }),
  'a page that begins anew on the way, as time passes': history([page(1, undefined, { hops: 16 })], {
    troubles: [trouble('time', 1, 2)],
  }),
  'a wrong password whose answer is lost, after a process died that had sent the right one': history(
    [login(1, { status: 503, error: 'unavailable' }), step(2, { what: 'wrong', account: 'bob' })],
    { troubles: [trouble('platform', 0, 5), trouble('process', 1, 1.1)] },
  ),
  'a session that ends under a request, and time that passes at once before the request is done': history(
    [
      login(1),
      page(2, 'ada', { end: 2500 }),
      step(2.6, { user: 'ada', view: 'loggedin', items: [], clock: CLOCK + 1303 }),
    ],
    { ends: [ended(2.1)], troubles: [{ ...trouble('time', 2.2, 2.3), clockEnd: CLOCK + 1302 }] },
  ),
  'a form that is sent twice by somebody who is logged in, and the second arrives late': history(
    [login(1), login(5), login(5, { end: 5400 })],
    { calls: [authenticate(1), authenticate(5, { seen: 5090 }), authenticate(5, { seen: 5300 })] },
  ),
  'a check during which time passes, so that another one follows': history([login(1)], {
    calls: [authenticate(1), status(400), status(410)],
    troubles: [trouble('time', 400, 400.05)],
  }),
  'a check that a busy machine cut short, so that another one follows': history([login(1)], {
    calls: [authenticate(1), status(400), status(404)],
    troubles: [trouble('busy', 398, 399.5)],
  }),
  'a check whose result a process cannot store yet, because Redis came back a moment ago': history([login(1)], {
    calls: [authenticate(1), status(400), status(404)],
    troubles: [trouble('store', 398, 399)],
  }),
  'a script beside the first check after an outage': history(
    [
      login(1),
      page(25, 'ada', { end: 25_400 }),
      page(25, 'ada', { what: 'script', begin: 25_100, degraded: 'sso_unavailable' }),
    ],
    during('platform', 5, 7),
  ),
  'data of before a logout that a busy machine kept from Redis': history(
    [...wellDone, logout(20, { logout: 'pending' }), page(22, undefined, { items: ['1.1@'] })],
    during('busy', 19, 21),
  ),
  'a login page that has gone through Identify twice of late': history([
    step(20, { what: 'form', hops: 4 }),
    step(25, { what: 'form', hops: 4 }),
    step(28, { what: 'form', status: 503 }),
  ]),
  'a login whose session was logged out under it': history([
    login(20, { status: 503, error: 'unavailable' }),
    logout(20),
  ]),
  'a form that is sent twice, and the result of the first comes too late for the store of a busy machine': history(
    [login(1), login(1, { end: 1300 })],
    { calls: [authenticate(1), authenticate(1, { seen: 1200 })], troubles: [trouble('busy', 0.9, 1.25)] },
  ),
  'a form that was sent again before its refusal had arrived, and came after it': history(
    [login(1, { status: 401 }), login(1, { status: 401, end: 1300 })],
    { calls: [authenticate(1, { outcome: 'invalid_credentials' }), authenticate(1, { outcome: 'x', seen: 1200 })] },
  ),
  'a form that is sent twice, and whose ticket cannot be used: the second comes after the answer to the first': history(
    [login(1, { status: 503, error: 'unavailable' }), login(1, { status: 503, error: 'unavailable', end: 1300 })],
    { calls: [authenticate(1), authenticate(1, { seen: 1200 })], troubles: [trouble('platform', 0, 5)] },
  ),
  'a form that is sent again after a logout, while the first one waits for the user path': history(
    [login(1, { end: 1600, status: 401 }), logout(1, { begin: 1200, end: 1300 }), login(1.4, { end: 2000 })],
    { calls: [authenticate(1), authenticate(1.4, { sid: 'sid-2' })] },
  ),
  'an Authenticate that a hanging platform reads when it is well again': history(
    [login(1, { status: 503, error: 'unavailable' })],
    { calls: [authenticate(7)], troubles: [trouble('platform', 0, 7)] },
  ),
  'a store that cannot tell, and a page that says so': history(
    [page(5, undefined), page(8, undefined, { view: 'none', degraded: 'store_unavailable' })],
    during('store', 7, 9),
  ),
  'a script with the old cookie, while a check logs in another tab, and a store that cannot tell': history(
    [
      login(1, { status: 503 }),
      page(5, undefined),
      page(8, 'ada', { end: 8500 }),
      page(8, undefined, { what: 'script', view: 'none', end: 8400 }),
    ],
    { troubles: [trouble('platform', 0, 2), trouble('store', 7, 9)] },
  ),
  'a login that a "log out everywhere" of before it ends, which the platform has only now heard of': history(
    [
      login(1, { agent: 2 }),
      logout(2, { agent: 2, what: 'logoutAll', account: 'ada', logout: 'pending' }),
      login(4),
      page(5, 'ada'),
      page(400, undefined),
    ],
    {
      calls: [call('logoutall', 6, { aid: 'account-ada', outcome: 'terminated' })],
      troubles: [trouble('platform', 2, 3)],
    },
  ),
  'a page beside the one that asks, after one that could ask nobody': history(
    [
      login(1),
      page(400, 'ada', { degraded: 'sso_unavailable' }),
      page(402, undefined, { end: 402_200 }),
      page(402, 'ada', { begin: 402_050, end: 402_100 }),
    ],
    { ends: [ended(2)], troubles: [trouble('platform', 399, 401)] },
  ),
  'a login at the same time as a logout': history([login(5), logout(5), page(8, 'ada')]),
  'a session that has ended elsewhere': history([login(1), page(5, 'ada'), page(400, undefined)], { ends: [ended(6)] }),
  'what is put into a session that another browser has just ended with all others': history([
    login(1),
    page(5, 'ada'),
    step(6, { agent: 2, what: 'logoutAll', account: 'ada', logout: 'confirmed' }),
    page(8, undefined, { what: 'put', view: 'none', item: '1.2', items: ['1.2@'] }),
    page(9, undefined, { view: 'none' }),
  ]),
  'a store that lost everything': history([login(1), page(5, 'ada'), page(8, undefined)], during('loss', 6, 7)),
  'a page of a moment after a fault': history([page(8, undefined, { degraded: 'store_unavailable' })], {
    troubles: [trouble('store', 5, 6)],
  }),
  'a connection to a process that was killed': history([step(1, { status: 0 })], during('process', 0, 5)),
  'the first visitors of an outage': history([step(6, { status: 0, at: 'platform' })], during('platform', 5, 9)),
}

test.each(Object.entries(excused))('%s is no violation', (_what, fair) => {
  expect(judge(fair)).toEqual([])
})
