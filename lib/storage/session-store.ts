/**
 * The store of `req.session`: kept by connect-redis, read together with the SSO record, refusing dead session IDs.
 * A live session may have no data at all: its record alone keeps it.
 */
import { RedisStore } from 'connect-redis'
import type { Request } from 'express'
import session from 'express-session'
import { type Records, sessionKey } from './records'

/** Lives of sessions, in seconds, and the time in seconds since 1970. */
export interface SessionLives {
  readonly anonymousIdleSeconds: number
  readonly idleSeconds: number
  readonly absoluteSeconds: number
  readonly isSecure: boolean
  now(): number
}

/**
 * Our cookie. `expires` stays null so that express-session never sends it again by itself: a late answer would bring back
 * an old ID. `secure` stays false because the site's address is configuration, whatever the last hop spoke.
 */
class SiteCookie extends session.Cookie {
  readonly #lives: SessionLives
  readonly since: number
  /** Does what is saved in the session belong to a login? */
  readonly isLoggedIn: boolean
  /** What was read with it; private, so that printing the session does not show it. */
  readonly #loaded: Loaded | undefined
  constructor(lives: SessionLives, since: number, isLoggedIn: boolean, loaded?: Loaded) {
    super()
    this.isLoggedIn = isLoggedIn
    this.#loaded = loaded
    this.#lives = lives
    this.since = since
    this.httpOnly = true
    this.sameSite = 'lax'
    this.path = '/'
  }
  /** What the store read for this session; `undefined` for one that begins now. */
  static loadedWith(cookie: unknown): Loaded | undefined {
    return cookie instanceof SiteCookie ? cookie.#loaded : undefined
  }
  /** How long the session's data lives unused, in seconds. */
  get idleSeconds(): number {
    return idleOf(this.#lives, this.isLoggedIn)
  }
  /** Until when, in seconds since 1970, the browser is to keep it. */
  get until(): number {
    return this.since + this.#lives.absoluteSeconds
  }
  /** What `Set-Cookie` says. */
  get data(): object {
    const expires = new Date(this.until * 1000)
    return { path: '/', httpOnly: true, sameSite: 'lax', secure: this.#lives.isSecure, expires }
  }
}

/** The cookie of a session that follows on one that has ended: forgotten at once, unless there is something in the new one. */
class EndedCookie extends SiteCookie {
  readonly #hasData: () => boolean
  constructor(lives: SessionLives, hasData: () => boolean) {
    super(lives, lives.now(), false)
    this.#hasData = hasData
  }
  override get until(): number {
    return this.#hasData() ? super.until : 0
  }
}

const SESSION_ID = /^[A-Za-z0-9_-]{43}$/
const RENEW_EVERY_SECONDS = 60
const MAX_RENEWED = 100_000

/** What was read for a request. */
export interface Loaded {
  readonly key: string
  readonly record: string | null
}

/** @see the head of the file */
export class SsoSessionStore extends session.Store {
  /** Put here by express-session: gives a request a new session. */
  declare generate: (req: Request) => void
  readonly #records: Records
  readonly #lives: SessionLives
  readonly #data: RedisStore
  readonly #withData = new Set<string>()
  #renewed = new Set<string>()
  #renewedSince = 0

  constructor(records: Records, lives: SessionLives) {
    super()
    this.#records = records
    this.#lives = lives
    this.#data = new RedisStore({
      client: this.#client(),
      prefix: '',
      serializer: serializer(lives),
      ttl: ({ cookie }) => (cookie instanceof SiteCookie ? cookie.idleSeconds : lives.anonymousIdleSeconds),
    })
  }

  /** What `get` found for this request; `undefined` when the browser had no live session. */
  loadedFor(req: Request): Loaded | undefined {
    return SiteCookie.loadedWith(req.session?.cookie)
  }

  /** A cookie for a session that begins now. */
  freshCookie(isLoggedIn: boolean): session.Cookie {
    return new SiteCookie(this.#lives, this.#lives.now(), isLoggedIn)
  }

  /** A cookie for what comes after a session that has ended. @param hasData has the site put anything into it? */
  endedCookie(hasData: () => boolean): session.Cookie {
    return new EndedCookie(this.#lives, hasData)
  }

  override get = (id: string, callback: (error: unknown, sess?: session.SessionData | null) => void): void => {
    this.#read(id).then(
      (sess) => callback(null, sess),
      (error: unknown) => callback(error),
    )
  }

  /** An ID that cannot be ours costs no command. */
  async #read(id: string): Promise<session.SessionData | null> {
    if (!SESSION_ID.test(id)) return null
    const key = sessionKey(id)
    const { data, record } = await this.#records.readBoth(key)
    return this.#inflate(key, data, record)
  }

