/**
 * express-session, run when a handler first touches `req.session`, `req.sessionID` or `req.sessionStore`. Facts
 * about express-session 1.19, each covered by a test:
 * - express-session skips a request that has a `req.session`. While express-session runs, `req.session` is still undefined.
 * - express-session looks for a cookie under a name that the adapter chose at random. No browser sends such a cookie, so express-session
 *   asks `store.generate` for a session, synchronously. `generate` returns the session that site-sessions.ts has chosen. The end of the
 *   response saves changes through `store.set`, which may refuse.
 * - express-session sends its own cookie by a listener on `res.writeHead`. The adapter removes that listener, so `DEBUG` prints no cookie,
 *   and no handler makes express-session send a cookie. Only `#onHeaders`, below, sends the session cookie.
 * - express-session skips a path that does not begin with `/` (`OPTIONS *`). Then the adapter makes the session, and the end of the
 *   response does not save the session.
 * - express-session calls `next` again if saving fails. The response has ended then, and the store has logged the failure.
 * - `req.session` calls only `createSession`, `generate`, `regenerate`, `get`, `set` and `destroy` of the store. express-session sets
 *   `generate`, and the adapter replaces it. There is no `touch`, so an unchanged session costs no command.
 * - `Session` keeps its request as `req`. `destroy` deletes `req.session`, while a site may set it to null.
 */
import { randomBytes } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import session from 'express-session'
import onHeaders from 'on-headers'
import type { Config } from '../../config'
import { cookieEnd } from '../../decide/session-data'
import { Sso2SetupError } from '../../errors'
import {
  type CurrentSession,
  isFilled,
  type RequestSession,
  requestSessionOf,
  type SessionOpener,
} from './request-session'
import type { SessionCookie } from './session-cookie'
import { expiresOf, maxAgeOf, newSessionId, type SessionStore } from './store'

/** Runs express-session for the requests of a site. */
export class Adapter implements SessionOpener {
  readonly #config: Config
  readonly #store: SessionStore
  readonly #cookie: SessionCookie
  readonly #now: () => number
  readonly #inner: RequestHandler

  constructor(config: Config, store: SessionStore, cookie: SessionCookie, now: () => number) {
    this.#config = config
    this.#store = store
    this.#cookie = cookie
    this.#now = now
    this.#inner = session({
      name: randomBytes(16).toString('hex'),
      secret: randomBytes(32).toString('hex'),
      store,
      resave: false,
      saveUninitialized: false,
    })
    store.generate = (req: Request) => this.#generate(req)
  }

  open(slot: RequestSession): void {
    if (slot.isOpen) return
    slot.isOpen = true
    const current = this.#settled(slot.current)
    if (current !== slot.current) slot.moveTo(current, slot.target)
    const { req, res } = slot
    const { writeHead } = res
    this.#inner(req, res, () => {})
    res.writeHead = writeHead
    if (!req.session) this.attachSessionObject(slot)
    this.sendCookieBeforeHeaders(slot)
  }

  /** Begins a new session under another ID if the data of the current session cannot be used. */
  #settled(current: CurrentSession): CurrentSession {
    const isLost = current.phase === 'data_only' && !this.#store.isUsable(current)
    const settled: CurrentSession = isLost
      ? { ...current, phase: 'new', id: '', text: null, cookieAction: 'send_if_filled' }
      : current
    return settled.id === '' ? { ...settled, id: newSessionId() } : settled
  }

  /** Gives an opened request the session object of its current session. */
  attachSessionObject(slot: RequestSession): void {
    if (!slot.isOpen) return
    const { req, current } = slot
    Object.assign(req, { sessionStore: this.#store, sessionID: current.id })
    this.#store.createSession(req, this.#store.dataFor(current))
  }

  /** Gives the request its session. A second call begins a new session. The old session is not saved. */
  #generate(req: Request): void {
    const slot = requestSessionOf(req)
    if (!slot) throw new Sso2SetupError('This request did not pass through sso.session')
    const isAgain = req.sessionID !== undefined && slot.current.phase !== 'not_kept'
    if (isAgain) slot.moveTo(this.freshSession('send_if_filled'), slot.target)
    this.attachSessionObject(slot)
    if (isAgain) this.sendCookieBeforeHeaders(slot)
  }

  freshSession(cookieAction: CurrentSession['cookieAction'], id = newSessionId()): CurrentSession {
    return { phase: 'new', id, text: null, since: this.#now(), isLoggedIn: false, cookieAction }
  }

  /** Listens for the response headers, once for each request. An upgrade has no response. */
  sendCookieBeforeHeaders(slot: RequestSession): void {
    const { res, current, hasHeaderListener } = slot
    if (hasHeaderListener || current.cookieAction === 'nothing') return
    if (typeof res.writeHead !== 'function' || typeof res.setHeader !== 'function') return
    slot.hasHeaderListener = true
    onHeaders(res, () => this.#onHeaders(slot))
  }

  #onHeaders(slot: RequestSession): void {
    const { req, res, current, isOpen } = slot
    if (isOpen && !('session' in req)) return // destroyed
    const sess = isOpen ? req.session : undefined
    const isKept = slot.maySave(current.id) && isFilled(sess)
    if (current.cookieAction === 'send' || isKept) this.#cookie.send(res, current.id, this.#endOf(current, sess))
    else if (current.cookieAction === 'send_or_drop') this.#cookie.drop(res)
  }

  #endOf({ since }: CurrentSession, sess: object | null | undefined): number | undefined {
    if (maxAgeOf(sess) === false) return undefined
    const times = { since, wanted: expiresOf(sess), now: this.#now(), systemNow: Date.now() }
    return cookieEnd(times, this.#config)
  }
}
