/**
 * The store of `req.session` for express-session. connect-redis keeps the data. A session ID that has ended is refused. Empty data is not
 * stored, because the login record alone keeps a session alive. There is no `touch`: site-sessions.ts renews the expiry.
 */

import { randomBytes } from 'node:crypto'
import { RedisStore } from 'connect-redis'
import type { Request } from 'express'
import session from 'express-session'
import type { Config } from '../../config'
import { LOG_LINES } from '../../decide/log-lines'
import { hasMovedOrEnded, recordIn, type SsoRecord } from '../../decide/record'
import {
  belongsToLogin,
  dataLife,
  readData,
  type SessionMetadata,
  type SiteData,
  sessionPhaseOf,
  usableData,
  withChanges,
  writeData,
} from '../../decide/session-data'
import { parseForeignJson } from '../../protocol/json'
import type { Records } from '../../storage/records'
import { sessionKey, storeUnavailable, type Unavailable } from '../../storage/site-store'
import { publish } from '../hooks'
import { type CurrentSession, dataIn, isFilled, type RequestSession, requestSessionOf } from './request-session'
import { isSessionId } from './session-cookie'

type StoreCallback = (error?: unknown) => void

const METADATA: unique symbol = Symbol('express-sso2.origin')
/** Origin of a session object. Copies of the session's data do not have this property. */
interface Loaded {
  readonly since: number
  readonly isLoggedIn: boolean
  readonly text: string | null
}
interface WithMetadata {
  [METADATA]?: Loaded
}

/** Returns a new session ID: 256 random bits. */
export const newSessionId = (): string => randomBytes(32).toString('base64url')

function textBehind(sess: object | null | undefined): string | null {
  const marked: WithMetadata = sess ?? {}
  return marked[METADATA]?.text ?? null
}

/** Returns the unused lifetime that the site has set for a session, in milliseconds. `false`: until the browser closes. */
export function maxAgeOf(sess: object | null | undefined): number | false | undefined {
  const { cookie }: { cookie?: { originalMaxAge?: unknown } | null } = sess ?? {}
  const maxAge = cookie?.originalMaxAge
  return maxAge === false || (typeof maxAge === 'number' && Number.isFinite(maxAge)) ? maxAge : undefined
}

/** Returns the end that the site has set for a session's cookie, in milliseconds since 1970. */
export function expiresOf(sess: object | null | undefined): number | undefined {
  const { cookie }: { cookie?: { expires?: unknown } | null } = sess ?? {}
  const end = cookie?.expires instanceof Date ? cookie.expires.getTime() : Number.NaN
  return Number.isFinite(end) ? end : undefined
}

/** Session store of a site for express-session. */
export class SessionStore extends session.Store {
  /** Gives a request a new session. express-session sets this method. */
  declare generate: (req: Request) => void
  readonly #records: Records
  readonly #config: Config
  readonly #now: () => number
  readonly #data: RedisStore
  /** Replaces the session of a request by a new session. Set by site-sessions.ts. */
  declare replace: (slot: RequestSession) => Promise<void>
  /** Called for each session that a handler of the site has destroyed. Set by site-sessions.ts. */
  declare onDestroyed: (key: string, record: SsoRecord) => Promise<void>

