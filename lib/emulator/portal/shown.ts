/** Defines the data that the portal shows. */
import type { EpochSeconds } from '../../protocol/claims'
import type { Client } from '../config/options'
import type { AccountView, SessionView } from '../control/views'
import type { Fault } from '../faults/list'
import type { Call } from '../platform/calls'

/** A session with its browser, its user and its clients. */
export interface SessionRow extends SessionView {
  /** Key of the browser that has the session. */
  readonly browser: string
  /** Name of the user who is logged in. */
  readonly who: string | undefined
  /** Clients that have used the session, as far as the log reaches. */
  readonly clients: readonly string[]
}

/** An account with its password. */
export interface AccountRow extends AccountView {
  readonly password: string
}

/** All data of the page. */
export interface PortalView {
  readonly organisationId: string
  readonly production: boolean
  /** Can other machines connect? */
  readonly isOpen: boolean
  readonly tokenTime: 'virtual' | 'real'
  readonly now: EpochSeconds
  readonly aheadSeconds: number
  readonly clients: readonly Client[]
  readonly accounts: readonly AccountRow[]
  readonly sessions: readonly SessionRow[]
  /** Number of all sessions. */
  readonly sessionCount: number
  readonly faults: readonly Fault[]
  readonly calls: readonly { readonly call: Call; readonly number: number }[]
}
