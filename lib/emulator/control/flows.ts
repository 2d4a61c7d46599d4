/** Flows of a running emulator: the same in code, over HTTP and in the portal. */
import { makeFlow } from '../flow/flow'
import type { Flow } from '../flow/types'
import { browserKey } from '../platform/sessions'
import type { Runtime } from '../runtime'

/** The flow of one SSO session, without steps where no call has been about it. */
export function flowOfSession({ traces, config }: Runtime, sid: string): Flow {
  return makeFlow(`SSO session ${sid.slice(0, 8)}`, traces.ofSession(sid), config.clients)
}

/** The flow of all SSO sessions of one browser. */
export function flowOfBrowser({ traces, config }: Runtime, browser: string): Flow {
  return makeFlow(`Browser ${browser}`, traces.ofBrowser(browser), config.clients)
}

/** Key of the browser of a session that is not forgotten. */
export function browserOfSession({ world }: Runtime, sid: string): string | undefined {
  const session = world.sessions.get(sid)
  return session && browserKey(session)
}
