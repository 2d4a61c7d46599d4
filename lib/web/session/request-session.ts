/** The one object that this room hangs on a request: what was read for its session, and what has become of it since. */
import { inspect } from 'node:util'
import type { Request, Response } from 'express'
import type { SessionPhase, SiteData } from '../../decide/session-data'
import type { StoredEntry } from '../../decide/stored-entry'
import type { Unavailable } from '../../storage/unavailable'

const SLOT: unique symbol = Symbol('express-sso2.session')
interface Marked {
  [SLOT]?: RequestSession
}

/** What the head of the answer says: nothing; the cookie, if the site has put anything into the session; the cookie; the cookie, or its end. */
export type CookieAction = 'nothing' | 'send_if_filled' | 'send' | 'send_or_drop'

/** Where the request's session stands. */
export interface CurrentSession {
  /** `away`: the store did not answer. */
  readonly phase: SessionPhase | 'away'
  /** Session ID; '' for a new one that nobody has needed yet. */
  readonly id: string
  /** Its data as stored. */
  readonly text: string | null
  /** When it began, in seconds since 1970. */
  readonly since: number
  readonly isLoggedIn: boolean
  readonly cookieAction: CookieAction
}

/** Where a session's cookie stays, and there is nothing in it for this request. @param since seconds since 1970 */
export function nothingIn(phase: 'late' | 'away', id: string, since: number): CurrentSession {
  return { phase, id, text: null, since, isLoggedIn: false, cookieAction: 'nothing' }
}

/** What the browser's cookie leads to. */
export interface CookieTarget {
  readonly key: string | undefined
  /** `undefined`: written since it was read. */
  readonly stored: StoredEntry | Unavailable | undefined
}

/** Who opens the session when a handler first touches it. */
export interface SessionOpener {
  open(slot: RequestSession): void
}

/** Mutable on purpose: one request's own state, never shared. */
export class RequestSession {
  /** Has express-session run for this request? */
  isOpen = false
  /** What it, and the site, have put on the request. */
  readonly held: { session?: unknown; sessionID?: unknown; sessionStore?: unknown } = {}
  /** Is the head of the answer waited for? */
  isWatched = false
  /** May the store hold data under the session's ID? */
  hasData: boolean
  /** When the reading of the session began, in milliseconds since 1970. */
  arrivedAt: number | undefined
  /** Text of data that was saved without express-session: it need not be saved again. */
  settled: string | undefined

  constructor(
    readonly opener: SessionOpener,
    readonly req: Request,
    readonly res: Response,
    readonly isUnreadable: boolean,
    public target: CookieTarget,
    public current: CurrentSession,
  ) {
    this.hasData = current.text !== null
  }

  /** Goes over to another session. */
  moveTo(current: CurrentSession, target: CookieTarget): void {
    this.current = current
    this.target = target
    this.hasData = current.text !== null
    this.settled = undefined
  }

  /** May `req.session` be saved under this ID? A session object of before a change may not. */
  maySave(id: string): boolean {
    return id === this.current.id && this.current.phase !== 'late' && this.current.phase !== 'away'
  }

  /** Printing the request shows none of it. */
  [inspect.custom](): string {
    return '[session]'
  }
  toJSON(): undefined {
    return undefined
  }
}

/** What hangs on a request. */
export function slotOf(req: object): RequestSession | undefined {
  const marked: Marked = req
  return marked[SLOT]
}

const NAMES = ['session', 'sessionID', 'sessionStore'] as const

/** The properties, which open the session when somebody touches one of them: the same functions for all requests. */
const LAZY: PropertyDescriptorMap = Object.fromEntries(NAMES.map((name) => [name, lazy(name)]))

function lazy(name: (typeof NAMES)[number]): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: true,
    get(this: object) {
      return opened(this)?.held[name]
    },
    set(this: object, value: unknown) {
      Object.assign(opened(this)?.held ?? {}, { [name]: value })
    },
  }
}

function opened(holder: object): RequestSession | undefined {
  const slot = slotOf(holder)
  slot?.opener.open(slot)
  return slot
}

/** Hangs a session on its request, unless one has come there meanwhile. */
export function attachSession(slot: RequestSession): void {
  if (slotOf(slot.req)) return
  Object.defineProperty(slot.req, SLOT, { value: slot })
  Object.defineProperties(slot.req, LAZY)
}

/** The site's own data in a session object. */
export function dataIn(session: object | null | undefined): SiteData {
  const { cookie: _cookie, ...data }: { cookie?: unknown } = { ...session }
  return data
}

/** Is there anything in it that would be stored? A member that is undefined would not. */
export function isFilled(session: object | null | undefined): boolean {
  return Object.values(dataIn(session)).some((value) => !['undefined', 'function', 'symbol'].includes(typeof value))
}

const MARK: unique symbol = Symbol('express-sso2.shape')

const isSpared = Number(process.versions.node.split('.')[0]) >= 24

/** Puts an object whose shape V8 would track in vain into dictionary mode; nothing that can be seen of it changes. */
export const untrackShape: (object: object) => void = isSpared
  ? () => {}
  : (object: { [MARK]?: true }) => {
      object[MARK] = true
      delete object[MARK]
    }
