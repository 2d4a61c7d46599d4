/** Formats times for the portal. */
import type { EpochSeconds } from '../../protocol/claims'

/** Returns date and time in UTC, to the second. */
export function dateText(seconds: EpochSeconds): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

/** Returns the time of day in UTC. */
export function timeText(seconds: EpochSeconds): string {
  return dateText(seconds).slice(11)
}

/** Returns a span in its two largest units, such as `1 h 5 min`. */
export function spanText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const parts: [number, string][] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return '0 s'
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0)
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(' ')
}
