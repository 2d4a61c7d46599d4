/** Returns the flows of a running emulator, for code, HTTP and the portal. */
import { makeFlow } from '../flow/flow'
import type { Flow } from '../flow/types'
import { browserKey } from '../platform/sessions'
import type { Runtime } from '../runtime'

/** Returns the flow of an SSO session, without steps if no call concerned the session. */
export function flowOfSession({ traces, config }: Runtime, sid: string): Flow {
  return makeFlow(`SSO session ${sid.slice(0, 8)}`, traces.ofSession(sid), config.clients)
}

/** Returns the flow of all SSO sessions of a browser. */
export function flowOfBrowser({ traces, config }: Runtime, browser: string): Flow {
  return makeFlow(`Browser ${browser}`, traces.ofBrowser(browser), config.clients)
}

/** Returns the key of a session's browser, or undefined if the session does not exist. */
export function browserOfSession({ world }: Runtime, sid: string): string | undefined {
  const session = world.sessions.get(sid)
  return session && browserKey(session)
}
