/**
 * A session of `sso.session`, from top to bottom: the properties of the request, which run express-session when a handler first touches them; what
 * express-session finds, saves and destroys; how a login or a logout changes the session; which cookie leaves.
 */
import { callbackify } from 'node:util'
import { RedisStore } from 'connect-redis'
import type { Request, Response } from 'express'
import expressSession, { type SessionData } from 'express-session'
import type { Config } from '../../config'
import { isCrossSitePost } from '../../decide/navigation'
import { type Entry, isAlive, isLoggedIn, lifetimeOf } from '../../decide/record'
import { accountOf } from '../../storage/account-index'
import type { Records } from '../../storage/records'
import { isStoreUnavailable, newSessionId, sessionKey, storeUnavailable } from '../../storage/site-store'
import { publish } from '../hooks'
import { beforeHeaders, makePrivate, takeCookie, writeCookie } from '../http/response-headers'
import { type LeftCookie, type NextSession, RequestSession } from './request-session'
import { dataIn, sessionIn, textOf, withChanges } from './session-data'

/** Parts of the site that a session needs. */
export interface SessionParts {
  readonly config: Config
  readonly records: Records
  /** Client of Redis, or memory. */
  readonly client: unknown
  /** Seconds since 1970. */
  now(): number
}

/** A session as the browser's cookie names it. */
export interface FoundSession {
  readonly id: string | undefined
  readonly key: string | undefined
  readonly entry: Entry | 'unavailable'
  readonly data: string | null
  readonly hadCookie: boolean
}

const SLOT: unique symbol = Symbol('express-sso2.session')

/** Returns the session that `sso.session` has given a request. */
export const attachedSession = (req: object): BuiltInSession | undefined => (req as { [SLOT]?: BuiltInSession })[SLOT]

type SessionProperties = Partial<Pick<Request, 'session' | 'sessionID' | 'sessionStore'>>

/** A property of the request that runs express-session when a handler first uses it. It stays as it is: to redefine it would slow the request down. */
const lazy = (name: keyof SessionProperties): PropertyDescriptor => ({
  configurable: true,
  enumerable: true,
  get(this: Request) {
    return attachedSession(this)?.runExpressSession()[name]
  },
  set(this: Request, value: unknown) {
    Object.assign(attachedSession(this)?.runExpressSession() ?? {}, { [name]: value })
  },
})
/** All requests share these functions. */
const LAZY = { session: lazy('session'), sessionID: lazy('sessionID'), sessionStore: lazy('sessionStore') }

type Callback = (error?: unknown, found?: unknown) => void

/**
 * The session of one request. First it is that of the browser's cookie, or none. `#drawId` makes it a new one, when a handler first needs an ID.
 * `begin` and `adopt` make it that of a login, and `leave` none.
 */
export class BuiltInSession extends RequestSession {
  readonly isExternal = false
  readonly #parts: SessionParts
  readonly #req: Request
  readonly #res: Response
  /** Is it a form of another site? Browsers send no cookie with it, so a session that begins here would replace the browser's. */
  readonly #isForeignForm: boolean
  /** What express-session has set. `undefined` until it runs. */
  #properties: SessionProperties | undefined
  /** The store of `req.session`. `undefined` until express-session has run, which has asked it for the session of the cookie by then. */
  #store: RedisStore | undefined
  id: string | undefined
  /** Text of the data in the store, as this request has last read or saved it. */
  #stored: string | null
  /** Is the session not in the store yet? Then a save begins it. Otherwise a save that comes after its end does nothing. */
  #isNew = false
  /** How the request has left its last session, if it has. */
  #left: LeftCookie | undefined

  /** Attaches the session to its request, with `req.session` and its companions. */
  constructor(parts: SessionParts, req: Request, res: Response, found: FoundSession) {
    const { id, key, entry, data, hadCookie } = found
    super(key, entry, hadCookie)
    this.#parts = parts
    this.#req = req
    this.#res = res
    this.#isForeignForm = id === undefined && isCrossSitePost(req, parts.config.returnPolicy.origin)
    this.id = id
    this.#stored = data
    Object.defineProperty(req, SLOT, { value: this })
    Object.defineProperties(req, LAZY)
  }

