import fc from 'fast-check'
import { createdAt } from '../../lib'

test.each([
  ['a time in summer', '2024-05-06T07:08:09', 'Europe/Stockholm', '2024-05-06T05:08:09.000Z'],
  ['a time in winter', '2024-01-06T07:08:09', 'Europe/Stockholm', '2024-01-06T06:08:09.000Z'],
  ['a leap day', '2024-02-29T23:59:59', 'America/New_York', '2024-03-01T04:59:59.000Z'],
  ['the hour that is skipped', '2024-03-31T02:30:00', 'Europe/Stockholm', '2024-03-31T01:30:00.000Z'],
  ['the hour that comes twice', '2024-10-27T02:30:00', 'Europe/Stockholm', '2024-10-27T00:30:00.000Z'],
  ['after winter time begins', '2024-10-27T03:00:00', 'Europe/Stockholm', '2024-10-27T02:00:00.000Z'],
])('%s: %s on a clock in %s is %s', (_what, created, zone, expected) => {
  expect(createdAt(created, zone).toISOString()).toBe(expected)
})

test('in every zone the clock shows, at the moment that is found, what was written, or it never showed that', () => {
  const zones = ['UTC', 'Europe/Stockholm', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia']
  const moments = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2037, 0) })
  fc.assert(
    fc.property(moments, fc.constantFrom(...zones), (moment, zone) => {
      const wall = onClock(moment, zone)
      const found = createdAt(wall, zone).getTime()
      expect(onClock(found, zone)).toBe(wall)
      expect(found).toBeLessThanOrEqual(moment)
    }),
    { numRuns: 500 },
  )
})

/** What a clock on the wall of a zone shows. */
function onClock(moment: number, timeZone: string): string {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(moment)
  return text.replace(' ', 'T')
}

test.each([
  ['2024-05-06T07:08:09Z', 'UTC', /created must be a time/],
  ['2024-02-30T00:00:00', 'UTC', /created must be a time/],
  ['2024-05-06T24:00:00', 'UTC', /created must be a time/],
  ['0001-01-01T00:00:00', 'UTC', /created must be a time/],
  [undefined, 'UTC', /created must be a time/],
  ['2024-05-06T07:08:09', 'Mars/Olympus', /timeZone must be a zone/],
  ['2024-05-06T07:08:09', undefined, /timeZone must be a zone/],
])('%j in %j is refused', (created, zone, message) => {
  const read = () => createdAt(created as string, zone as string)
  expect(read).toThrow(TypeError)
  expect(read).toThrow(message)
})
