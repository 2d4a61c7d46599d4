import {
  blockedBy,
  countTrip,
  forgetTrip,
  hasTrip,
  landedWell,
  noteCause,
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

test.each([
  [0, undefined],
  [1, undefined],
  [2, undefined],
  [3, 'identify_loop'],
  [4, 'identify_loop'],
])('after %i trips within ten seconds the page is blocked by %s', (count, reason) => {
  expect(blockedBy(trips(count), page)).toBe(reason)
})

test('trips for one page do not block another', () => {
  expect(blockedBy(trips(3), other)).toBeUndefined()
})

test('a trip ten seconds after the last begins a new count', () => {
  expect(countTrip(trips(2), page, NOW + 9)).toEqual([{ page, since: NOW + 9, count: 3, cause: '' }])
  expect(countTrip(trips(2), page, NOW + 10)).toEqual([{ page, since: NOW + 10, count: 1, cause: '' }])
})

const slowly = (count: number, seconds: number): Trips =>
  Array.from({ length: count }, (_, index) => NOW + index * seconds).reduce<Trips>(
    (made, now) => countTrip(readTrips(writeTrips(made), now), page, now),
    [],
  )

test.each([
  [4, 'identify_loop'],
  [9, 'identify_loop'],
  [10, undefined],
])('of trips %i s apart the third leaves the page blocked by %s', (seconds, reason) => {
  expect(blockedBy(slowly(2, seconds), page)).toBeUndefined()
  expect(blockedBy(slowly(3, seconds), page)).toBe(reason)
})

test('a page that loops is served for a minute from its last trip', () => {
  const last = NOW + 8
  const cookie = writeTrips(slowly(3, 4))
  expect(blockedBy(readTrips(cookie, last + 59), page)).toBe('identify_loop')
  expect(blockedBy(readTrips(cookie, last + 60), page)).toBeUndefined()
})

test('a page has a trip from its first one on until it is forgotten', () => {
  expect([hasTrip([], page), hasTrip(trips(1), page), hasTrip(trips(1), other)]).toEqual([false, true, false])
  expect(hasTrip(landedWell(trips(1), page), page)).toBe(true)
  expect(hasTrip(forgetTrip(trips(3), page), page)).toBe(false)
})

test('a refused token blocks at once, a wrong clock at the second trip', () => {
  expect(blockedBy(noteCause(trips(1), page, 'r', NOW), page)).toBe('token_refused')
  expect(blockedBy(noteCause(trips(1), page, 'c', NOW), page)).toBeUndefined()
  expect(blockedBy(noteCause(trips(2), page, 'c', NOW), page)).toBe('token_refused')
})

test('a landing that went well leaves its count, for the session may not stay, and no cause', () => {
  const landed = landedWell(noteCause(countTrip(trips(3), other, NOW), page, 'r', NOW), page)
  expect(blockedBy(landed, page)).toBe('identify_loop')
  expect(blockedBy(landedWell(noteCause(trips(1), page, 'r', NOW), page), page)).toBeUndefined()
})

test('a page whose session was seen is forgotten', () => {
  expect(forgetTrip(countTrip(trips(3), other, NOW), page)).toEqual([{ page: other, since: NOW, count: 1, cause: '' }])
})

test('trips come back from the cookie as they were written', () => {
  const all = noteCause(countTrip(trips(3), other, NOW), page, 'c', NOW)
  expect(readTrips(writeTrips(all), NOW + 59)).toEqual(all)
  expect(readTrips(writeTrips(all), NOW + 60)).toEqual([])
})

test('the cookie holds the eight newest pages', () => {
  const many = Array.from({ length: 12 }, (_, index) => pageKey(String(index))).reduce<Trips>(
    (made, key) => countTrip(made, key, NOW),
    [],
  )
  expect(readTrips(writeTrips(many), NOW)).toEqual(many.slice(0, 8))
})

test.each([
  undefined,
  '',
  '~~~',
  'garbage',
  `${page}.x.1`,
  `${page}.${NOW}.10`,
  `${page}.${NOW}.1x`,
  `${page}.${NOW + 3600}.3`,
  `${page}a.${NOW}.1`,
])('the cookie %j holds no trip', (cookie) => {
  expect(readTrips(cookie, NOW)).toEqual([])
})

test('a page that is stopped makes no trip for a minute, and others do', () => {
  const trips = stopTrips(countTrip([], page, NOW), page, NOW)
  expect(blockedBy(trips, page)).toBe('identify_loop')
  expect(blockedBy(trips, pageKey('another'))).toBeUndefined()
  expect(readTrips(writeTrips(trips), NOW + 60)).toEqual([])
})
