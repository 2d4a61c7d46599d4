/**
 * The table of state transitions. Interface: "SSO2 session states" and the table of transitions below.
 *
 * Not in the table: Identify creates an `anon` session for a browser without a session or with a terminated session.
 * Inactivity removes (prunes) a session in any state.
 */
import type { SessionStatus } from '../../protocol/claims'

/** Events of a session. `accepted` and `rejected` are the outcomes of Authenticate. */
type Trigger = 'identify' | 'accepted' | 'rejected' | 'logout' | 'logout_all'

/** Permitted transitions: state, event, next state. */
export const TRANSITIONS = {
  // Logout all names an account, and an anonymous session has no account.
  anon: { identify: 'anon', accepted: 'loggedin', rejected: 'anon', logout: 'terminated' },
  // Authenticate for the same account keeps the session.
  loggedin: {
    identify: 'loggedin',
    accepted: 'loggedin',
    rejected: 'loggedin',
    logout: 'terminated',
    logout_all: 'terminated',
  },
  // A final state: Identify opens a new session and never reuses a terminated session. A second logout is no error.
  terminated: { logout: 'terminated' },
} as const satisfies Record<SessionStatus, Partial<Record<Trigger, SessionStatus>>>
