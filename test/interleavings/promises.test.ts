import type { History } from './execution'
import {
  after,
  authenticate,
  call,
  check,
  fresh,
  history,
  identify,
  login,
  logout,
  logoutAll,
  page,
  seen,
  status,
} from './hand-made'
import { judge, promises } from './promises'

/* Whether the judge sees: each promise is seen broken, and what is fair breaks none. */

/** By promise, histories that break it. */
const broken: Record<string, Record<string, History>> = {
  'I1 serves': {
    'a page that failed': history('basket:page', [seen(11, { status: 500 })]),
    'a page that failed with a fault': history('basket:page', [seen(11, { status: 503 })], { hasFault: true }),
  },
  'I1 no loop': {
    'four trips in a row': history('basket:page', [identify(11), identify(12), identify(13), identify(14)]),
  },
  'I3 right person': {
    'somebody else': history('basket:login', [login(11), page(14, 'grace')], { user: 'ada' }),
    'somebody who logs in later': history('basket:login|page', [page(11, 'ada'), login(14)], { user: 'ada' }),
    'somebody who logged in with another browser': history(
      'basket:login|b2.page',
      [login(11), page(14, 'ada', { browser: 'b2' })],
      { user: 'ada' },
    ),
  },
  'I4 fresh is fresh': {
    'nobody was asked': history('loggedIn:fresh', [login(1), fresh(11)], { user: 'ada' }),
    'the platform was asked before': history('loggedIn:fresh', [login(1), fresh(11)], {
      user: 'ada',
      calls: [status(10.5, { answered: 11.5 })],
    }),
    'the platform said no': history('loggedIn:fresh', [login(1), fresh(11)], {
      user: 'ada',
      calls: [status(11.2, { sts: 'terminated' })],
    }),
  },
  'I4 check() asks': {
    'nobody was asked': history('loggedIn:check', [login(1), check(11, 'ada')], { user: 'ada' }),
    'an answer in grace that does not say so': history('loggedIn:check', [login(1), check(11, 'ada')], {
      user: 'ada',
      hasFault: true,
    }),
  },
  'I4 an end is noticed': {
    'somebody past the check': history('loggedIn:terminate', [login(1)], {
      aftermath: [after('ada', ['book'], { later: page(30, 'ada') })],
      isAnybodyIn: false,
    }),
  },
  'I5 logout is final': {
    'a page after it': history('loggedIn:logout|page', [login(1), logout(11), page(14, 'ada')], { basket: [] }),
    'a login that was under way': history(
      'loggedIn:logout|login',
      [login(11, { arrived: 14, isLogin: false }), logout(12), page(15, 'ada')],
      { basket: [], calls: [authenticate(11.5)] },
    ),
    'a login in the session that the logout ends': history(
      'loggedIn:logout|login',
      [login(11.5, { actor: 1 }), logout(11, { arrived: 14 }), page(15, 'ada')],
      { basket: [], calls: [authenticate(11.8, { actor: 1 }), call('logout', 12.6)] },
    ),
    'a login that was sent before the logout, in another session': history(
      'basketApart:logout|login',
      [login(11, { actor: 1 }), logout(11.5, { arrived: 14 }), page(15, 'ada')],
      { basket: [], calls: [authenticate(11.8, { actor: 1, sid: 'sid-2' }), call('logout', 12.6)] },
    ),
    'another browser after a logout of all': history(
      'two:logoutAll|b2.page',
      [login(1), login(3, { browser: 'b2' }), logoutAll(11), page(14, 'ada', { browser: 'b2' })],
      { basket: [] },
    ),
    'the browser itself, with a fault': history('loggedIn:logout|page', [login(1), logout(11), page(14, 'ada')], {
      basket: [],
      hasFault: true,
    }),
  },
  'I5 logout is final for check()': {
    'a yes after it': history('loggedIn:logout|check', [login(1), logout(11), check(14, undefined)], {
      basket: [],
      calls: [status(14.5)],
    }),
  },
  'I5 logout drops the data': { 'the basket of before': history('loggedIn:logout', [login(1), logout(11)]) },
  'I6 login kept': {
    'a login of before': history('loggedIn:page', [login(1), page(11, 'ada')]),
    'a login of now': history('basket:login|page', [login(11)]),
    'one that Identify knows': history('known:landing1', []),
    'a tab with another session of the SSO system that went to its landing before': history(
      'basketApart:landing1|landing2|login',
      [seen(10.5, { path: '/sso2/landing', actor: 1, arrived: 16 }), login(11, { arrived: 15 })],
    ),
  },
  'I6 data kept': {
    'a basket of before': history('basket:page', [page(11, undefined)], { basket: [] }),
    "another tab's item": history('basket:save|page', [], { landed: ['item0'] }),
  },
  'I7 one Authenticate a form': {
    'two for one': history('basket:login', [login(11)], {
      user: 'ada',
      calls: [authenticate(11.2), authenticate(11.5)],
    }),
    'two for one that is sent twice at once': history('basket:login|login', [login(11), login(11.5, { actor: 1 })], {
      user: 'ada',
      calls: [authenticate(11.2), authenticate(11.8, { actor: 1 })],
    }),
  },
  'I7 one Session Status a check': {
    'two for pages at once': history('stale:page|page', [login(1), page(11, 'ada'), page(11, 'ada', { actor: 1 })], {
      user: 'ada',
      calls: [status(11.2), status(11.3, { actor: 1 })],
    }),
  },
  'I8 no user is locked out': {
    'a fourth wrong password': history('limits/basket:loginWrong|b2.loginWrong', [page(11, undefined)], {
      calls: [1, 2, 3, 4].map((at) => authenticate(at, { sts: 'anon', err: 'invalid_credentials' })),
    }),
  },
}

