/**
 * A session of `sso.session`. Its values are read with the request. express-session runs when a handler first touches `req.session`, and does
 * the rest: object, changes, cookie. A listener of ours writes the attributes of its cookie, which handlers cannot change.
 */
import { RedisStore } from 'connect-redis'
import type { Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import type { Config } from '../../config'
import { type Entry, isLoggedIn, lifetimeOf } from '../../decide/record'
import { accountOf } from '../../storage/account-index'
import type { Records } from '../../storage/records'
import { isStoreUnavailable, newSessionId, sessionKey, storeUnavailable } from '../../storage/site-store'
import { publish } from '../hooks'
import { beforeHeaders, makePrivate } from '../http/response-headers'
import { type NextSession, RequestSession } from './request-session'
import { dataIn, parsed, type SiteData, sessionIn, textOf, withChanges } from './session-data'

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
  readonly entry: Entry | 'unavailable'
  readonly data: string | null
  readonly hadCookie: boolean
  /** May the request begin a session? */
  readonly mayBegin: boolean
}

const SLOT: unique symbol = Symbol('express-sso2.session')

/** Returns the session that `sso.session` has given a request. */
export const attachedSession = (req: object): OwnSession | undefined => (req as { [SLOT]?: OwnSession })[SLOT]

const NAMES = ['session', 'sessionID', 'sessionStore'] as const
/** Properties of the request that run express-session when a handler first touches them. All requests share these functions. */
const LAZY: PropertyDescriptorMap = Object.fromEntries(
  NAMES.map((name) => [
    name,
    {
      configurable: true,
      enumerable: true,
      get(this: Request) {
        return attachedSession(this)?.open()[name]
      },
      set(this: Request, value: unknown) {
        Object.assign(attachedSession(this)?.open() ?? {}, { [name]: value })
      },
    },
  ]),
)

/** The session of one request. */
export class OwnSession extends RequestSession {
  readonly isExternal = false
  readonly #parts: SessionParts
  readonly #req: Request
  readonly #res: Response
  readonly #mayBegin: boolean
  /** `undefined` until express-session runs. */
  #store: Sso2Store | undefined
  #id: string | undefined
  /** ID of the session that follows, once {@link nextKey} has drawn it. */
  #nextId: string | undefined
  /** Stored text that was read with the request, until express-session takes it. */
  #read: string | null | undefined
  /** Stored text of the session when this request got it. */
  #before: string | null
  /** Has the store data of the session? */
  hasData: boolean
  #isNew = false
  /** `keep_cookie`: another response may have changed the browser's cookie. `drop_cookie`: unless the site begins another session. */
  #cookie: 'keep_cookie' | 'drop_cookie' | undefined

  /** Attaches the session to its request, with `req.session` and its companions, which are made when a handler first touches them. */
  constructor(parts: SessionParts, req: Request, res: Response, found: FoundSession) {
    const { id, entry, data, hadCookie, mayBegin } = found
    super(id === undefined ? undefined : sessionKey(id), entry, hadCookie)
    this.#parts = parts
    this.#req = req
    this.#res = res
    this.#mayBegin = mayBegin
    this.#id = id
    this.#read = data
    this.#before = data
    this.hasData = data !== null
    Object.defineProperty(req, SLOT, { value: this })
    Object.defineProperties(req, LAZY)
  }

  get id(): string | undefined {
    return this.#id
  }

