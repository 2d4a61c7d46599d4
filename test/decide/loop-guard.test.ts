import fc from 'fast-check'
import {
  blockReason,
  blockRedirects,
  clearFailure,
  countRedirect,
  isLastRedirect,
  isPageKey,
  pageKey,
  type RedirectCount,
  readRedirectCount,
  recentRedirects,
  redirectCountAtLanding,
  surplusPages,
  uncountRedirect,
  withLandingFailure,
  withPageShown,
  writeRedirectCount,
} from '../../lib/decide/loop-guard'
import { NOW } from './samples'

const trips = (count: number, at = NOW): RedirectCount | undefined =>
  Array.from({ length: count }).reduce<RedirectCount | undefined>((made) => countRedirect(made, at), undefined)
const one = countRedirect(undefined, NOW)
const two = countRedirect(one, NOW)
/** What the cookie holds when the next request comes. */
const later = (made: RedirectCount | undefined, now: number) => made && readRedirectCount(writeRedirectCount(made), now)

test.each([
  [0, undefined],
  [1, undefined],
  [2, 'identify_loop'],
  [3, 'identify_loop'],
])('after %i trips the page is blocked by %s', (count, reason) => {
  expect(blockReason(trips(count), NOW)).toBe(reason)
})

test.each([0, 4, 9, 30, 59])('a chain whose trips take %i s each is over after the second', (seconds) => {
  const first = later(one, NOW + seconds)
  expect(blockReason(first, NOW + seconds)).toBeUndefined()
  const second = later(countRedirect(first, NOW + seconds), NOW + 2 * seconds)
  expect(blockReason(second, NOW + 2 * seconds)).toBe('identify_loop')
})

test('a page that was shown may make one more trip five seconds after its last, and is blocked again where that is in vain', () => {
  const shown = withPageShown(two, NOW + 1)
  expect(blockReason(later(shown, NOW + 4), NOW + 4)).toBe('identify_loop')
  expect(blockReason(later(shown, NOW + 5), NOW + 5)).toBeUndefined()
  const again = countRedirect(later(shown, NOW + 5), NOW + 5)
  expect(blockReason(later(again, NOW + 30), NOW + 30)).toBe('identify_loop')
  expect(blockReason(later(withPageShown(again, NOW + 30), NOW + 31), NOW + 31)).toBeUndefined()
})

test('a page that has not been shown makes none, however long its last trip takes', () => {
  expect(blockReason(later(two, NOW + 59), NOW + 59)).toBe('identify_loop')
  expect(later(two, NOW + 60)).toBeUndefined()
})

test('a refused token blocks at once, a wrong clock at the second trip', () => {
  expect(blockReason(withLandingFailure(one, 'r', NOW), NOW)).toBe('token_refused')
  expect(blockReason(withLandingFailure(one, 'c', NOW), NOW)).toBeUndefined()
  expect(blockReason(withLandingFailure(two, 'c', NOW), NOW)).toBe('token_refused')
})

test('after a refused token one more trip may follow in five seconds too, and only one', () => {
  const shown = withPageShown(withLandingFailure(one, 'r', NOW), NOW)
  expect(blockReason(shown, NOW + 4)).toBe('token_refused')
  expect(blockReason(shown, NOW + 5)).toBeUndefined()
  expect(blockReason(clearFailure(countRedirect(shown, NOW + 5)), NOW + 5)).toBe('identify_loop')
})

test('a landing that the store did not take blocks at once too, and for four seconds', () => {
  const away = withPageShown(withLandingFailure(one, 'a', NOW), NOW)
  expect(blockReason(later(away, NOW + 3), NOW + 3)).toBe('store_unavailable')
  expect(blockReason(later(away, NOW + 4), NOW + 4)).toBeUndefined()
})

test('a landing that went well leaves its count, for the session may not stay, and no cause', () => {
  expect(blockReason(clearFailure(withLandingFailure(two, 'r', NOW)), NOW)).toBe('identify_loop')
  expect(blockReason(clearFailure(withLandingFailure(one, 'r', NOW)), NOW)).toBeUndefined()
  expect(clearFailure(undefined)).toBeUndefined()
})

test('a trip that ended what a logout had left over does not count', () => {
  expect(blockReason(uncountRedirect(two), NOW)).toBeUndefined()
  expect(uncountRedirect(trips(3))).toEqual({ ...two, count: 1 })
  expect(uncountRedirect(uncountRedirect(one))).toEqual({ ...one, count: 0 })
  expect(uncountRedirect(undefined)).toBeUndefined()
})

test('trips come back from the cookie as they were written', () => {
  const all = [
    one,
    two,
    withLandingFailure(two, 'c', NOW),
    withLandingFailure(one, 'r', NOW),
    withPageShown(withLandingFailure(two, 'a', NOW), NOW),
  ]
  expect(all.map((redirects) => later(redirects, NOW + 59))).toEqual(all)
  expect(all.map((redirects) => later(redirects, NOW + 60))).toEqual(all.map(() => undefined))
})

