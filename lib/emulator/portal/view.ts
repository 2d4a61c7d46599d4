/** Collects the data of the portal from a running emulator. */

import { viewAccount, viewSession } from '../control/actions'
import type { Call } from '../platform/calls'
import { browserKey, isForgotten } from '../platform/sessions'
import type { Runtime } from '../runtime'
import type { PortalView } from './shown'

/** Maximum of sessions and calls on the page. */
const SESSIONS_SHOWN = 30
const CALLS_SHOWN = 40

/** Returns the current data of the page. */
export function portalView(runtime: Runtime): PortalView {
  const { config, world, faults, log } = runtime
  const now = runtime.now()
  const latest = [...world.sessions.values()].slice(-SESSIONS_SHOWN).reverse()
  const clients = clientsBySession(log.list())
  return {
    organisationId: config.organisationId,
    production: config.production,
    isOpen: runtime.isOpen,
    tokenTime: config.tokenTime,
    now,
    aheadSeconds: runtime.aheadSeconds(),
    clients: config.clients,
    accounts: [...world.accountsByName.values()].map((state) => ({
      ...viewAccount(runtime, state),
      password: state.account.password,
    })),
    sessions: latest
      .filter((session) => !isForgotten(world, session, now))
      .map((session) => ({
        ...viewSession(session),
        browser: browserKey(session),
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
