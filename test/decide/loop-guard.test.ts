import fc from 'fast-check'
import {
  blockedBy,
  countTrip,
  discountTrip,
  forgetTrip,
  hasTrip,
  landedWell,
  noteCause,
  noteShown,
  pageKey,
  readTrips,
  stopTrips,
  type Trips,
  writeTrips,
} from '../../lib/decide/loop-guard'
import { NOW } from './samples'

const page = pageKey('https://news.example/a')
const other = pageKey('https://news.example/b')
const trips = (count: number, at = NOW): Trips =>
  Array.from({ length: count }).reduce<Trips>((made) => countTrip(made, page, at), [])
/** What the cookie holds when the next request comes. */
const later = (made: Trips, now: number) => readTrips(writeTrips(made), now)

test.each([
  [0, undefined],
  [1, undefined],
  [2, 'identify_loop'],
  [3, 'identify_loop'],
])('after %i trips the page is blocked by %s', (count, reason) => {
  expect(blockedBy(trips(count), page, NOW)).toBe(reason)
})

test('trips for one page do not block another', () => {
  expect(blockedBy(trips(2), other, NOW)).toBeUndefined()
})

test.each([0, 4, 9, 30, 59])('a chain whose trips take %i s each is over after the second', (seconds) => {
  const first = later(trips(1), NOW + seconds)
  expect(blockedBy(first, page, NOW + seconds)).toBeUndefined()
  const second = later(countTrip(first, page, NOW + seconds), NOW + 2 * seconds)
  expect(blockedBy(second, page, NOW + 2 * seconds)).toBe('identify_loop')
})

test('a page that was shown may make one more trip five seconds after its last, and is blocked again where that is in vain', () => {
  const shown = noteShown(trips(2), page, NOW + 1)
  expect(blockedBy(later(shown, NOW + 4), page, NOW + 4)).toBe('identify_loop')
  expect(blockedBy(later(shown, NOW + 5), page, NOW + 5)).toBeUndefined()
  const again = countTrip(later(shown, NOW + 5), page, NOW + 5)
  expect(blockedBy(later(again, NOW + 30), page, NOW + 30)).toBe('identify_loop')
  expect(blockedBy(later(noteShown(again, page, NOW + 30), NOW + 31), page, NOW + 31)).toBeUndefined()
})

test('a page that has not been shown makes none, however long its last trip takes', () => {
  expect(blockedBy(later(trips(2), NOW + 59), page, NOW + 59)).toBe('identify_loop')
  expect(later(trips(2), NOW + 60)).toEqual([])
})

test('a page has a trip from its first one on until it is forgotten', () => {
  expect([hasTrip([], page), hasTrip(trips(1), page), hasTrip(trips(1), other)]).toEqual([false, true, false])
  expect(hasTrip(landedWell(trips(1), page), page)).toBe(true)
  expect(hasTrip(forgetTrip(trips(2), page), page)).toBe(false)
})

test('a refused token blocks at once, a wrong clock at the second trip', () => {
  expect(blockedBy(noteCause(trips(1), page, 'r', NOW), page, NOW)).toBe('token_refused')
  expect(blockedBy(noteCause(trips(1), page, 'c', NOW), page, NOW)).toBeUndefined()
  expect(blockedBy(noteCause(trips(2), page, 'c', NOW), page, NOW)).toBe('token_refused')
})

test('after a refused token one more trip may follow in five seconds too, and only one', () => {
  const shown = noteShown(noteCause(trips(1), page, 'r', NOW), page, NOW)
  expect(blockedBy(shown, page, NOW + 4)).toBe('token_refused')
  expect(blockedBy(shown, page, NOW + 5)).toBeUndefined()
  expect(blockedBy(landedWell(countTrip(shown, page, NOW + 5), page), page, NOW + 5)).toBe('identify_loop')
})

test('a landing that the store did not take blocks at once too, and for four seconds', () => {
  const away = noteShown(noteCause(trips(1), page, 'a', NOW), page, NOW)
  expect(blockedBy(away, other, NOW)).toBeUndefined()
  expect(blockedBy(later(away, NOW + 3), page, NOW + 3)).toBe('store_unavailable')
  expect(blockedBy(later(away, NOW + 4), page, NOW + 4)).toBeUndefined()
})

test('a landing that went well leaves its count, for the session may not stay, and no cause', () => {
  const landed = landedWell(noteCause(countTrip(trips(2), other, NOW), page, 'r', NOW), page)
  expect(blockedBy(landed, page, NOW)).toBe('identify_loop')
  expect(blockedBy(landedWell(noteCause(trips(1), page, 'r', NOW), page), page, NOW)).toBeUndefined()
})