  constructor(config: Config, records: Records, now: () => number) {
    super()
    this.#config = config
    this.#records = records
    this.#now = now
    const stringify = (sess: session.SessionData) => this.textOf(sess)
    this.#data = new RedisStore({
      client: this.#client(),
      prefix: '',
      serializer: { stringify, parse: parseForeignJson as typeof JSON.parse },
      ttl: (sess: session.SessionData) => dataLife(this.#originOf(sess), this.#now(), this.#config),
    })
  }

  dataFor({ text, isLoggedIn, since }: CurrentSession): session.SessionData {
    const found = usableData(text, isLoggedIn, this.#now(), this.#config)
    return this.#dataOf({ since: found?.since ?? since, isLoggedIn, text }, found?.data ?? {}, found?.maxAge)
  }

  isUsable({ text, isLoggedIn }: CurrentSession): boolean {
    return usableData(text, isLoggedIn, this.#now(), this.#config) !== undefined
  }

  #dataOf(loaded: Loaded, data: object, maxAge: number | undefined): session.SessionData {
    const cookie = {
      originalMaxAge: maxAge ?? null,
      expires: maxAge === undefined ? null : new Date(Date.now() + maxAge),
      httpOnly: true,
      path: '/',
      sameSite: 'lax',
      secure: this.#config.isSecure,
    } as const
    return Object.assign({ ...data, cookie }, { [METADATA]: loaded })
  }

  saveText(key: string, text: string, origin: SessionMetadata): Promise<boolean | Unavailable> {
    return this.#records.saveData(key, text, dataLife(origin, this.#now(), this.#config))
  }

  override get = (id: string, callback: (error: unknown, sess?: session.SessionData | null) => void) => {
    this.#read(id).then(
      (sess) => callback(null, sess),
      (error: unknown) => callback(error),
    )
  }

  /** Reads a session. An ID in another format costs no Redis command. */
  async #read(id: string): Promise<session.SessionData | null> {
    if (!isSessionId(id)) return null
    const pair = await this.#records.readBoth(sessionKey(id))
    if (pair === 'unavailable') throw storeUnavailable()
    const { stored, data } = pair
    const isIn = belongsToLogin(stored)
    const phase = sessionPhaseOf(stored, data, this.#now())
    const found = usableData(data, isIn, this.#now(), this.#config)
    if (phase !== 'live' && (phase !== 'data_only' || !found)) return null
    const loaded = { since: found?.since ?? this.#now(), isLoggedIn: isIn, text: data }
    return this.#dataOf(loaded, found?.data ?? {}, found?.maxAge)
  }

  override createSession = (req: Request, sess: session.SessionData): session.Session & session.SessionData => {
    const { [METADATA]: loaded }: WithMetadata & session.SessionData = sess
    const created = super.createSession(req, sess)
    return Object.defineProperty(created, METADATA, { value: loaded })
  }

  override set = (id: string, sess: session.SessionData, callback: StoreCallback = () => {}) => {
    const slot = requestOf(sess)
    const tell = (error?: unknown) => {
      if (error) this.#tellNotSaved()
      callback(error)
    }
    if (slot?.current.phase === 'unavailable') return tell(storeUnavailable())
    if (slot?.current.phase === 'not_kept' && isFilled(sess))
      this.#config.log.warn('session:cross_site', LOG_LINES.crossSitePost)
    if (slot ? !slot.maySave(id) : !isSessionId(id)) return callback()
    const isEmpty = !isFilled(sess)
    if (isEmpty && slot && !slot.hasData) return callback()
    if (slot?.savedText !== undefined && slot.savedText === this.textOf(sess)) return callback()
    if (slot) Object.assign(slot, { hasData: !isEmpty, savedText: undefined })
    if (isEmpty) this.#data.destroy(sessionKey(id), tell)
    else this.#data.set(sessionKey(id), sess, tell)
  }

  override destroy = (id: string, callback: StoreCallback = () => {}) => {
    if (!isSessionId(id)) return callback()
    this.#end(sessionKey(id)).then(
      (done) => callback(done === 'unavailable' ? storeUnavailable() : undefined),
      (error: unknown) => callback(error),
    )
  }

  /** Ends a session for the site. The browser keeps its cookie, and its next request may begin a new session. An ended session stays unchanged. */
  async #end(key: string): Promise<unknown> {
    const stored = await this.#records.read(key)
    if (stored === 'unavailable') return this.#records.end(key, 0)
    if (hasMovedOrEnded(stored)) return undefined
    if (belongsToLogin(stored)) this.#config.log.info('session:destroy', LOG_LINES.destroyIsNoLogout)
    const ended = await this.#records.end(key, 0)
    const record = recordIn(stored)
    if (ended === 'done' && record) await this.onDestroyed(key, record)
    return ended
  }

  override regenerate = (req: Request, callback: StoreCallback = () => {}) => {
    const slot = requestSessionOf(req)
    if (!slot) return super.regenerate(req, callback)
    this.replace(slot).then(
      () => callback(),
      (error: unknown) => callback(error),
    )
  }

  /** Logs that data was not saved. The response has already ended, so no error can be sent to the browser. */
  #tellNotSaved(): void {
    publish('degraded', { operation: 'save', outcome: 'not_saved', durationMs: 0, reason: 'store_unavailable' })
    this.#config.log.warn('store:save', LOG_LINES.sessionNotSaved)
  }

  textOf(sess: session.SessionData): string {
    return writeData(this.#originOf(sess), dataIn(sess))
  }

  #originOf(sess: session.SessionData): SessionMetadata {
    const { [METADATA]: loaded }: WithMetadata & session.SessionData = sess
    const maxAge = maxAgeOf(sess)
    const { since, isLoggedIn } = loaded ?? { since: this.#now(), isLoggedIn: false }
    return { since, isLoggedIn, maxAge: maxAge === false ? undefined : maxAge }
  }

  /** Returns a Redis client with the few commands that connect-redis uses. */
  #client() {
    const unlessAway = async (run: Promise<unknown>) => {
      if ((await run) === 'unavailable') throw storeUnavailable()
    }
    return {
      set: (key: string, value: string, _ex: 'EX', seconds: number) =>
        unlessAway(this.#records.saveData(key, value, seconds)),
      del: ([key = '']: string[]) => unlessAway(this.#records.deleteData(key)),
    }
  }
}

/** Returns the session state behind a session object. Objects that express-session did not create have none. */
function requestOf(sess: object): RequestSession | undefined {
  return 'req' in sess && typeof sess.req === 'object' && sess.req !== null ? requestSessionOf(sess.req) : undefined
}

/** Returns data of a session with the changes that this request's handler made in `req.session`. */
export function changedBy({ isOpen, req }: RequestSession, under: SiteData): SiteData {
  if (!isOpen || !req.session) return under
  const now = asStored(req.session)
  return now === undefined ? under : withChanges(readData(textBehind(req.session))?.data ?? {}, now, under)
}

/** Returns the data as JSON keeps it. `undefined` if JSON cannot (a BigInt, a circle), because a login must not fail halfway. */
function asStored(session: object): SiteData | undefined {
  try {
    return JSON.parse(JSON.stringify(dataIn(session)))
  } catch {
    return undefined
  }
}
