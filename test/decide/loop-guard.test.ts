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

type BlockReason = ReturnType<typeof blockReason>

const redirects = (count: number, at = NOW): RedirectCount | undefined =>
  Array.from({ length: count }).reduce<RedirectCount | undefined>((made) => countRedirect(made, at), undefined)
const one = countRedirect(undefined, NOW)
const two = countRedirect(one, NOW)
/** What the cookie holds when the next request comes. */
const later = (made: RedirectCount | undefined, now: number) => made && readRedirectCount(writeRedirectCount(made), now)
const shown = (made: RedirectCount, at = NOW) => withPageShown(made, at)
const failed = (made: RedirectCount, cause: 'r' | 'c' | 'a') => withLandingFailure(made, cause, NOW)
const oneMore = countRedirect(shown(two, NOW + 1), NOW + 5)

test.each<[what: string, made: RedirectCount | undefined, seconds: number, reason: BlockReason]>([
  ['no redirect', undefined, 0, undefined],
  ['one redirect', one, 0, undefined],
  ['two redirects', two, 0, 'sso_unavailable'],
  ['two redirects that came back', clearFailure(two), 0, 'identify_loop'],
  ['three redirects', redirects(3), 0, 'sso_unavailable'],
  ['two redirects, of which the last takes long', two, 59, 'sso_unavailable'],
  ['two redirects and a page shown', shown(two, NOW + 1), 4, 'sso_unavailable'],
  ['two redirects and a page shown, five seconds after the last redirect', shown(two, NOW + 1), 5, undefined],
  ['one more redirect, in vain', oneMore, 30, 'sso_unavailable'],
  ['one more redirect, in vain, and a page shown', shown(oneMore, NOW + 30), 31, undefined],
  ['two redirects of a process whose clock is ahead', redirects(2, NOW + 50), 0, 'sso_unavailable'],
  ['the same and a page shown, five seconds later', shown(later(redirects(2, NOW + 50), NOW) ?? two), 5, undefined],
  ['a refused token', failed(one, 'r'), 0, 'token_refused'],
  ['a refused token and a page shown', shown(failed(one, 'r')), 4, 'token_refused'],
  ['a refused token and a page shown, five seconds later', shown(failed(one, 'r')), 5, undefined],
  ['one more after a refused token', clearFailure(countRedirect(shown(failed(one, 'r')), NOW + 5)), 5, 'identify_loop'],
  ['a token refused for the clock', failed(one, 'c'), 0, undefined],
  ['a second token refused for the clock', failed(two, 'c'), 0, 'token_refused'],
  ['a landing that the store did not take', shown(failed(one, 'a')), 3, 'store_unavailable'],
  ['a landing that the store did not take, four seconds later', shown(failed(one, 'a')), 4, undefined],
  ['a landing that went well after a refused token', clearFailure(failed(one, 'r')), 0, undefined],
  ['a second landing that went well: the session may not stay', clearFailure(failed(two, 'r')), 0, 'identify_loop'],
  ['two redirects, of which one ended what a logout had left over', uncountRedirect(two), 0, undefined],
  ['a page that is stopped', blockRedirects(NOW), 59, 'identify_loop'],
  ['a page that is stopped and shown', shown(blockRedirects(NOW)), 4, 'identify_loop'],
  ['a page that is stopped and shown, five seconds later', shown(blockRedirects(NOW)), 5, undefined],
])('a page with %s, %i s later, is kept from Identify by %s', (_what, made, seconds, reason) => {
  expect(blockReason(later(made, NOW + seconds), NOW + seconds)).toBe(reason)
})

test.each([0, 4, 9, 30, 59])('a chain whose redirects take %i s each is over after the second', (seconds) => {
  const first = later(one, NOW + seconds)
  expect(blockReason(first, NOW + seconds)).toBeUndefined()
  const second = later(countRedirect(first, NOW + seconds), NOW + 2 * seconds)
  expect(blockReason(second, NOW + 2 * seconds)).toBe('sso_unavailable') // no browser came back, so this is no loop
  expect(blockReason(clearFailure(second), NOW + 2 * seconds)).toBe('identify_loop')
})