test.each([
  undefined,
  '',
  'garbage',
  'x.1',
  `${NOW}.10`,
  `${NOW}.1x`,
  `${NOW}.1sr`,
  `x${NOW}.1`,
  `${NOW}.1 `,
  `${NOW + 3600}.3`,
])('the cookie %j holds no trip', (cookie) => {
  expect(readRedirectCount(cookie, NOW)).toBeUndefined()
})

test('a page has a name of eight characters that a cookie may have', () => {
  const names = ['https://news.example/a', 'https://news.example/b', ''].map(pageKey)
  expect([new Set(names).size, names.every(isPageKey)]).toEqual([3, true])
  expect(['', 'abcdef0', 'abcdef012', 'abcdefg0', ' abcdef01', 'abcdef01\n'].some(isPageKey)).toBe(false)
})

test('the browser keeps 32 pages: the oldest of others go, and those whose cookie says nothing', () => {
  const others = new Map(
    Array.from({ length: 34 }, (_, index) => [`page-${index}`, countRedirect(undefined, NOW + index)]),
  )
  expect(surplusPages(others)).toEqual(['page-2', 'page-1', 'page-0'])
  expect(surplusPages(new Map([...others].slice(0, 31)))).toEqual([])
  const [first, second] = [...others].map(([name, redirects]) => [name, redirects] as const)
  const old = ['old', undefined] as const
  for (const mixed of [
    [old, first, second],
    [first, old, second],
    [first, second, old],
  ])
    expect(surplusPages(new Map(mixed.filter((entry) => entry !== undefined)))).toEqual(['old'])
  expect(surplusPages(new Map())).toEqual([])
  const shown = withPageShown(countRedirect(undefined, NOW + 59), NOW + 59)
  expect(surplusPages(new Map([['shown', shown], ...[...others].slice(0, 31)]))).toEqual(['shown'])
  const many = new Map(
    Array.from({ length: 300 }, (_, index) => [`page-${index}`, countRedirect(undefined, NOW - index)]),
  )
  expect(surplusPages(many)).toEqual(Array.from({ length: 8 }, (_, index) => `page-${292 + index}`))
})

test('a mark that another process wrote with its clock ahead holds for no longer than one of our own', () => {
  const ahead = later(trips(2, NOW + 50), NOW)
  expect(blockReason(ahead, NOW)).toBe('identify_loop')
  const shown = ahead && withPageShown(ahead, NOW)
  expect(blockReason(later(shown, NOW + 5), NOW + 5)).toBeUndefined()
})

test('a page that is stopped makes no trip for five seconds', () => {
  expect(blockReason(later(blockRedirects(NOW), NOW + 59), NOW + 59)).toBe('identify_loop')
  const stopped = withPageShown(blockRedirects(NOW), NOW)
  expect(blockReason(stopped, NOW + 4)).toBe('identify_loop')
  expect(blockReason(stopped, NOW + 5)).toBeUndefined()
})

test('a cause without a trip counts as one', () => {
  expect(withLandingFailure(undefined, 'c', NOW)).toEqual({ since: NOW, count: 1, cause: 'c', isShown: false })
})

test('for whoever is led away, trips count for ten seconds after the last', () => {
  expect([recentRedirects(undefined, NOW), recentRedirects(two, NOW + 9), recentRedirects(two, NOW + 10)]).toEqual([
    0, 2, 0,
  ])
})

test('the last trip of a chain is known by its way too, whatever the cookie says', () => {
  expect([isLastRedirect(one), isLastRedirect(two), isLastRedirect(countRedirect(two, NOW))]).toEqual([
    false,
    true,
    true,
  ])
  const stopped = blockRedirects(NOW + 1)
  expect([undefined, one].map((redirects) => redirectCountAtLanding(redirects, true, NOW + 1))).toEqual([
    stopped,
    stopped,
  ])
  expect([undefined, one, two].map((redirects) => redirectCountAtLanding(redirects, false, NOW + 1))).toEqual([
    undefined,
    one,
    two,
  ])
  const refused = withLandingFailure(two, 'c', NOW)
  expect(redirectCountAtLanding(refused, true, NOW + 1)).toBe(refused)
})

