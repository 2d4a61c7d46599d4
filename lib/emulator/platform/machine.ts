/**
 * The transition table. Interface: "SSO2 session states" and the table of transitions below it.
 *
 * Not in the table: how a session begins (Identify without one, or with a terminated one, makes a new `anon` session),
 * and how it is forgotten (pruned after inactivity, from any state).
 */
import type { SessionStatus } from '../../protocol/claims'

/** What can happen to a session. `accepted` and `rejected` are the two outcomes of Authenticate. */
export type Trigger = 'identify' | 'accepted' | 'rejected' | 'logout' | 'logout_all'

/** Every permitted move: state, what happens, next state. */
export const TRANSITIONS = {
  // Logout all names an account, and an anonymous session has none.
  anon: { identify: 'anon', accepted: 'loggedin', rejected: 'anon', logout: 'terminated' },
  // Authenticate again, as the same account, keeps the session.
  loggedin: {
    identify: 'loggedin',
    accepted: 'loggedin',
    rejected: 'loggedin',
    logout: 'terminated',
    logout_all: 'terminated',
  },
  // A dead end: Identify opens a new session and never revives this one. Logging out twice is no error.
  terminated: { logout: 'terminated' },
} as const satisfies Record<SessionStatus, Partial<Record<Trigger, SessionStatus>>>

/** The state after `trigger`, or `undefined` when the table has no such move. */
export function nextStatus(status: SessionStatus, trigger: Trigger): SessionStatus | undefined {
  const moves: Partial<Record<Trigger, SessionStatus>> = TRANSITIONS[status]
  return moves[trigger]
}
