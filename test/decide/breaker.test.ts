import {
  afterFailure,
  afterSuccess,
  type Breaker,
  breakerPause,
  type CallKind,
  CLOSED,
  isOpen,
} from '../../lib/decide/breaker'

/** What happens to a breaker. Times are milliseconds. */
type Event =
  | { readonly ok: number }
  | { readonly failed: CallKind; readonly at: number; readonly end?: number; readonly pause?: number }

function after(events: readonly Event[]): Breaker {
  return events.reduce((breaker: Breaker, event) => {
    if ('ok' in event) return afterSuccess(breaker, event.ok)
    const { failed, at, end = at, pause = 0 } = event
    return afterFailure(breaker, { attempt: failed, beganAt: at, endedAt: end, pauseMs: pause })
  }, CLOSED)
}
const fails = (failed: CallKind, count: number, at = 10): Event[] =>
  Array.from({ length: count }, () => ({ failed, at }))

// one for each row of the table in docs/internals/decision-tables.md, "Breaker"
test.each<[name: string, events: Event[], open: boolean]>([
  ['nothing has happened', [], false],
  ['four calls fail', fails('call', 4), false],
  ['five calls fail', fails('call', 5), true],
  ['calls fail that may be about one user, however many', fails('user_call', 1000), false],
  ['two probes fail', fails('probe', 2), false],
  ['three probes fail', fails('probe', 3), true],
  ['two calls and a probe fail', [...fails('call', 2), ...fails('probe', 1)], false],
  ['three calls and a probe fail', [...fails('call', 3), ...fails('probe', 1)], true],
  ['two probes and one of a user fail', [...fails('probe', 2), ...fails('user_call', 9)], false],
  ['one success after it has opened', [...fails('call', 5), { ok: 30 }], false],
  ['a success in between', [...fails('call', 4), { ok: 15 }, ...fails('call', 4, 20)], false],
  ['what began before it and fails after it', [{ ok: 30 }, ...fails('call', 9, 29), ...fails('probe', 9, 29)], false],
  ['what began with the success', [{ ok: 30 }, ...fails('call', 5, 30)], true],
  ['the newest success counts, not the last one to end', [{ ok: 30 }, { ok: 5 }, ...fails('call', 9, 29)], false],
])('%s: open is %#', (_name, events, open) => {
  expect(isOpen(after(events))).toBe(open)
})

test('a failed probe is known before the breaker opens, until a success', () => {
  expect(after(fails('user_call', 9)).hasFailedProbe).toBe(false)
  expect(after(fails('probe', 1)).hasFailedProbe).toBe(true)
  expect(after([...fails('probe', 1), ...fails('call', 1)]).hasFailedProbe).toBe(true)
  expect(after([...fails('probe', 1), { ok: 20 }]).hasFailedProbe).toBe(false)
})

const opened = (pause: number): Event[] => [{ failed: 'call', at: 0, end: 100, pause }, ...fails('probe', 2, 0)]
test.each<[name: string, events: Event[], now: number, pause: number]>([
  ['no Retry-After', opened(0), 100, 0],
  ['Retry-After, right after the response', opened(7000), 100, 7000],
  ['Retry-After, a second later', opened(7000), 1100, 6000],
  ['Retry-After, when it is over', opened(7000), 7101, 0],
  ['Retry-After of more than a minute', opened(86_400_000), 100, 60_000],
  ['the longest of several', [...opened(7000), { failed: 'probe', at: 50, end: 150, pause: 1000 }], 100, 7000],
  ['Retry-After to one user', [...opened(0), { failed: 'user_call', at: 50, end: 150, pause: 7000 }], 150, 0],
  ['it is closed', [{ failed: 'probe', at: 0, end: 100, pause: 7000 }], 100, 0],
  ['a success has closed it', [...opened(7000), { ok: 200 }, ...opened(0)], 300, 0],
])('the next probe is put off: %s', (_name, events, now, pause) => {
  expect(breakerPause(after(events), now)).toBe(pause)
})