describe('two tabs of one page, whose requests and answers come in every order', () => {
  interface Tab {
    readonly trips: number
    readonly isLast: boolean
    /** What its next answer is made of: the cookie as its request had it. */
    readonly seen: string | undefined
    readonly at: 'page' | 'landing' | 'shown'
  }
  interface Stage {
    readonly cookie: string
    readonly tabs: readonly Tab[]
  }
  type End = 'well' | 'c' | 'r' | 'a'

  /** The answer to a tab's request. */
  function answer(tab: Tab, end: End): [tab: Tab, redirects: RedirectCount | undefined] {
    const redirects = readRedirectCount(tab.seen, NOW)
    const answered = { ...tab, seen: undefined }
    if (tab.at === 'landing') {
      const back = redirectCountAtLanding(redirects, tab.isLast, NOW)
      return [{ ...answered, at: 'page' }, end === 'well' ? clearFailure(back) : withLandingFailure(back, end, NOW)]
    }
    if (redirects && blockReason(redirects, NOW)) return [{ ...answered, at: 'shown' }, withPageShown(redirects, NOW)]
    const counted = countRedirect(redirects, NOW)
    return [{ ...answered, at: 'landing', trips: tab.trips + 1, isLast: isLastRedirect(counted) }, counted]
  }

  /** One tab sends its request, or gets its answer. */
  function step({ cookie, tabs }: Stage, turn: number, end: End): Stage {
    const tab = tabs[turn]
    if (!tab || tab.at === 'shown') return { cookie, tabs }
    if (tab.seen === undefined) return { cookie, tabs: tabs.with(turn, { ...tab, seen: cookie }) }
    const [answered, redirects] = answer(tab, end)
    return { cookie: redirects ? writeRedirectCount(redirects) : cookie, tabs: tabs.with(turn, answered) }
  }

  /** @returns the most trips that a tab makes in any order, or ten where there is no end */
  function mostTrips(end: End, tabs: number): number {
    const tab: Tab = { trips: 0, isLast: false, seen: undefined, at: 'page' }
    const open: Stage[] = [{ cookie: '', tabs: Array.from({ length: tabs }, () => tab) }]
    const seen = new Set<string>()
    let most = 0
    for (let stage = open.pop(); stage && most < 10; stage = open.pop()) {
      most = Math.max(most, ...stage.tabs.map(({ trips }) => trips))
      for (const turn of stage.tabs.keys()) {
        const next = step(stage, turn, end)
        const name = JSON.stringify(next)
        if (!seen.has(name)) open.push(next)
        seen.add(name)
      }
    }
    return most
  }

  test.each<[end: End, tabs: number, most: number]>([
    ['well', 1, 2],
    ['c', 1, 2],
    ['r', 1, 1],
    ['a', 1, 1],
    ['well', 2, 4],
    ['c', 2, 4],
    ['r', 2, 2],
    ['a', 2, 2],
  ])('where a landing ends %s, none of %i tabs makes more than %i trips', (end, tabs, most) => {
    expect(mostTrips(end, tabs)).toBe(most)
  })
})

describe('whatever becomes of the trips, however long they take and whenever the reader loads the page again', () => {
  const redirects = fc.record({
    takes: fc.integer({ min: 0, max: 59 }),
    end: fc.constantFrom('well', 'a', 'c', 'r', 'lost'),
  })
  const load = fc.record({ waits: fc.integer({ min: 0, max: 20 }), trips: fc.array(redirects, { minLength: 8 }) })

  /** @returns of each page load when it came, and when its trips began */
  function play(loads: readonly { waits: number; trips: readonly { takes: number; end: string }[] }[]) {
    let [now, cookie] = [NOW, '']
    return loads.map(({ waits, trips }) => {
      now += waits
      const [at, begun]: [number, number[]] = [now, []]
      for (const { takes, end } of trips) {
        const found = readRedirectCount(cookie, now)
        if (blockReason(found, now)) break
        begun.push(now)
        const out = countRedirect(found, now)
        now += takes
        const back = readRedirectCount(writeRedirectCount(out), now)
        if (end === 'a' || end === 'c' || end === 'r') cookie = writeRedirectCount(withLandingFailure(back, end, now))
        else if (back) cookie = writeRedirectCount(end === 'well' ? { ...back, cause: '' } : back)
        else cookie = ''
      }
      const shown = readRedirectCount(cookie, now)
      cookie = shown ? writeRedirectCount(withPageShown(shown, now)) : ''
      return { at, begun }
    })
  }

  test('a page load makes two trips at most', () => {
    fc.assert(fc.property(fc.array(load), (loads) => play(loads).every(({ begun }) => begun.length <= 2)))
  })

  test('there are three in ten seconds at most', () => {
    fc.assert(
      fc.property(fc.array(load, { maxLength: 30 }), (loads) => {
        const begun = play(loads).flatMap((one) => one.begun)
        return begun.every((from) => begun.filter((at) => at >= from && at < from + 10).length <= 3)
      }),
    )
  })

  test('a page load five seconds after the last trip makes one', () => {
    fc.assert(
      fc.property(fc.array(load), (loads) => {
        let last = Number.NEGATIVE_INFINITY
        return play(loads).every(({ at, begun }) => {
          const isDue = at - last >= 5
          last = begun.at(-1) ?? last
          return !isDue || begun.length > 0
        })
      }),
    )
  })
})
