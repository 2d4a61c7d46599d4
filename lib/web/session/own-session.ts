/**
 * A session of `sso.session`. Its values are read with the request. express-session runs when a handler first touches `req.session`, and does
 * the rest: object, changes, cookie. A listener of ours writes the attributes of its cookie, which handlers cannot change.
 */
import type { Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import type { Config } from '../../config'
import { type Entry, isLoggedIn } from '../../decide/record'
import { LOG_LINES } from '../../log/log-lines'
import { accountOf } from '../../storage/account-index'
import type { Records } from '../../storage/records'
import { isStoreUnavailable, sessionKey, storeUnavailable } from '../../storage/site-store'
import { publish } from '../hooks'
import { appendCookie, beforeHeaders, makePrivate } from '../http/response-headers'
import { attachedSession, type NextSession, RequestSession } from './request-session'
import { newSessionId } from './session-cookie'
import { asStored, dataIn, type SiteData, sessionIn, textOf, withChanges } from './session-data'
import { Sso2Store, type StoreSession } from './store'

/** Parts of the site that a session needs. */
export interface SessionParts {
  readonly config: Config
  readonly records: Records
  /** Client of Redis, or memory. */
  readonly client: unknown
  /** Seconds since 1970. */
  now(): number
  /** Moves the login of a session to another session ID, for `req.session.regenerate()`. */
  moveLogin(session: OwnSession): Promise<void>
}

/** A session as the browser's cookie names it. */
export interface FoundSession {
  readonly id: string | undefined
  /** Key of the session in the store. */
  readonly key: string | undefined
  readonly entry: Entry | 'unavailable'
  readonly data: string | null
  readonly hadCookie: boolean
  /** May the request begin a session? */
  readonly mayBegin: boolean
  /** Is the browser to forget its cookie, because it sent two? */
  readonly dropsCookie?: boolean
}

const NAMES = ['session', 'sessionID', 'sessionStore'] as const
type Name = (typeof NAMES)[number]

/** Properties of the request that run express-session when a handler first touches them. All requests share these functions. */
export const LAZY: PropertyDescriptorMap = Object.fromEntries(
  NAMES.map((name) => [
    name,
    {
      configurable: true,
      enumerable: true,
      get(this: Request) {
        return openSession(this)?.[name]
      },
      set(this: Request, value: unknown) {
        const req = openSession(this)
        if (req) req[name] = value
      },
    },
  ]),
)

function openSession(holder: Request): { [name in Name]: unknown } | undefined {
  const found = attachedSession(holder)
  return found instanceof OwnSession ? found.open() : undefined
}

/** The session of one request. */
export class OwnSession extends RequestSession implements StoreSession {
  readonly isExternal = false
  readonly req: Request
  readonly res: Response
  readonly #parts: SessionParts
  #store: Sso2Store | undefined
  #id: string | undefined
  /** ID of the session that follows, once {@link nextKey} has drawn it. */
  #nextId: string | undefined
  /** Stored text that was read with the request, until express-session takes it. */
  #read: string | null | undefined
  /** Data of the session when this request got them. */
  #before: SiteData = {}
  /** Text that the store has already, so that the end of the response does not save it again. */
  #savedText: string | undefined
  #isOpen = false
  #isNew = false
  #isBeginning = false
  /** `keep`: another response may have changed the browser's cookie. `drop`: unless the site begins another session. */
  #cookie: 'as_it_is' | 'keep' | 'drop' = 'as_it_is'
  #hasListener = false
  readonly #isCrossSite: boolean

  constructor(parts: SessionParts, req: Request, res: Response, found: FoundSession) {
    const { id, key, entry, data, hadCookie, mayBegin, dropsCookie } = found
    super(key, entry, hadCookie)
    this.#parts = parts
    this.req = req
    this.res = res
    this.#id = id
    this.#read = data
    if (!mayBegin) this.#cookie = 'keep'
    this.#isCrossSite = !mayBegin
    if (dropsCookie) {
      this.#cookie = 'drop'
      this.#listen()
    }
    this.hasData = data !== null
  }

  /** Runs express-session, once. @returns the request, whose properties are plain from now on */
  open(): Request {
    const { req, res } = this
    if (this.#isOpen) return req
    this.#isOpen = true
    this.#listen() // before express-session's listener, because listeners run in reverse order
    for (const name of NAMES)
      Object.defineProperty(req, name, { configurable: true, enumerable: true, writable: true, value: undefined })
    const { config, client } = this.#parts
    const { cookies, sessionSecrets, prefix } = config
    this.#store = new Sso2Store(client, `${prefix}sess:`, this)
    const handler: RequestHandler = session({
      name: cookies.session,
      secret: sessionSecrets(),
      store: this.#store,
      genid: () => this.#generateId(this.#isBeginning ? this.#nextId : undefined),
      cookie: { sameSite: 'lax' }, // express-session sends no secure cookie behind a proxy that is not trusted, so the listener adds it
      resave: false,
      saveUninitialized: false,
    })
    handler(req, res, () => {})
    this.#read = undefined
    return req
  }

  #generateId(id = newSessionId()): string {
    this.#isNew = true
    this.#id = id
    this.key = sessionKey(id)
    return id
  }

  takeRead(id: string): session.SessionData | null | undefined {
    const text = this.#read
    this.#read = undefined
    if (text === undefined) return undefined
    if (id !== this.#id) return null // the ID of a cookie that was refused
    if (this.entry === 'unavailable' || this.gone) return sessionIn(null, undefined)
    return this.#sessionOf(id, this.entry, text)
  }

  async load(id: string): Promise<session.SessionData | null> {
    if (!this.isAvailable) throw storeUnavailable()
    const { entry, data } = await this.#parts.records.read(sessionKey(id))
    return this.#sessionOf(id, entry, data)
  }

  /** A session without data is alive by its record. */
  #sessionOf(id: string, entry: Entry, text: string | null): session.SessionData | null {
    if (text === null && !isAlive(entry)) return null
    const sess = sessionIn(text, accountIn(entry))
    if (id === this.#id) this.#before = dataIn(sess)
    return sess
  }

  async save(id: string, sess: session.SessionData): Promise<void> {
    if (this.#isCrossSite && textOf(sess, undefined) !== null)
      this.#parts.config.log.warn('session:cross_site', LOG_LINES.crossSitePost)
    if (this.#cookie === 'keep' || this.gone) return
    const isCurrent = id === this.#id
    const entry = isCurrent ? this.entry : await this.#parts.records.readEntry(sessionKey(id))
    const account = accountIn(entry)
    const text = textOf(sess, account)
    if (isCurrent && (text === null ? !this.hasData : text === this.#savedText)) return
    try {
      if (!this.isAvailable) throw storeUnavailable()
      // a session with a record is not new, and may have ended meanwhile
      const isNew = isCurrent && this.#isNew && !isAlive(entry)
      await this.#write(sessionKey(id), text, account, isNew)
    } catch (error) {
      if (isStoreUnavailable(error)) tellNotSaved(this.#parts.config) // the response has ended, so no error can be sent to the browser
      throw error
    }
    if (!isCurrent) return
    this.hasData = text !== null
    this.#savedText = text ?? undefined
  }

  async #write(key: string, text: string | null, account: string | undefined, isNew: boolean): Promise<void> {
    const { records, config } = this.#parts
    if (text === null) return records.deleteData(key)
    const idle = account === undefined ? config.anonymousIdleSeconds : config.idleSeconds
    await records.saveData(key, text, idle, isNew)
    if (key === this.key) this.#isNew = false
  }

  async destroy(id: string): Promise<void> {
    const { records, config } = this.#parts
    const key = sessionKey(id)
    if (key === this.key && isLoggedIn(this.record)) config.log.info('session:destroy', LOG_LINES.destroyIsNoLogout)
    await records.remove(key)
    if (key === this.key) this.#forget()
  }

  async regenerate(): Promise<void> {
    if (!this.isAvailable) throw storeUnavailable()
    if (this.#cookie === 'keep' || this.gone) return this.leave('keep_cookie')
    if (this.record) return this.#parts.moveLogin(this)
    const { key } = this
    if (key !== undefined && this.hasData) await this.#parts.records.deleteData(key)
    await this.begin({ data: null, account: undefined, keepsData: false })
  }

  nextKey(): string {
    this.#nextId ??= newSessionId()
    return sessionKey(this.#nextId)
  }

  async begin({ data, account, keepsData }: NextSession): Promise<void> {
    const taken = dataIn(sessionIn(data, account))
    const now = this.#isOpen && this.req.session ? asStored(this.req.session) : undefined
    const next = !keepsData ? {} : now === undefined ? taken : withChanges(this.#before, now, taken)
    this.#forget()
    this.open()
    this.#isBeginning = true
    this.#store?.generateFor(this.req)
    this.#isBeginning = false
    this.#nextId = undefined
    Object.assign(this.req.session, next)
    this.#before = next
    const text = textOf(this.req.session, account)
    if (text === null) return
    await this.#write(this.key ?? '', text, account, true)
    this.hasData = true
    this.#savedText = text
  }

  get id(): string | undefined {
    return this.#id
  }

  async adopt(id: string, records: Records): Promise<void> {
    const key = sessionKey(id)
    const { entry, data } = await records.read(key)
    this.#nextId = id
    await this.begin({ data: null, account: undefined, keepsData: false })
    this.#isNew = false
    this.key = key
    this.entry = entry
    const account = accountIn(entry)
    const found = dataIn(sessionIn(data, account))
    Object.assign(this.req.session, found)
    this.#before = found
    this.hasData = data !== null
    this.#savedText = textOf(this.req.session, account) ?? undefined
  }

  async leave(cookie: 'keep_cookie' | 'drop_cookie'): Promise<void> {
    this.#forget()
    this.#cookie = cookie === 'keep_cookie' ? 'keep' : 'drop'
    if (this.#isOpen) this.#store?.generateFor(this.req)
    this.#listen()
  }

  #forget(): void {
    this.key = undefined
    this.entry = this.isAvailable ? { state: 'none' } : this.entry
    this.hasData = false
    this.#read = this.#isOpen ? undefined : null
    this.#savedText = undefined
    this.#before = {}
    this.#cookie = this.#isCrossSite ? 'keep' : 'as_it_is'
  }

  #listen(): void {
    if (this.#hasListener) return
    this.#hasListener = true
    beforeHeaders(this.res, () => this.#finishCookie())
  }

  /** Sends, completes or drops the session cookie, after express-session has decided by its own rules. */
  #finishCookie(): void {
    const { res, req } = this
    const { cookies, isSecure } = this.#parts.config
    const secure = isSecure ? '; Secure' : ''
    const lines = [res.getHeader('set-cookie') ?? []].flat().map(String)
    const own = lines.find((line) => line.startsWith(`${cookies.session}=`))
    const isKept = this.#cookie !== 'keep' && !this.gone && this.isAvailable
    const isFilled = isAlive(this.entry) || (this.#isOpen && req.session && textOf(req.session, undefined) !== null)
    if (own !== undefined && isKept && isFilled) {
      const [value = ''] = own.split(';', 1)
      appendCookie(res, cookies.session, `${value}; Path=/${this.#expiresOf(own)}; HttpOnly; SameSite=Lax${secure}`)
      makePrivate(res)
      return
    }
    if (own !== undefined)
      res.setHeader(
        'set-cookie',
        lines.filter((line) => line !== own),
      )
    if (this.#cookie !== 'drop' || !this.hadCookie) return
    const expired = `${cookies.session}=; Path=/; Expires=${new Date(0).toUTCString()}; HttpOnly; SameSite=Lax`
    appendCookie(res, cookies.session, `${expired}${secure}`)
    makePrivate(res)
  }

  /** Returns when the cookie expires: when the site says so, or with the session. With `expires: false`, when the browser closes. */
  #expiresOf(line: string): string {
    const { record, req } = this
    const end = ((record?.since ?? this.#parts.now()) + this.#parts.config.absoluteSeconds) * 1000
    const [, stated] = /; Expires=([^;]+)/i.exec(line) ?? []
    if (stated === undefined && Object(req.session.cookie).expires === false) return ''
    return `; Expires=${new Date(stated === undefined ? end : Math.min(Date.parse(stated), end)).toUTCString()}`
  }
}

function tellNotSaved({ log }: Config): void {
  publish('degraded', { operation: 'save', outcome: 'not_saved', durationMs: 0, reason: 'store_unavailable' })
  log.warn('store:save', LOG_LINES.sessionNotSaved)
}

const isAlive = (entry: Entry | 'unavailable') =>
  entry !== 'unavailable' && (entry.state === 'live' || entry.state === 'empty')

/** Returns the account that the data of a session serve. */
const accountIn = (entry: Entry | 'unavailable'): string | undefined =>
  entry !== 'unavailable' && entry.state === 'live' ? accountOf(entry.record) : undefined
