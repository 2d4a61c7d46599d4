/** What the portal shows, gathered from a running emulator. */
import type { EpochSeconds } from '../../protocol/claims'
import type { Call } from '../calls'
import { type AccountView, type SessionView, viewAccounts, viewSession } from '../controls'
import type { Fault } from '../faults'
import type { Client } from '../options'
import type { Runtime } from '../runtime'
import { isForgotten } from '../sessions'

/** How many sessions and calls the page lists. */
const SESSIONS_SHOWN = 30
const CALLS_SHOWN = 40

/** A session with what else is known of it. */
export interface SessionRow extends SessionView {
  /** Name of who is logged in. */
  readonly who: string | undefined
  /** Clients that have used it, as far as the log reaches. */
  readonly clients: readonly string[]
}

/** Everything on the page. */
export interface PortalView {
  readonly organisationId: string
  readonly production: boolean
  readonly tokenTime: 'virtual' | 'real'
  readonly now: EpochSeconds
  readonly aheadSeconds: number
  readonly clients: readonly Client[]
  readonly accounts: readonly AccountView[]
  readonly sessions: readonly SessionRow[]
  /** How many there are in all. */
  readonly sessionCount: number
  readonly faults: readonly Fault[]
  readonly calls: readonly { readonly call: Call; readonly number: number }[]
}

/** Gathers it. */
export function portalView(runtime: Runtime): PortalView {
  const { config, world, faults, log } = runtime
  const now = runtime.now()
  const latest = [...world.sessions.values()].slice(-SESSIONS_SHOWN).reverse()
  const clients = clientsBySession(log.list())
  return {
    organisationId: config.organisationId,
    production: config.production,
    tokenTime: config.tokenTime,
    now,
    aheadSeconds: runtime.aheadSeconds(),
    clients: config.clients,
    accounts: viewAccounts(runtime),
    sessions: latest
      .filter((session) => !isForgotten(world, session, now))
      .map((session) => ({
        ...viewSession(session),
        who: session.status === 'loggedin' ? world.accountsById.get(session.accountId)?.account.name : undefined,
        clients: [...(clients.get(session.sid) ?? [])],
      })),
    sessionCount: world.sessions.size,
    faults: faults.list(),
    calls: log.latest(CALLS_SHOWN),
  }
}

function clientsBySession(calls: readonly Call[]): Map<string, Set<string>> {
  const clients = new Map<string, Set<string>>()
  for (const { sid, clientId } of calls) {
    if (sid === null || clientId === null) continue
    clients.set(sid, (clients.get(sid) ?? new Set()).add(clientId))
  }
  return clients
}
