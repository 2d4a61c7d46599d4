/**
 * State of the session of a request: the data that Redis had for the browser's cookie, and the changes since. The state is attached to the
 * request. When a handler first touches `req.session`, the state runs express-session (adapter.ts).
 */
import { inspect } from 'node:util'
import type { Request, Response } from 'express'
import type { StoredEntry } from '../../decide/record'
import type { SessionPhase, SiteData } from '../../decide/session-data'
import type { Unavailable } from '../../storage/site-store'

const SLOT: unique symbol = Symbol('express-sso2.session')
interface RequestWithSlot {
  [SLOT]?: RequestSession
}

/** Cookie of the response. `nothing`: none. `send_if_filled`: the cookie if the session has data. `send`: the cookie. `send_or_drop`: the cookie if the session has data, else its removal. */
export type CookieAction = 'nothing' | 'send_if_filled' | 'send' | 'send_or_drop'

/** The request's session at this moment. */
export interface CurrentSession {
  /** `unavailable`: Redis did not respond. `not_kept`: the request may begin no session, so what its handler writes is not saved. */
  readonly phase: SessionPhase | 'unavailable' | 'not_kept'
  /** Session ID, '' for a new session without data. */
  readonly id: string
  readonly text: string | null
  /** Start of the session, in seconds since 1970. */
  readonly since: number
  readonly isLoggedIn: boolean
  readonly cookieAction: CookieAction
}

/** Returns an empty session for this request. The browser keeps its cookie. @param since seconds since 1970 */
export function unusableSession(
  phase: 'just_ended' | 'unavailable' | 'not_kept',
  id: string,
  since: number,
): CurrentSession {
  return { phase, id, text: null, since, isLoggedIn: false, cookieAction: 'nothing' }
}

/** The entry in Redis that the browser's cookie names. */
export interface CookieTarget {
  readonly key: string | undefined
  /** `undefined`: written after the read. */
  readonly stored: StoredEntry | Unavailable | undefined
}

/** Opens the session at the first touch by a handler. */
export interface SessionOpener {
  open(slot: RequestSession): void
}

const UNSAVED: ReadonlySet<CurrentSession['phase']> = new Set(['just_ended', 'unavailable', 'not_kept'])

/** Session state of a single request. Mutable, because no other request shares the state. */
export class RequestSession {
  isOpen = false
  /** Values that express-session and the site have set on the request. */
  readonly values: { session?: unknown; sessionID?: unknown; sessionStore?: unknown } = {}
  hasHeaderListener = false
  /** May the store hold data under the session's ID? */
  hasData: boolean
  /** Start of the read of the session, in milliseconds since 1970. */
  arrivedAt: number | undefined
  /** Text of data that was saved without express-session, and need not be saved again. */
  savedText: string | undefined

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

  moveTo(current: CurrentSession, target: CookieTarget): void {
    this.current = current
    this.target = target
    this.hasData = current.text !== null
    this.savedText = undefined
  }

  /** May `req.session` be saved under this ID? A session object from before a change of session may not be saved. */
  maySave(id: string): boolean {
    return id === this.current.id && !UNSAVED.has(this.current.phase)
  }

  [inspect.custom](): string {
    return '[session]'
  }
  toJSON(): undefined {
    return undefined
  }
}

/** Returns the session state of a request. */
export function requestSessionOf(req: object): RequestSession | undefined {
  const marked: RequestWithSlot = req
  return marked[SLOT]
}

const NAMES = ['session', 'sessionID', 'sessionStore'] as const

/** Properties of the request that open the session when a handler touches them. All requests share these functions. */
const LAZY: PropertyDescriptorMap = Object.fromEntries(NAMES.map((name) => [name, lazy(name)]))

function lazy(name: (typeof NAMES)[number]): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: true,
    get(this: object) {
      return openSessionOf(this)?.values[name]
    },
    set(this: object, value: unknown) {
      Object.assign(openSessionOf(this)?.values ?? {}, { [name]: value })
    },
  }
}

function openSessionOf(holder: object): RequestSession | undefined {
  const slot = requestSessionOf(holder)
  slot?.opener.open(slot)
  return slot
}

/** Attaches a session to its request, unless the request has one. */
export function attachSession(slot: RequestSession): void {
  if (requestSessionOf(slot.req)) return
  Object.defineProperty(slot.req, SLOT, { value: slot })
  Object.defineProperties(slot.req, LAZY)
}

/** Returns the site's data in a session object. */
export function dataIn(session: object | null | undefined): SiteData {
  const { cookie: _cookie, ...data }: { cookie?: unknown } = { ...session }
  return data
}

/** Has the session object data to store? An undefined member is not stored. */
export function isFilled(session: object | null | undefined): boolean {
  return Object.values(dataIn(session)).some((value) => !['undefined', 'function', 'symbol'].includes(typeof value))
}

const MARK: unique symbol = Symbol('express-sso2.shape')

const isSpared = Number(process.versions.node.split('.')[0]) >= 24

/**
 * Puts a request or response into V8's dictionary mode. Express changes their prototypes, and V8 in Node.js 20 and 22 then makes a hidden
 * class for each property that is set. That takes 1 kB for each request, and a third of the CPU time of an Express application.
 */
export const untrackShape: (object: object) => void = isSpared
  ? () => {}
  : (object: { [MARK]?: true }) => {
      object[MARK] = true
      delete object[MARK]
    }