  #inflate(key: string, data: string | null, record: string | null): session.SessionData | null {
    const isLive = record?.startsWith('{') === true
    if (!isLive && (data === null || record !== null)) return null
    const isIn = isLoggedIn(record)
    const loaded = { key, record }
    const sess = data === null ? emptySession(this.#lives, isIn, loaded) : parseData(data, this.#lives, isIn, loaded)
    if (!sess) return null
    if (data !== null) this.#withDataAdd(key)
    this.#renew(key, record, isIn)
    return sess
  }

  override createSession = (req: Request, sess: session.SessionData): session.Session & session.SessionData => {
    const { cookie } = sess
    const created = super.createSession(req, Object.assign(sess, { cookie: { originalMaxAge: null } }))
    created.cookie = cookie as session.Cookie // Cookie of express-session, made by parseData
    return created
  }

  override set = (id: string, sess: session.SessionData, callback?: (error?: unknown) => void): void => {
    const key = sessionKey(id)
    const isEmpty = Object.keys(sess).every((name) => name === 'cookie')
    if (!isEmpty) this.#withDataAdd(key)
    if (!isEmpty) this.#data.set(key, sess, callback)
    else if (this.#withData.delete(key)) this.#data.destroy(key, callback)
    else callback?.()
  }

  override destroy = (id: string, callback?: (error?: unknown) => void): void => {
    this.#records.end(sessionKey(id)).then(
      () => callback?.(),
      (error: unknown) => callback?.(error),
    )
  }

  #withDataAdd(key: string): void {
    if (this.#withData.size >= MAX_RENEWED) this.#withData.clear()
    this.#withData.add(key)
  }

  /** Renews the expiry at most once a minute, in the background: no command of a warm request waits for it. */
  #renew(key: string, record: string | null, isIn: boolean): void {
    const now = this.#lives.now()
    if (now - this.#renewedSince >= RENEW_EVERY_SECONDS || this.#renewed.size >= MAX_RENEWED) {
      this.#renewed = new Set()
      this.#renewedSince = now
    }
    if (this.#renewed.has(key)) return
    this.#renewed.add(key)
    const since = Number(/"since":(\d+)/.exec(record ?? '')?.[1] ?? now)
    const left = since + this.#lives.absoluteSeconds - now
    this.#records.renew(key, Math.max(1, Math.min(idleOf(this.#lives, isIn), left))).catch(() => {})
  }

  /** The few commands that connect-redis uses here; `set` refuses dead IDs. */
  #client() {
    return {
      set: (key: string, value: string, _ex: 'EX', seconds: number) =>
        this.#records.saveData(this.#records.dataKey(key), key, value, seconds),
      del: ([key = '']: string[]) => this.#records.deleteData(key),
    }
  }
}

const idleOf = (lives: SessionLives, isLoggedIn: boolean) =>
  isLoggedIn ? lives.idleSeconds : lives.anonymousIdleSeconds

const isLoggedIn = (record: string | null) => record?.includes('"status":"loggedin"') === true

function emptySession(lives: SessionLives, isIn: boolean, loaded: Loaded): session.SessionData {
  return { cookie: new SiteCookie(lives, lives.now(), isIn, loaded) }
}

/** Session data as stored: the cookie is only the time the session began. */
function serializer(lives: SessionLives) {
  return {
    stringify: (sess: session.SessionData) => {
      const { cookie } = sess
      const { since, isLoggedIn } = cookie instanceof SiteCookie ? cookie : new SiteCookie(lives, lives.now(), false)
      return JSON.stringify({ ...sess, cookie: { since, ...(isLoggedIn ? { isLoggedIn } : {}) } })
    },
    parse: (text: string) => JSON.parse(text),
  }
}

/** Reads stored data; garbage and sessions past the absolute limit are nothing. */
function parseData(text: string, lives: SessionLives, isIn: boolean, loaded: Loaded): session.SessionData | undefined {
  try {
    const { cookie, ...data } = JSON.parse(text)
    const { since, isLoggedIn } = cookie
    if (typeof since !== 'number' || lives.now() - since >= lives.absoluteSeconds) return undefined
    if (isLoggedIn && !isIn) return undefined // an account's data whose login is lost must not reach the next account
    return { ...data, cookie: new SiteCookie(lives, since, isIn, loaded) }
  } catch {
    return undefined
  }
}