test('a redirect that ended what a logout had left over does not count', () => {
  expect(uncountRedirect(redirects(3))).toEqual({ ...two, count: 1 })
  expect(uncountRedirect(uncountRedirect(one))).toEqual({ ...one, count: 0 })
  expect([uncountRedirect(undefined), clearFailure(undefined)]).toEqual([undefined, undefined])
})

test('redirects come back from the cookie as they were written', () => {
  const all = [one, two, clearFailure(two), failed(two, 'c'), failed(one, 'r'), shown(failed(two, 'a'))]
  expect(all.map((made) => later(made, NOW + 59))).toEqual(all)
})

const noCookies = [undefined, '', 'garbage', 'x.1', `${NOW}.10`, `${NOW}.1x`, `${NOW}.1sr`, `x${NOW}.1`, `${NOW}.1 `]
test.each(noCookies)('the cookie %j holds no redirect', (cookie) => {
  expect(readRedirectCount(cookie, NOW)).toBeUndefined()
})

test('a page has a name of eight characters that a cookie may have', () => {
  const names = ['https://news.example/a', 'https://news.example/b', ''].map(pageKey)
  expect([new Set(names).size, names.every(isPageKey)]).toEqual([3, true])
  expect(['', 'abcdef0', 'abcdef012', 'abcdefg0', ' abcdef01', 'abcdef01\n'].some(isPageKey)).toBe(false)
})

describe('the browser keeps 32 pages', () => {
  /** So many pages, each later than the one before by `step` seconds. */
  const pages = (count: number, step = 1) =>
    Array.from(
      { length: count },
      (_, index) => [`page-${index}`, countRedirect(undefined, NOW + index * step)] as const,
    )
  const surplus = (entries: Iterable<readonly [string, RedirectCount | undefined]>) => surplusPages(new Map(entries))

  test('and the oldest of the others go, eight at a time', () => {
    expect(surplus(pages(34))).toEqual(['page-2', 'page-1', 'page-0'])
    expect([surplus(pages(31)), surplus([])]).toEqual([[], []])
    expect(surplus(pages(300, -1))).toEqual(Array.from({ length: 8 }, (_, index) => `page-${292 + index}`))
  })
  test.each([0, 1, 2])('and a page whose cookie says nothing goes, at place %i', (place) => {
    expect(surplus(pages(2).toSpliced(place, 0, ['old', undefined] as never))).toEqual(['old'])
  })
  test('and a page that was shown goes before one that was not', () => {
    expect(surplus([['shown', shown(countRedirect(undefined, NOW + 59), NOW + 59)], ...pages(31)])).toEqual(['shown'])
  })
})

test('a cause without a redirect counts as one', () => {
  expect(withLandingFailure(undefined, 'c', NOW)).toEqual({ since: NOW, count: 1, cause: 'c', isShown: false })
})

test('on the way to a login page, redirects count for ten seconds after the last', () => {
  const counted = [recentRedirects(undefined, NOW), recentRedirects(two, NOW + 9), recentRedirects(two, NOW + 10)]
  expect(counted).toEqual([0, 2, 0])
})

test('the last redirect of a chain is known by its way too, whatever the cookie says', () => {
  expect([one, two, redirects(3)].map((made) => made && isLastRedirect(made))).toEqual([false, true, true])
  const stopped = blockRedirects(NOW + 1)
  const landed = (made: RedirectCount | undefined, isLast: boolean) => redirectCountAtLanding(made, isLast, NOW + 1)
  expect([landed(undefined, true), landed(one, true)]).toEqual([stopped, stopped])
  const back = [one, two].map((made) => ({ ...made, cause: 'b' }))
  expect([landed(undefined, false), landed(one, false), landed(two, false)]).toEqual([undefined, ...back])
  const refused = failed(two, 'c')
  expect(landed(refused, true)).toBe(refused)
})