  /** Runs express-session, once. @returns the request, whose properties are plain from now on */
  open(): Request {
    if (this.#store) return this.#req
    beforeHeaders(this.#res, () => this.#finishCookie()) // before express-session's listener, because listeners run in reverse order
    for (const name of NAMES)
      Object.defineProperty(this.#req, name, { configurable: true, enumerable: true, writable: true, value: undefined })
    const { config, client } = this.#parts
    const store = new Sso2Store(client, `${config.prefix}sess:`, this)
    this.#store = store
    const handler: RequestHandler = session({
      name: config.cookies.session,
      secret: config.sessionSecrets(),
      store,
      genid: () => this.#newId(),
      cookie: { sameSite: 'lax' }, // express-session sends no secure cookie behind a proxy that is not trusted, so the listener adds it
      resave: false,
      saveUninitialized: false,
    })
    handler(this.#req, this.#res, () => {})
    this.#read = undefined
    return this.#req
  }

  #newId(): string {
    const id = this.#nextId ?? newSessionId()
    this.#nextId = undefined
    this.#isNew = true
    this.#id = id
    this.key = sessionKey(id)
    return id
  }

  /** Returns the session that was read with the request, when express-session begins. `undefined` later. */
  takeRead(id: string): session.SessionData | null | undefined {
    const text = this.#read
    this.#read = undefined
    if (text === undefined) return undefined
    if (id !== this.#id) return null // the ID of a cookie that was refused
    if (this.entry === 'unavailable' || this.gone) return sessionIn(null, undefined)
    return storedSession(this.entry, text)
  }

  /** Reads a session: this one again, or another. */
  async load(id: string): Promise<session.SessionData | null> {
    if (!this.isAvailable) throw storeUnavailable()
    const { entry, data } = await this.#parts.records.read(sessionKey(id))
    if (id !== this.#id) return storedSession(entry, data)
    this.#before = data
    return storedSession(entry, data, accountOf(this.lastRecord))
  }

  /** Saves the session of this request, and no other. */
  async save(id: string, sess: session.SessionData): Promise<void> {
    const { config, now } = this.#parts
    const text = textOf(sess, accountOf(this.lastRecord))
    if (!this.#mayBegin && text !== null)
      config.log.warn('session:cross_site', 'A form of another site begins no session')
    if (id !== this.#id || !this.#mayBegin || this.#cookie === 'keep_cookie' || this.gone) return
    if (text === null && !this.hasData) return
    try {
      if (!this.isAvailable) throw storeUnavailable()
      await this.#write(text, lifetimeOf(this.record, now(), config))
    } catch (error) {
      if (isStoreUnavailable(error)) reportNotSaved(config) // the response has ended, so no error can be sent to the browser
      throw error
    }
  }

  async #write(text: string | null, seconds: number): Promise<void> {
    const { records } = this.#parts
    const { key = '' } = this
    const isNew = this.#isNew && !isAlive(this.entry) // a session with a record is not new, and may have ended meanwhile
    if (text === null) await records.deleteData(key)
    else await records.saveData(key, text, seconds, isNew)
    this.hasData = text !== null
    if (this.hasData) this.#isNew = false
  }

  /** For `destroy()` and `regenerate()`, which are no logout. A session that has moved is left to its other request. */
  async destroy(id: string): Promise<void> {
    const { records, config } = this.#parts
    const key = sessionKey(id)
    if (key !== this.key) return records.remove(key)
    if (this.gone) return
    if (isLoggedIn(this.record)) config.log.warn('session:destroy', 'destroy() ended a login')
    await records.remove(key)
    this.destroyed = this.record
    this.#forget()
  }

  nextKey(): string {
    this.#nextId ??= newSessionId()
    return sessionKey(this.#nextId)
  }

  async begin({ data, account, keepsData }: NextSession): Promise<void> {
    const { anonymousIdleSeconds, idleSeconds } = this.#parts.config
    const taken = dataIn(sessionIn(data, account))
    const current = this.#store && this.#req.session
    const kept = current ? withChanges(parsed(this.#before), dataIn(current), taken) : taken
    this.#generate(keepsData ? kept : {})
    const text = textOf(this.#req.session, account)
    this.#before = text
    if (text !== null) await this.#write(text, account === undefined ? anonymousIdleSeconds : idleSeconds)
  }

  async adopt(id: string, records: Records): Promise<void> {
    const { entry, data } = await records.read(sessionKey(id))
    this.#nextId = id
    this.#generate(dataIn(sessionIn(data, accountIn(entry))))
    this.#isNew = false
    this.entry = entry
    this.#before = data
    this.hasData = data !== null
  }

  async leave(cookie: 'keep_cookie' | 'drop_cookie'): Promise<void> {
    this.#forget()
    this.#cookie = cookie
    this.#store?.generateFor(this.#req)
    beforeHeaders(this.#res, () => this.#finishCookie())
  }

  #generate(data: SiteData): void {
    const id = this.#nextId
    this.#nextId = undefined // or the session that opening begins would have it, whose cookie express-session does not send
    this.#forget()
    this.open()
    this.#nextId = id
    this.#store?.generateFor(this.#req)
    Object.assign(this.#req.session, data)
  }

  #forget(): void {
    this.key = undefined
    this.entry = this.isAvailable ? { state: 'none' } : this.entry
    this.hasData = false
    this.#read = this.#store ? undefined : null
    this.#before = null
    this.#cookie = undefined
  }

  /** Sends, completes or drops the session cookie, after express-session has decided by its own rules. May run again. */
  #finishCookie(): void {
    const { cookies, isSecure } = this.#parts.config
    const lines = [this.#res.getHeader('set-cookie') ?? []].flat().map(String)
    const own = lines.find((line) => line.startsWith(`${cookies.session}=`))
    let start: string | undefined
    if (own !== undefined && this.#sendsCookie()) start = `${own.split(';', 1)[0]}; Path=/${this.#expiresOf(own)}`
    else if (this.#cookie === 'drop_cookie' && this.hadCookie)
      start = `${cookies.session}=; Path=/; Expires=${new Date(0).toUTCString()}`
    if (start === undefined && own === undefined) return
    const others = lines.filter((line) => line !== own)
    const sent = start === undefined ? [] : [`${start}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`]
    this.#res.setHeader('set-cookie', [...others, ...sent])
    if (start !== undefined) makePrivate(this.#res)
  }

  #sendsCookie(): boolean {
    if (!this.#mayBegin || this.#cookie === 'keep_cookie' || this.gone || !this.isAvailable) return false
    return isAlive(this.entry) || textOf(this.#req.session ?? {}, undefined) !== null
  }

  /** When the site says so, or with the session. With `expires: false`, when the browser closes. */
  #expiresOf(line: string): string {
    const end = ((this.record?.since ?? this.#parts.now()) + this.#parts.config.absoluteSeconds) * 1000
    const [, stated] = /; Expires=([^;]+)/i.exec(line) ?? []
    if (stated === undefined && Object(this.#req.session.cookie).expires === false) return ''
    return `; Expires=${new Date(stated === undefined ? end : Math.min(Date.parse(stated), end)).toUTCString()}`
  }
}

type Callback = (error?: unknown, sess?: session.SessionData | null) => void

/**
 * The store of `req.session`, one for each request that touches its session. connect-redis lists the sessions. `touch` does
 * nothing, and so at once that express-session need not split the response: the lifetime is renewed with the record.
 */
class Sso2Store extends RedisStore {
  readonly #session: OwnSession

  /** @param client ioredis, or memory @param prefix of the keys of session data */
  constructor(client: unknown, prefix: string, own: OwnSession) {
    super({ client, prefix, disableTouch: true })
    this.#session = own
  }

  override async get(id: string, done: Callback = () => {}): Promise<void> {
    const read = this.#session.takeRead(id)
    if (read !== undefined) return done(null, read)
    await call(this.#session.load(id), done)
  }
  override async set(id: string, sess: session.SessionData, done: Callback = () => {}): Promise<void> {
    await call(this.#session.save(id, sess), done)
  }
  override async destroy(id: string, done: Callback = () => {}): Promise<void> {
    await call(this.#session.destroy(id), done)
  }

  /** Gives a request a new session object. express-session puts `generate` on its store, which its types leave out. */
  generateFor(req: Request): void {
    const { generate }: { generate?: (req: Request) => void } = Object(this)
    generate?.(req)
  }
}

/** Passes the outcome to a callback, whose own errors are not caught here. */
const call = (outcome: Promise<void> | Promise<session.SessionData | null>, done: Callback): Promise<void> =>
  outcome.then(
    (found) => void setImmediate(done, null, found || null),
    (error: unknown) => void setImmediate(done, error),
  )

function reportNotSaved({ log }: Config): void {
  publish('degraded', { operation: 'save', outcome: 'not_saved', durationMs: 0, reason: 'store_unavailable' })
  log.warn('store:save', 'A session could not be saved')
}

const isAlive = (entry: Entry | 'unavailable') =>
  entry !== 'unavailable' && (entry.state === 'live' || entry.state === 'empty')

/** Returns the account that the data of a session serve. */
const accountIn = (entry: Entry): string | undefined => (entry.state === 'live' ? accountOf(entry.record) : undefined)

/** A session without data is alive by its record. */
const storedSession = (entry: Entry, text: string | null, account = accountIn(entry)) =>
  text === null && !isAlive(entry) ? null : sessionIn(text, account)
