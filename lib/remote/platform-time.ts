/** Times of the platform have no zone: reads one as the clock on the wall of a zone that the caller names. Interface: "Administrator entry". */

/** Of four digits, and none of the years that `Intl` writes with fewer. */
const YEAR = /^(19|[2-9])/

/**
 * The moment of a `created` such as `2024-05-06T07:08:09`.
 * A wall clock time that a change of the clock skips or repeats is read with the offset from before the change.
 * @param created as the platform sent it
 * @param timeZone IANA name of the zone that the platform's clock shows, for example `Europe/Stockholm` or `UTC`; ask the operator
 * @throws {TypeError} the text is no such time, or of before 1900, or the zone is unknown
 */
export function createdAt(created: string, timeZone: string): Date {
  const wall = wallTime(created)
  const offset = offsetOf(timeZone)
  const before = wall - offset(wall - 86_400_000)
  const candidates = [before, wall - offset(before)]
  return new Date(candidates.find((moment) => moment + offset(moment) === wall) ?? before)
}

/** The wall clock's time as if it were in UTC, in milliseconds. */
function wallTime(created: unknown): number {
  const moment = typeof created === 'string' && YEAR.test(created) ? Date.parse(`${created}Z`) : Number.NaN
  if (Number.isNaN(moment) || new Date(moment).toISOString() !== `${created}.000Z`)
    throw new TypeError('createdAt: created must be a time such as 2024-05-06T07:08:09')
  return moment
}

/** How far a zone is ahead of UTC at a moment, in milliseconds. */
function offsetOf(timeZone: string): (moment: number) => number {
  let format: Intl.DateTimeFormat
  try {
    if (typeof timeZone !== 'string') throw new RangeError()
    format = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' })
  } catch {
    throw new TypeError('createdAt: timeZone must be a zone such as Europe/Stockholm or UTC')
  }
  return (moment) => {
    const [, day, month, year, time] = /(\d\d)\/(\d\d)\/(\d{4}), (.+)/.exec(format.format(moment)) ?? []
    return Date.parse(`${year}-${month}-${day}T${time}Z`) - Math.floor(moment / 1000) * 1000
  }
}