describe('two tabs of one page, whose requests and responses come in every order', () => {
  interface Tab {
    readonly redirects: number
    readonly isLast: boolean
    /** What its next answer is made of: the cookie as its request had it. */
    readonly seen: string | undefined
    readonly at: 'page' | 'landing' | 'shown'
  }
  interface Setup {
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
    return [{ ...answered, at: 'landing', redirects: tab.redirects + 1, isLast: isLastRedirect(counted) }, counted]
  }

  /** One tab sends its request, or gets its answer. */
  function step({ cookie, tabs }: Setup, turn: number, end: End): Setup {
    const tab = tabs[turn]
    if (!tab || tab.at === 'shown') return { cookie, tabs }
    if (tab.seen === undefined) return { cookie, tabs: tabs.with(turn, { ...tab, seen: cookie }) }
    const [answered, redirects] = answer(tab, end)
    return { cookie: redirects ? writeRedirectCount(redirects) : cookie, tabs: tabs.with(turn, answered) }
  }

  /** @returns the most redirects that a tab makes in any order, or ten where there is no end */
  function mostTrips(end: End, tabs: number): number {
    const tab: Tab = { redirects: 0, isLast: false, seen: undefined, at: 'page' }
    const open: Setup[] = [{ cookie: '', tabs: Array.from({ length: tabs }, () => tab) }]
    const seen = new Set<string>()
    let most = 0
    for (let setup = open.pop(); setup && most < 10; setup = open.pop()) {
      most = Math.max(most, ...setup.tabs.map(({ redirects }) => redirects))
      for (const turn of setup.tabs.keys()) {
        const next = step(setup, turn, end)
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
  ])('where a landing ends %s, none of %i tabs makes more than %i redirects', (end, tabs, most) => {
    expect(mostTrips(end, tabs)).toBe(most)
  })
})

describe('whatever becomes of the redirects, however long they take and whenever the user loads the page again', () => {
  const takes = fc.integer({ min: 0, max: 59 })
  const redirects = fc.record({ takes, end: fc.constantFrom('well', 'a', 'c', 'r', 'lost') })
  const load = fc.record({ waits: fc.integer({ min: 0, max: 20 }), redirects: fc.array(redirects, { minLength: 8 }) })

  /** @returns of each page load when it came, and when its redirects began */
  function play(loads: readonly { waits: number; redirects: readonly { takes: number; end: string }[] }[]) {
    let [now, cookie] = [NOW, '']
    return loads.map(({ waits, redirects }) => {
      now += waits
      const [at, begun]: [number, number[]] = [now, []]
      for (const { takes, end } of redirects) {
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

  test('a page load makes two redirects at most', () => {
    fc.assert(fc.property(fc.array(load), (loads) => play(loads).every(({ begun }) => begun.length <= 2)))
  })

  test.each([3600, -3600])('two processes whose clocks differ by %i s make two redirects at most', (seconds) => {
    const clocks = [NOW, NOW + seconds]
    let cookie = ''
    let made = 0
    for (; made < 9; made += 1) {
      const [page = 0, landing = 0] = made % 2 === 0 ? clocks : clocks.toReversed()
      const found = readRedirectCount(cookie, page)
      if (blockReason(found, page)) break
      const back = readRedirectCount(writeRedirectCount(countRedirect(found, page)), landing)
      cookie = writeRedirectCount(withLandingFailure(back, 'c', landing))
    }
    expect(made).toBe(2)
  })

  test('there are three in ten seconds at most', () => {
    fc.assert(
      fc.property(fc.array(load, { maxLength: 30 }), (loads) => {
        const begun = play(loads).flatMap((one) => one.begun)
        return begun.every((from) => begun.filter((at) => at >= from && at < from + 10).length <= 3)
      }),
    )
  })

  test('a page load five seconds after the last redirect makes one', () => {
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