  /** Runs express-session, once. @returns what it has set */
  runExpressSession(): SessionProperties {
    if (this.#properties) return this.#properties
    this.#properties = {}
    const { config } = this.#parts
    const store = this.#makeStore()
    const handler = expressSession({
      name: config.cookies.session,
      secret: config.cookieKeys(),
      store,
      genid: () => this.#drawId(),
      resave: false,
      saveUninitialized: false,
    })
    beforeHeaders(this.#res, () => this.#finishCookie()) // before express-session's listener, because listeners run in reverse order
    handler(this.#req, this.#res, () => {})
    this.#store = store
    return this.#properties
  }

  /** Makes the store of `req.session`. connect-redis lists the sessions. There is no `touch`: the lifetime is renewed with the record. */
  #makeStore(): RedisStore {
    const { config, client } = this.#parts
    const store = new RedisStore({ client, prefix: `${config.prefix}sess:` })
    const callBack = (outcome: Promise<unknown>, done: Callback = () => {}) => callbackify(() => outcome)(done)
    return Object.assign(store, {
      get: (id: string, done: Callback) =>
        this.#store ? callBack(this.#load(id), done) : done(null, this.#sessionOfCookie(id)),
      set: (id: string, session: SessionData, done?: Callback) => callBack(this.#save(id, session), done),
      destroy: (id: string, done?: Callback) => callBack(this.#destroy(id), done),
      touch: undefined,
    })
  }

  /** Returns what was read with the request. express-session asks for it while it starts, and `req.session` needs the answer at once. */
  #sessionOfCookie(id: string): SessionData | null {
    if (id !== this.id) return null // the ID of a cookie that was refused
    const { entry } = this
    return entry === 'unavailable' || this.gone ? sessionIn(null, undefined) : this.#sessionFrom(entry, this.#stored)
  }

  /** Reads a session for a handler: this one again, or another. */
  async #load(id: string): Promise<SessionData | null> {
    if (!this.isAvailable) throw storeUnavailable()
    const { entry, data } = await this.#parts.records.read(sessionKey(id))
    if (id === this.id) this.#stored = data
    return this.#sessionFrom(entry, data)
  }

  /** A session without data is alive by its record. Data serve the account of the record, or of a login that this request has destroyed. */
  #sessionFrom(entry: Entry, text: string | null): SessionData | null {
    const record = entry.state === 'live' ? entry.record : this.lastRecord
    return text === null && !isAlive(entry) ? null : sessionIn(text, accountOf(record))
  }

  /** Saves the session of this request, and no other. */
  async #save(id: string, session: SessionData): Promise<void> {
    const { config, records, now } = this.#parts
    const text = textOf(session, accountOf(this.lastRecord))
    if (this.#isForeignForm && text !== null)
      config.log.warn('session:cross_site', 'A form of another site begins no session')
    if (id !== this.id || this.#isReadOnly || text === this.#stored) return
    try {
      if (!this.isAvailable) throw storeUnavailable()
      if (text === null) await records.deleteData(sessionKey(id))
      else await records.saveData(sessionKey(id), text, lifetimeOf(this.record, now(), config), this.#isNew)
      this.#stored = text
      this.#isNew = text === null && !isAlive(this.entry)
    } catch (error) {
      if (isStoreUnavailable(error)) {
        // the response may have ended, so no error can be sent to the browser
        publish('degraded', { operation: 'save', outcome: 'not_saved', reason: 'store_unavailable' })
        config.log.warn('store:save', 'A session could not be saved')
      }
      throw error
    }
  }

  /** For `destroy()` and `regenerate()`, which are no logout. A session that has moved is left to its other request. */
  async #destroy(id: string): Promise<void> {
    const { records, config } = this.#parts
    if (id !== this.id) return records.remove(sessionKey(id))
    if (this.gone) return
    if (isLoggedIn(this.record)) config.log.warn('session:destroy', 'destroy() ended a login')
    await records.remove(sessionKey(id))
    this.destroyed = this.lastRecord
    this.#goOnWith(undefined, { state: 'none' }, null)
  }

  async begin({ id, data, account }: NextSession): Promise<void> {
    const { records, config } = this.#parts
    this.runExpressSession()
    const served = accountOf(this.lastRecord)
    const before = dataIn(sessionIn(this.#stored, served))
    const mine = dataIn(this.#req.session) // with the changes of this request
    const taken = dataIn(sessionIn(data, account)) // other tabs may have saved since this request began
    const next = served === undefined || served === account ? withChanges(before, mine, taken) : taken
    this.#goOnWith(id, { state: 'none' }, null)
    this.#putIntoRequest({ ...sessionIn(null, undefined), ...next })
    const text = textOf(this.#req.session, account)
    const seconds = account === undefined ? config.anonymousIdleSeconds : config.idleSeconds
    if (text !== null) await records.saveData(sessionKey(id), text, seconds, true)
    this.#stored = text
  }

  async adopt(id: string): Promise<void> {
    const { entry, data } = await this.#parts.records.read(sessionKey(id))
    this.runExpressSession()
    this.#goOnWith(id, entry, data)
    this.#putIntoRequest(sessionIn(data, accountOf(this.record)))
  }

  async leave(cookie: LeftCookie): Promise<void> {
    this.#left = cookie
    this.#goOnWith(undefined, { state: 'none' }, null)
    if (this.#store) this.#putIntoRequest(sessionIn(null, undefined))
    beforeHeaders(this.#res, () => this.#finishCookie())
  }

  /** Draws the ID of a session that the site begins. */
  #drawId(): string {
    const id = newSessionId()
    this.#goOnWith(id, this.entry, null)
    this.#isNew = true
    return id
  }

  /** The request goes on with another session, or with none. */
  #goOnWith(id: string | undefined, entry: Entry | 'unavailable', stored: string | null): void {
    this.id = id
    this.#isNew = false
    this.#stored = stored
    this.key = id === undefined ? undefined : sessionKey(id)
    if (this.isAvailable) this.entry = entry
  }

  /** Makes `req.session` from the data, with an ID if there is none. */
  #putIntoRequest(session: SessionData): void {
    Object.assign(this.#req, { sessionID: this.id ?? this.#drawId() })
    this.#store?.createSession(this.#req, session)
  }

  /** Does the browser or another response have a session that this response must not replace? Then it changes neither the store nor the cookie. */
  get #isReadOnly(): boolean {
    return this.#isForeignForm || this.#left === 'keep_cookie' || this.gone !== undefined
  }

  /** Completes, drops or takes back the cookie of express-session, which sets no secure one behind a proxy that is not trusted. May run again. */
  #finishCookie(): void {
    const { config } = this.#parts
    const { session: name } = config.cookies
    const value = takeCookie(this.#res, name)
    if (value && this.#hasSession()) writeCookie(this.#res, config, name, value, this.#cookieSeconds())
    else if (this.#left === 'drop_cookie') writeCookie(this.#res, config, name, '', 0)
    else return
    makePrivate(this.#res)
  }

  /** Is there a session to send a cookie of? */
  #hasSession(): boolean {
    if (!this.isAvailable || this.#isReadOnly) return false
    return isAlive(this.entry) || textOf(this.#req.session ?? {}, undefined) !== null
  }

  /** How long the browser keeps the cookie, in seconds: as the site says, but not longer than the session may live. */
  #cookieSeconds(): number {
    const { config, now } = this.#parts
    const most = (this.record?.since ?? now()) + config.absoluteSeconds - now()
    const maxAge = this.#req.session?.cookie.maxAge
    return typeof maxAge === 'number' ? Math.min(Math.ceil(maxAge / 1000), most) : most
  }
}
