import { type Entry, type Figures, judge } from './judge'
import { brokenByFailover } from './promises'

/* The judge must see what it is there for. */

const nameOf = (reader: number) => `reader-${reader}`
let now = 0
beforeEach(() => {
  now = 0
})

const entry = (what: Entry['what'], more: Partial<Entry> = {}): Entry => {
  now += 10
  return { reader: 1, device: 0, what, begin: now, end: now + 5, status: 200, trips: 0, ...more }
}
const page = (who?: string, more: Partial<Entry> = {}) => entry('page', { who, ...more })
const login = (more: Partial<Entry> = {}) => entry('login', { who: 'reader-1', ...more })
const logout = (more: Partial<Entry> = {}) => entry('logout', { logout: 'confirmed', ...more })
const logoutAll = (more: Partial<Entry> = {}) => entry('logout_all', { logout: 'confirmed', ...more })
const away = { degraded: 'store_unavailable' }

const seen: [what: string, entries: () => Entry[], figures: Partial<Figures>][] = [
  ['nothing wrong', () => [page(), login(), page('reader-1'), logout(), page()], { lost: 0, undone: 0, wrongUser: 0 }],
  [
    'a page with 5xx, and one without an answer',
    () => [page(undefined, { status: 502 }), page(undefined, { status: 0 })],
    { failed: 2 },
  ],
  ['a page that took more than 3 s', () => [page(undefined, { end: now + 3020 })], { slow: 1 }],
  ["somebody else's name", () => [login(), page('reader-2')], { wrongUser: 1 }],
  ["somebody else's data", () => [login(), page('reader-1', { basketOf: 'reader-2' })], { wrongUser: 1 }],
  [
    'a name on the page of a new visitor',
    () => [{ ...page('reader-1'), reader: undefined } as never],
    { wrongUser: 1 },
  ],
  ['a login that another got', () => [login({ who: 'reader-2' })], { wrongUser: 1 }],
  ['a logout that is undone', () => [login(), logout(), page('reader-1')], { undone: 1 }],
  ['a logout that is undone by a trip', () => [login(), logout(), page('reader-1', { trips: 1 })], { undone: 1 }],
  [
    'a logout that was kept for later, and undone',
    () => [login(), logout({ logout: 'pending' }), page('reader-1')],
    { undone: 1 },
  ],
  ['a login after a logout', () => [login(), logout(), login(), page('reader-1')], { undone: 0 }],
  [
    'a logout of all that another browser survives',
    () => [login(), login({ device: 1 }), logoutAll(), page('reader-1', { device: 1 })],
    { undoneElsewhere: 1 },
  ],
  [
    'a logout of all by a browser that nobody is logged in with',
    () => [login({ device: 1 }), page(), logoutAll(), page('reader-1', { device: 1 })],
    { undoneElsewhere: 0 },
  ],
  [
    'a login that is lost, and that a trip brings back',
    () => [login(), page('reader-1', { trips: 1 })],
    { lost: 1, passwordAgain: 0 },
  ],
  ['a login that is lost for good', () => [login(), page(undefined, { trips: 1 })], { lost: 1, passwordAgain: 1 }],
  [
    'an outage, which says nothing of the login',
    () => [login(), page(undefined, away), page('reader-1')],
    { lost: 0, degraded: 1 },
  ],
  ['a login that was refused', () => [entry('login', { status: 503 }), page()], { refused: 1, lost: 0 }],
  [
    'a browser that is left at the platform',
    () => [page(undefined, { isStranded: true, status: 400 })],
    { stranded: 1, failed: 0 },
  ],
]

test.each(seen)('the judge sees %s', (_what, entries, figures) => {
  expect(judge(entries(), nameOf)).toMatchObject(figures)
})

test('what was not as ever has a last moment', () => {
  const entries = [
    page(undefined, away),
    page(),
    page(undefined, away),
    page(),
    page(undefined, { degraded: 'logout_pending' }),
  ]
  expect(judge(entries, nameOf).lastAbnormal).toBe(entries[2]?.end)
  expect(judge(entries.slice(3), nameOf).lastAbnormal).toBeUndefined()
})

test('of a span its entries count, judged by all that came before', () => {
  const entries = [login(), page('reader-2'), page(undefined, { trips: 1 })]
  const from = entries[2]?.end ?? 0
  expect(judge(entries, nameOf, { from, to: from + 1 })).toMatchObject({ pages: 1, wrongUser: 0, lost: 1 })
  expect(judge(entries, nameOf, { from: 0, to: from })).toMatchObject({ pages: 1, wrongUser: 1, lost: 0 })
})

test.each<[text: RegExp, figures: Partial<Figures>]>([
  [/pages failed/, { failed: 1 }],
  [/showed somebody else/, { wrongUser: 1 }],
  [/logouts were undone/, { undone: 1 }],
  [/log in again/, { passwordAgain: 1 }],
  [/more than 3 s/, { slow: 1 }],
  [/left at the platform/, { stranded: 1 }],
  [/nobody logged in/, { logins: 0 }],
])('a run is judged to have broken its promise: %s', (text, figures) => {
  const good = judge([page(), login(), page('reader-1')], nameOf)
  const times = {
    faultAt: 0,
    perSecond: 100,
    replacedAfter: 2000,
    normalAfter: 4000,
    normalAfterThaw: undefined,
    stalledMs: 10,
  }
  const round = { figures: good, ...times, oldCookiesOpen: 0, oldCookiesStayOpen: 0 }
  expect(brokenByFailover(round, 100)).toEqual([])
  const broken = brokenByFailover({ ...round, figures: { ...good, ...figures } }, 100)
  expect(broken.map((one) => one.text)).toEqual([expect.stringMatching(text)])
})