test('a trip that ended what a logout had left over does not count', () => {
  expect(blockedBy(discountTrip(trips(2), page), page, NOW)).toBeUndefined()
  expect(discountTrip(discountTrip(trips(1), page), page).map(({ count }) => count)).toEqual([0])
})

test('a page whose session was seen is forgotten', () => {
  const one = { page: other, since: NOW, count: 1, cause: '', isShown: false }
  expect(forgetTrip(countTrip(trips(2), other, NOW), page)).toEqual([one])
})

test('trips come back from the cookie as they were written', () => {
  const all = noteShown(noteCause(countTrip(trips(2), other, NOW), page, 'c', NOW), page, NOW)
  expect(all.map(({ isShown }) => isShown)).toEqual([true, false])
  expect(later(all, NOW + 59)).toEqual(all)
  expect(later(all, NOW + 60)).toEqual([])
})

test('the cookie holds the eight newest pages', () => {
  const many = Array.from({ length: 12 }, (_, index) => pageKey(String(index))).reduce<Trips>(
    (made, key) => countTrip(made, key, NOW),
    [],
  )
  expect(readTrips(writeTrips(many), NOW)).toEqual(many.slice(0, 8))
  expect(writeTrips(many).split('~')).toHaveLength(8)
  expect(readTrips(many.map((trip) => writeTrips([trip])).join('~'), NOW)).toEqual(many.slice(0, 8))
})

test.each([
  undefined,
  '',
  '~~~',
  'garbage',
  `${page}.x.1`,
  `${page}.${NOW}.10`,
  `${page}.${NOW}.1x`,
  `${page}.${NOW}.1sr`,
  `${page}.${NOW + 3600}.3`,
  `${page}a.${NOW}.1`,
])('the cookie %j holds no trip', (cookie) => {
  expect(readTrips(cookie, NOW)).toEqual([])
})

test('a mark that another process wrote with its clock ahead holds for no longer than one of our own', () => {
  const ahead = later(trips(2, NOW + 50), NOW)
  expect(blockedBy(ahead, page, NOW)).toBe('identify_loop')
  const shown = noteShown(ahead, page, NOW)
  expect(blockedBy(later(shown, NOW + 5), page, NOW + 5)).toBeUndefined()
})

test('a page that is stopped makes no trip for five seconds, and others do', () => {
  const stopped = noteShown(stopTrips(countTrip([], page, NOW), page, NOW), page, NOW)
  expect(blockedBy(stopped, page, NOW + 4)).toBe('identify_loop')
  expect(blockedBy(stopped, page, NOW + 5)).toBeUndefined()
  expect(blockedBy(stopped, pageKey('another'), NOW)).toBeUndefined()
})

describe('whatever becomes of the trips, however long they take and whenever the reader loads the page again', () => {
  const trip = fc.record({
    takes: fc.integer({ min: 0, max: 59 }),
    end: fc.constantFrom('well', 'a', 'c', 'r', 'lost'),
  })
  const load = fc.record({ waits: fc.integer({ min: 0, max: 20 }), trips: fc.array(trip, { minLength: 8 }) })

  /** @returns of each page load when it came, and when its trips began */
  function play(loads: readonly { waits: number; trips: readonly { takes: number; end: string }[] }[]) {
    let [now, cookie] = [NOW, '']
    return loads.map(({ waits, trips }) => {
      now += waits
      const [at, begun]: [number, number[]] = [now, []]
      for (const { takes, end } of trips) {
        const found = readTrips(cookie, now)
        if (blockedBy(found, page, now)) break
        begun.push(now)
        const out = countTrip(found, page, now)
        now += takes
        const back = readTrips(writeTrips(out), now)
        if (end === 'a' || end === 'c' || end === 'r') cookie = writeTrips(noteCause(back, page, end, now))
        else cookie = writeTrips(end === 'well' ? landedWell(back, page) : back)
      }
      cookie = writeTrips(noteShown(readTrips(cookie, now), page, now))
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

describe('what is noted for a page', () => {
  const one = { page: other, since: NOW, count: 2, cause: 'r', isShown: false } as const

  test('is noted for one without a trip as for one with its first', () => {
    expect(noteCause([one], page, 'c', NOW)).toEqual([{ page, since: NOW, count: 1, cause: 'c', isShown: false }, one])
    expect(stopTrips([one], page, NOW)).toEqual([{ page, since: NOW, count: 2, cause: '', isShown: false }, one])
  })

  test('changes no other page', () => {
    const changes = [noteCause([one], page, 'a', NOW), stopTrips([one], page, NOW), countTrip([one], page, NOW)]
    const without = [
      landedWell([one], page),
      discountTrip([one], page),
      noteShown([one], page, NOW),
      forgetTrip([one], page),
    ]
    for (const trips of [...changes, ...without]) expect(trips).toContainEqual(one)
  })
})