const cases = Object.entries(broken).flatMap(([promise, histories]) =>
  Object.entries(histories).map(([what, bad]) => [promise, what, bad] as const),
)

test.each(cases)('%s: %s is seen', (promise, _what, bad) => {
  expect(judge(bad).map((found) => found.promise)).toEqual([promise])
})

test('each promise has been seen broken', () => {
  expect([...new Set(cases.map(([promise]) => promise))].sort()).toEqual(Object.keys(promises).sort())
})

const excused: Record<string, History> = {
  'a login, pages and a basket': history('basket:login+page|save', [login(11), page(14, 'ada')], {
    user: 'ada',
    basket: ['book', 'item1'],
    calls: [authenticate(11.5)],
    landed: ['item1'],
  }),
  'a page that was under way when the logout came': history(
    'loggedIn:page|logout',
    [login(1), logout(12), page(12.5, 'ada')],
    { basket: [] },
  ),
  'a logout without a session': history('known:landing1|logout', [login(1), logout(11, { session: undefined })], {
    user: 'ada',
  }),
  'a logout of a session that has run out': history(
    'loggedIn:logout|expiry',
    [login(1), logout(11, { logout: 'no_session' })],
    { user: 'ada' },
  ),
  'two sessions that are checked at once': history('twoStale:page|b2.page', [login(1)], {
    user: 'ada',
    calls: [status(11), status(12, { sid: 'sid-2' })],
  }),
  "data in a site's own session that a page had read before the logout": history('own/basket:page|logout', [
    logout(11, { arrived: 13 }),
    page(12, undefined, { actor: 1, arrived: 15 }),
  ]),
  'a login whose answer comes after that to the logout': history(
    'loggedIn:login|logout',
    [login(1), login(11, { arrived: 15 }), logout(12), page(16, 'ada')],
    { user: 'ada', basket: [], calls: [authenticate(11.5)] },
  ),
  'a login in a new session that was sent while the logout was in progress': history(
    'loggedIn:logout|login',
    [login(11.5, { actor: 1 }), logout(11, { arrived: 14 }), page(15, 'ada')],
    { user: 'ada', basket: [], calls: [authenticate(11.8, { actor: 1, sid: 'sid-2' }), call('logout', 12.6)] },
  ),
  'a login after the logout, whatever its answer was': history(
    'loggedIn:logout+login',
    [login(1), logout(11), login(13, { isLogin: false }), page(15, 'ada')],
    { user: 'ada', basket: [], calls: [authenticate(13.5)] },
  ),
  'a fresh page and check() after the platform has said yes': history(
    'loggedIn:fresh|check',
    [login(1), fresh(11), check(13, 'ada')],
    { user: 'ada', calls: [status(11.2), status(13.2)] },
  ),
  'three trips in a row': history('basket:page', [identify(11), identify(12), identify(13)]),
  'one of two saves at once': history('basket:save|save', [], {
    basket: ['book', 'item0'],
    landed: ['item0', 'item1'],
  }),
  'a tab with another session of the SSO system that goes to its landing during the login': history(
    'basketApart:landing1|landing2|login',
    [login(11, { arrived: 15 }), seen(13, { path: '/sso2/landing', actor: 1 })],
    { basket: [] },
  ),
}

test.each(Object.entries(excused))('%s is no violation', (_what, fair) => {
  expect(judge(fair)).toEqual([])
})
