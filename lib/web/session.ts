/** The only place that touches express-session: it loads, renews and saves; a store that does not answer never fails a page. */
import { randomBytes } from 'node:crypto'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import type { Config } from '../config'
import { type Records, sessionKey } from '../storage/records'
import { SsoSessionStore } from '../storage/session-store'
import { dropCookie, isDoubled, readCookie } from './cookies'
import { keepPrivate, keepPrivateIf } from './private'

/** What is known of a request's session. */
export interface SessionState {
  /** Key of the session in the store; `undefined` when the browser has no live session. */
  readonly key: string | undefined
  /** The record's text as read. */
  readonly raw: string | null
  readonly isAvailable: boolean
  /** Where the store is away: the key that the browser's cookie leads to. */
  readonly unreadKey?: string | undefined
}

const NOT_SAVED: SessionState = { key: undefined, raw: null, isAvailable: true }
const unread = (unreadKey: string | undefined): SessionState => ({
  key: undefined,
  raw: null,
  isAvailable: false,
  unreadKey,
})

/** `req.session` for one site. */
export class SiteSessions {
  readonly #config: Config
  readonly #records: Records
  readonly #store: SsoSessionStore
  readonly #inner: RequestHandler
  readonly #plainGenerate: (req: Request) => void
  readonly #presetIds = new WeakMap<object, string>()
  readonly #unavailable = new WeakMap<object, SessionState>()
  /** `OPTIONS *` has no path, so express-session passes it by. */
  readonly #notPages = new WeakSet<object>()
  /** Requests whose session is the site's own, with data that belongs to a login that has ended. */
  readonly #ended = new WeakSet<object>()

  /** @param now seconds since 1970 */
  constructor(config: Config, records: Records, now: () => number) {
    const { anonymousIdleSeconds, idleSeconds, absoluteSeconds, isSecure } = config
    const store = new SsoSessionStore(records, { anonymousIdleSeconds, idleSeconds, absoluteSeconds, isSecure, now })
    this.#config = config
    this.#records = records
    this.#store = store
    this.#inner = session({
      name: config.cookies.session,
      secret: config.sessionSecrets(),
      store,
      resave: false,
      saveUninitialized: false,
      genid: (req) => this.#presetIds.get(req) ?? randomBytes(32).toString('base64url'),
    })
    this.#plainGenerate = store.generate.bind(store)
    store.generate = (req: Request) => this.#generate(req, false) // every new session gets our cookie, whoever asks for it
  }

  /** `sso.session`. */
  readonly handler: RequestHandler = (req, res, next) => {
    const { session: name } = this.#config.cookies
    if (isDoubled(req, name)) dropCookie(res, this.#config, name)
    withOnlyOurCookie(req, name, this.#inner, res, (error) => {
      if (error === undefined && req.session) {
        if (!this.#store.loadedFor(req)) keepPrivateIf(res, () => this.#hasData(req))
        return next()
      }
      if (error === undefined) this.#notPages.add(req)
      else this.#unavailable.set(req, unread(req.sessionID && sessionKey(req.sessionID)))
      this.#generate(req, false)
      Object.assign(req, { sessionID: undefined }) // so that express-session neither saves nor sets a cookie
      next()
    })
  }

  /** What the request's session is; reads the record where the site has a session of its own. */
  async stateOf(req: Request): Promise<SessionState> {
    const away = this.#unavailable.get(req)
    if (away) return away
    if (this.#notPages.has(req)) return NOT_SAVED
    if (!req.session)
      throw new Error('express-sso2: mount sso.session, or a session of your own, before sso.router and sso.middleware')
    if (!this.#isOurs(req)) {
      const state = await foreignState(req, this.#records)
      if (state === NOT_SAVED && 'sso2' in req.session) this.#ended.add(req)
      return state
    }
    const loaded = this.#store.loadedFor(req)
    return loaded ? { key: loaded.key, raw: loaded.record, isAvailable: true } : this.#stateOfStranger()
  }

  /** New session ID; the old one must be buried before. @param data moves along */
  async renew(req: Request, data: object, isLoggedIn: boolean): Promise<string> {
    const kept = this.#ended.delete(req) ? {} : data
    if (req.res) keepPrivate(req.res)
    if (this.#isOurs(req)) this.#generate(req, isLoggedIn)
    else await call((done) => req.session.regenerate(done))
    Object.assign(req.session, kept, this.#isOurs(req) ? {} : { sso2: true }) // a foreign store keeps no empty session
    if (this.#hasData(req)) await call((done) => req.session.save(done))
    return req.sessionID
  }

  /** The session has ended: the request goes on with an empty one, and unless the site fills it the browser forgets its cookie. */
  async end(req: Request): Promise<void> {
    await this.renew(req, {}, false)
    if (!this.#isOurs(req)) return
    req.session.cookie = this.#store.endedCookie(() => this.#hasData(req)) as session.Session['cookie']
  }

  /** Gives this request the session that another request of the same browser got. */
  adopt(req: Request, sessionId: string, isLoggedIn: boolean): void {
    if (!this.#isOurs(req)) return
    if (req.res) keepPrivate(req.res)
    this.#presetIds.set(req, sessionId)
    this.#generate(req, isLoggedIn)
    this.#presetIds.delete(req)
  }

  /** The site's own data in `req.session`. */
  dataOf(req: Request): object {
    const { cookie: _cookie, ...data } = { ...req.session }
    return data
  }

  /** No landing could be stored while the store is away: then a stranger is not sent on the trip, and somebody must ask again. */
  #stateOfStranger(): SessionState {
    if (this.#records.isAvailable) return NOT_SAVED
    this.#records.ping().catch(() => {})
    return unread(undefined)
  }

  #hasData(req: Request): boolean {
    return Object.keys(this.dataOf(req)).length > 0
  }

  #isOurs(req: Request): boolean {
    return Object.is(req.sessionStore, this.#store)
  }

  #generate(req: Request, isLoggedIn: boolean): void {
    if (req.res && this.#store.loadedFor(req)) keepPrivate(req.res)
    this.#plainGenerate(req)
    req.session.cookie = this.#store.freshCookie(isLoggedIn) as session.Session['cookie']
  }
}

/** The site's session alone is no session of ours: without a living record the browser gets a new one. */
async function foreignState(req: Request, records: Records): Promise<SessionState> {
  if (!req.headers.cookie || typeof req.sessionID !== 'string') return NOT_SAVED
  const key = sessionKey(req.sessionID)
  try {
    const raw = await records.read(key)
    return raw?.startsWith('{') ? { key, raw, isAvailable: true } : NOT_SAVED
  } catch {
    return unread(key)
  }
}

/** express-session sees our cookie alone, read strictly: two of one name are none, and no odd spelling is ours. */
function withOnlyOurCookie(req: Request, name: string, inner: RequestHandler, res: Response, done: NextFunction): void {
  const { cookie } = req.headers
  const ours = readCookie(req, name)
  setHeader(req, ours === undefined ? undefined : `${name}=${ours}`)
  let isDone = false
  inner(req, res, (error?: unknown) => {
    if (isDone) return // express-session reports a failed save at the end of the answer: nobody is left to tell
    isDone = true
    setHeader(req, cookie)
    done(error)
  })
  setHeader(req, cookie)
}

function setHeader(req: Request, cookie: string | undefined): void {
  if (cookie === undefined) delete req.headers.cookie
  else req.headers.cookie = cookie
}

function call(run: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => run((error) => (error ? reject(error) : resolve())))
}
