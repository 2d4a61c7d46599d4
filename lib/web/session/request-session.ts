/** The session of one request, and its login record. One object for `sso.session` (built-in-session.ts) and for a site's own express-session (external-session.ts). */
import type { Entry, Gone, SsoRecord } from '../../decide/record'
import type { Records } from '../../storage/records'

/** What the next session of a browser begins with. */
export interface NextSession {
  /** ID of a session of `sso.session`. A site's own express-session draws one itself. */
  readonly id: string
  /** Data of the session before, as taken from the store. They stay, with the changes of this request, unless they serve another account. */
  readonly data: string | null
  /** Name of the account that logs in. `undefined` for an anonymous session. */
  readonly account: string | undefined
}

/** The cookie of a session that was left. `'keep_cookie'`: another response may have changed it. `'dead_cookie'`: it stays, and the next session replaces it. */
export type LeftCookie = 'keep_cookie' | 'drop_cookie' | 'dead_cookie'

/** Returns the entry of a request without a session. A visitor cannot get one while Redis accepts no writes. */
export const noEntry = ({ kv }: Records): Entry | 'unavailable' => (kv.isAvailable ? { state: 'none' } : 'unavailable')

/** The session of a request. Mutable, because no other request shares it. */
export abstract class RequestSession {
  /** Is it the site's own express-session? An attacker on a sibling domain may plant its cookie, but not the package's. */
  abstract readonly isExternal: boolean
  /** Key of the session in the store. `undefined` without a session. */
  key: string | undefined
  /** The record. `'unavailable'`: Redis did not answer, or the visitor has no session and Redis is known to be down. */
  entry: Entry | 'unavailable'
  /** Record of the session that a handler has destroyed. A logout by the same handler ends its SSO session. */
  destroyed: SsoRecord | undefined
  /** Did the browser send a session cookie, readable or not? */
  readonly hadCookie: boolean

  constructor(key: string | undefined, entry: Entry | 'unavailable', hadCookie: boolean) {
    this.key = key
    this.entry = entry
    this.hadCookie = hadCookie
  }

  get isAvailable(): boolean {
    return this.entry !== 'unavailable'
  }
  /** The record. `undefined` without an SSO session. */
  get record(): SsoRecord | undefined {
    return this.entry !== 'unavailable' && this.entry.state === 'live' ? this.entry.record : undefined
  }
  /** The record, or that of the session which this request has destroyed: its handler still shows the user. */
  get lastRecord(): SsoRecord | undefined {
    return this.record ?? this.destroyed
  }
  /** What the session has become, if it has moved or ended a moment ago. The browser's cookie is outdated then. */
  get gone(): Gone | undefined {
    return this.entry !== 'unavailable' && this.entry.state === 'gone' ? this.entry.gone : undefined
  }

  /** Session ID. `undefined` without a session. */
  abstract readonly id: string | undefined
  /** Gives the request the session of another request of the same browser. @throws {Sso2UnavailableError} if Redis does not answer */
  abstract adopt(id: string): Promise<void>
  /** Gives the request its next session, after the session before has ended. The browser gets its cookie with the response. */
  abstract begin(next: NextSession): Promise<void>
  /** Lets the request go on without its session. */
  abstract leave(cookie: LeftCookie): Promise<void>
}
