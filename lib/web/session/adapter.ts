/**
 * express-session, run when a handler first touches `req.session`, `req.sessionID` or `req.sessionStore`. What this room knows of
 * express-session 1.19, each held by a test:
 * - It leaves a request alone that has a `req.session`; while it runs, ours is still undefined.
 * - It looks for a cookie under its name. That is a random one, which nobody knows, so it never finds one, and asks `store.generate` for
 *   a session at once, without a wait: it gets the one that this room has decided on. What has changed in it since is saved at the end
 *   of the answer, through `store.set`, which may refuse.
 * - Its own cookie is sent by a listener on `res.writeHead`, the only thing that it hangs there; that is taken off again. So `DEBUG`
 *   prints no cookie, and no handler makes it send a live one again. One place sends our cookie: `#atHead`, below.
 * - A path that does not begin with `/` (`OPTIONS *`) is none of its business: then the session is made by hand, and not saved by itself.
 * - It calls `next` again when saving at the end fails; nobody is left to hear of it, and the store has told the operator.
 * - `createSession`, `generate`, `regenerate`, `get`, `set` and `destroy` of the store are all that `req.session` calls; `generate` is put on
 *   the store by express-session, and replaced after that. `touch` is not there, so an unchanged session costs no command.
 * - `Session` keeps its request as `req`, and `destroy` deletes `req.session`, while a site may set it to null.
 */
import { randomBytes } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import session from 'express-session'
import onHeaders from 'on-headers'
import type { Config } from '../../config'
import { cookieEnd } from '../../decide/session-data'
import { Sso2SetupError } from '../../errors'
import { type CurrentSession, isFilled, type RequestSession, type SessionOpener, slotOf } from './request-session'
import type { SessionCookie } from './session-cookie'
import { expiresOf, maxAgeOf, newSessionId, type SessionStore } from './store'

/** @see the head of the file */
export class Adapter implements SessionOpener {
  readonly #config: Config
  readonly #store: SessionStore
  readonly #cookie: SessionCookie
  readonly #now: () => number
  readonly #inner: RequestHandler

  /** @param now seconds since 1970 */
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

  /** The first touch. */
  open(slot: RequestSession): void {
    if (slot.isOpen) return
    slot.isOpen = true
    const current = this.#settled(slot.current)
    if (current !== slot.current) slot.moveTo(current, slot.target)
    this.#run(slot)
    if (!slot.req.session) this.present(slot)
    this.watch(slot)
  }

  /** A session that cannot be had under its ID begins anew under another one. */
  #settled(current: CurrentSession): CurrentSession {
    const isLost = current.phase === 'data' && !this.#store.isUsable(current)
    const settled: CurrentSession = isLost
      ? { ...current, phase: 'fresh', id: '', text: null, cookieAction: 'send_if_filled' }
      : current
    return settled.id === '' ? { ...settled, id: newSessionId() } : settled
  }

  #run({ req, res }: RequestSession): void {
    const { writeHead } = res
    this.#inner(req, res, () => {})
    res.writeHead = writeHead
  }

  /** Gives the request a session object for the place where it stands, if it has one already. */
  present(slot: RequestSession): void {
    if (!slot.isOpen) return
    const { req, current } = slot
    Object.assign(req, { sessionStore: this.#store, sessionID: current.id })
    this.#store.createSession(req, this.#store.dataFor(current))
  }

  /** The session that the request comes with; for those who call it again, one that begins now: nothing becomes of the old one. */
  #generate(req: Request): void {
    const slot = slotOf(req)
    if (!slot) throw new Sso2SetupError('This request did not pass through sso.session')
    if (req.sessionID === undefined) this.present(slot)
    else this.#beginAnew(slot)
  }

  #beginAnew(slot: RequestSession): void {
    slot.moveTo(this.freshPlace('send_if_filled'), slot.target)
    this.present(slot)
    this.watch(slot)
  }

  /** A session that begins now. */
  freshPlace(cookieAction: CurrentSession['cookieAction'], id = newSessionId()): CurrentSession {
    return { phase: 'fresh', id, text: null, since: this.#now(), isLoggedIn: false, cookieAction }
  }

  /** Sees to the head of the answer, once for each request; an upgrade, or an empty object in place of an answer, has none. */
  watch(slot: RequestSession): void {
    const { res, current, isWatched } = slot
    if (isWatched || current.cookieAction === 'nothing') return
    if (typeof res.writeHead !== 'function' || typeof res.setHeader !== 'function') return
    slot.isWatched = true
    onHeaders(res, () => this.#atHead(slot))
  }

  #atHead(slot: RequestSession): void {
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
