/**
 * `sso.session`, and all changes that the package makes to the session of a request: load, renew, end, adopt.
 * Only this folder uses express-session (adapter.ts). Login records are written in lib/web/stored-record.ts.
 * State of a request: request-session.ts. Store: store.ts. Cookie: session-cookie.ts. A site's own express-session: external-session.ts.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Config } from '../../config'
import { isCrossSitePost } from '../../decide/navigation'
import { indexLifeOf, isLoggedIn, NO_ENTRY, recordIn, type SsoRecord, type StoredEntry } from '../../decide/record'
import {
  belongsToLogin,
  mustRenewExpiry,
  remainingLives,
  type SiteData,
  sessionPhaseOf,
  usableData,
  writeData,
} from '../../decide/session-data'
import { isYoungerThan } from '../../decide/timestamps'
import type { Records, StoredPair } from '../../storage/records'
import type { SessionIndex } from '../../storage/session-index'
import { sessionKey, type Unavailable } from '../../storage/site-store'
import { dropCookie } from '../http/response-headers'
import type { NextSession, SessionState, Sessions } from '../site'
import { Adapter } from './adapter'
import { emptyExternalSession, readExternalSession, renewExternalSession } from './external-session'
import { replaceSession } from './regenerate'
import {
  attachSession,
  type CookieAction,
  type CookieTarget,
  type CurrentSession,
  RequestSession,
  requestSessionOf,
  untrackShape,
  unusableSession,
} from './request-session'
import { SessionCookie } from './session-cookie'
import { changedBy, newSessionId, SessionStore } from './store'

const RENEW_EVERY_SECONDS = 60
const MAX_RENEWED = 10_000
const NO_TARGET: CookieTarget = Object.freeze({ key: undefined, stored: NO_ENTRY })

/** Sessions of a site. */
export class SiteSessions implements Sessions {
  /**
   * Moves the login record of a session to a new ID, and deletes the old data. Called if a handler of the site calls
   * `req.session.regenerate()` on a session with a login record. Returns false if there is no login record any more. Rejects if Redis does
   * not respond. Set by lib/sso2.ts.
   */
  declare onRegenerate: (req: Request, newId: string) => Promise<boolean>
  /** Called if a handler of the site calls `req.session.destroy()` on a session with this login record. Set by lib/sso2.ts. */
  declare onDestroy: (key: string, record: SsoRecord) => Promise<void>
  readonly #config: Config
  readonly #records: Records
  readonly #index: SessionIndex
  readonly #now: () => number
  readonly #cookie: SessionCookie
  readonly #store: SessionStore
  readonly #adapter: Adapter
  /** Keys of the sessions that have been renewed since a moment. */
  #renewed = new Set<string>()
  #renewedSince = 0

  /** @param now seconds since 1970 */
  constructor(config: Config, records: Records, index: SessionIndex, now: () => number) {
    this.#config = config
    this.#records = records
    this.#index = index
    this.#now = now
    this.#cookie = new SessionCookie(config)
    this.#store = new SessionStore(config, records, now)
    const adapter = new Adapter(config, this.#store, this.#cookie, now)
    this.#adapter = adapter
    const moveRecord = (slot: RequestSession, newId: string) => this.onRegenerate(slot.req, newId)
    this.#store.replace = (slot) => replaceSession({ adapter, records, config, now, moveRecord }, slot)
    this.#store.onDestroyed = (key, record) => this.onDestroy(key, record)
  }

  /** `sso.session`. */
  readonly handler: RequestHandler = (req, res, next) => {
    if (requestSessionOf(req) || req.session) return next() // mounted twice, or the site has its own express-session
    untrackShape(req)
    untrackShape(res)
    const { id, isUnreadable, isDoubled } = this.#cookie.read(req)
    if (isDoubled) dropCookie(res, this.#config, this.#config.cookies.session)
    if (id !== undefined) return this.#load(req, res, id, next)
    attachSession(new RequestSession(this.#adapter, req, res, isUnreadable, NO_TARGET, this.#firstSession(req)))
    next()
  }

  #load(req: Request, res: Response, id: string, next: NextFunction): void {
    const key = sessionKey(id)
    const arrivedAt = this.#config.clock.now()
    this.#records.readBoth(key).then((pair) => {
      const { target, current } = this.#found(key, id, pair)
      const slot = new RequestSession(this.#adapter, req, res, false, target, current)
      slot.arrivedAt = arrivedAt
      attachSession(slot)
      next()
    }, next)
  }

  /** Returns the session of a request without our cookie. A POST of another site begins none: it would replace the session of the browser. */
  #firstSession(req: Request): CurrentSession {
    const { 'sec-fetch-site': site, origin } = req.headers
    const sender = { method: req.method, secFetchSite: site && String(site), origin }
    const isOfOtherSite = isCrossSitePost(sender, this.#config.returnPolicy.origin)
    return isOfOtherSite
      ? unusableSession('not_kept', newSessionId(), this.#now())
      : this.#freshSession('send_if_filled')
  }

  /** Returns key and login record of the request's session. With the site's own session, the login record is read now. */
  async stateOf(req: Request): Promise<SessionState> {
    const slot = this.#requestSession(req)
    const isUnreadable = slot?.isUnreadable ?? false
    const target = slot?.target ?? (await readExternalSession(req, this.#records, this.#config.log))
    const { key, stored } = target?.key === undefined ? this.#emptyTarget() : target
    return { key, stored: stored ?? (await this.#records.read(String(key))), isUnreadable, isExternal: !slot }
  }

  arrivalOf(req: Request): number {
    return this.#requestSession(req)?.arrivedAt ?? this.#config.clock.now()
  }

  idOf(req: Request): string {
    return this.#requestSession(req)?.current.id ?? req.sessionID
  }

  dataLifeOf(req: Request): number | undefined {
    const { target, current } = this.#requestSession(req) ?? {}
    if (!current || current.text === null || !target?.stored || target.stored === 'unavailable') return undefined
    return remainingLives(target.stored, current.text, this.#now(), this.#config).data
  }

  /** Draws a new session ID on the Redis server of the SSO session. '' with the site's own session. */
  nextId(req: Request, sidHash: string): string {
    return this.#requestSession(req) ? this.#records.drawId(newSessionId, sidHash) : ''
  }

  /**
   * Gives this request its next session, and sends the cookie with the response headers. Changes that this request's handler made in
   * `req.session` are applied to the data of the old session.
   * @returns the session ID, or 'unavailable' if data could not be saved
   */
  async renew(req: Request, next: NextSession): Promise<string | Unavailable> {
    const slot = this.#requestSession(req)
    if (!slot) return renewExternalSession(req, next.keepsData, next.accountId)
    const { id, accountId } = next
    const origin = { since: this.#now(), isLoggedIn: accountId !== undefined }
    const data = next.keepsData ? changedBy(slot, this.#usable(slot, next.taken)) : {}
    const text = Object.keys(data).length === 0 ? null : writeData(origin, data)
    const key = sessionKey(id)
    if (text !== null && (await this.#store.saveText(key, text, origin)) === 'unavailable') return 'unavailable'
    this.#move(slot, { ...origin, phase: 'live', id, text, cookieAction: 'send' }, { key, stored: undefined })
    slot.savedText = text ?? undefined
    return id
  }

  /** Gives the request an empty session after its session has ended. The browser's cookie is dropped unless the site adds session data. */
  async replaceWithEmptySession(req: Request): Promise<void> {
    const slot = this.#requestSession(req)
    if (!slot) return emptyExternalSession(req, this.#config.log)
    if (slot.current.phase === 'not_kept') return
    this.#move(slot, this.#freshSession(this.#cookie.isIn(req) ? 'send_or_drop' : 'send_if_filled'), NO_TARGET)
  }

  detach(req: Request): void {
    const slot = this.#requestSession(req)
    if (!slot || slot.current.phase === 'just_ended') return
    this.#move(slot, unusableSession('just_ended', slot.current.id, this.#now()), { ...slot.target, stored: undefined })
  }

  /** Gives this request the session of another request of the same browser. The session is saved only if the handler changes the data. */
  async adopt(req: Request, sessionId: string): Promise<void> {
    const slot = this.#requestSession(req)
    if (!slot) return
    const key = sessionKey(sessionId)
    const { target, current } = this.#found(key, sessionId, await this.#records.readBoth(key))
    if (current.phase === 'just_ended' || current.phase === 'new') {
      this.#move(slot, current, target)
      return
    }
    const found = usableData(current.text, current.isLoggedIn, this.#now(), this.#config)
    const text = found ? writeData(found, found.data) : null
    const changed = found ? writeData(found, changedBy(slot, found.data)) : text
    this.#move(slot, { ...current, text: changed, cookieAction: 'send' }, target)
    slot.savedText = text ?? undefined
  }

  #requestSession(req: Request): RequestSession | undefined {
    const slot = requestSessionOf(req)
    if (slot?.opener !== this.#adapter) return undefined
    return slot.isOpen && req.sessionStore && !Object.is(req.sessionStore, this.#store) ? undefined : slot
  }

  #move(slot: RequestSession, current: CurrentSession, target: CookieTarget): void {
    slot.moveTo(current.id === '' && slot.isOpen ? { ...current, id: newSessionId() } : current, target)
    this.#adapter.attachSessionObject(slot)
    this.#adapter.sendCookieBeforeHeaders(slot)
  }

  /** Returns the entry of a visitor without a session. 'unavailable' while Redis accepts no writes, because the callback could not be stored. */
  #emptyTarget(): { readonly key: undefined; readonly stored: StoredEntry | Unavailable } {
    return { key: undefined, stored: this.#records.isAvailable ? NO_ENTRY : 'unavailable' }
  }

  #found(key: string, id: string, pair: StoredPair | Unavailable): { target: CookieTarget; current: CurrentSession } {
    const now = this.#now()
    if (pair === 'unavailable')
      return { target: { key, stored: pair }, current: unusableSession('unavailable', id, now) }
    const { stored, data } = pair
    const target = { key, stored }
    const phase = sessionPhaseOf(stored, data, now)
    if (phase === 'new') return { target, current: this.#freshSession('send_if_filled') }
    if (phase === 'just_ended') return { target, current: unusableSession(phase, id, now) }
    this.#renewExpiry(key, pair, now)
    const began = recordIn(stored)?.since ?? now
    return {
      target,
      current: { phase, id, text: data, since: began, isLoggedIn: belongsToLogin(stored), cookieAction: 'nothing' },
    }
  }

  /** Renews the expiry of a used session in Redis, at most once a minute. The request does not wait. A status check renews the expiry itself. */
  #renewExpiry(key: string, { stored, data }: StoredPair, now: number): void {
    const lives = remainingLives(stored, data, now, this.#config)
    if (!mustRenewExpiry(stored, lives, now)) return
    if (!isYoungerThan(this.#renewedSince, now, RENEW_EVERY_SECONDS) || this.#renewed.size >= MAX_RENEWED) {
      this.#renewed = new Set()
      this.#renewedSince = now
    }
    if (this.#renewed.has(key)) return
    if (Math.min(lives.record, lives.data) > 2 * RENEW_EVERY_SECONDS) this.#renewed.add(key)
    this.#records.renew(key, lives.record, lives.data).catch(() => {})
    const record = recordIn(stored)
    if (!isLoggedIn(record)) return
    const entry = { key, sidHash: record.sidHash, accountId: record.user.accountId }
    this.#index.renew(entry, indexLifeOf(record, now, this.#config)).catch(() => {})
  }

  /** Returns a session that begins when a handler adds data. While Redis does not respond, no session begins. */
  #freshSession(cookieAction: CookieAction): CurrentSession {
    const phase = this.#emptyTarget().stored === 'unavailable' ? 'unavailable' : 'new'
    return { phase, id: '', text: null, since: this.#now(), isLoggedIn: false, cookieAction }
  }

  #usable({ target: { stored }, current }: RequestSession, taken: string | null): SiteData {
    const isKnown = stored === undefined || (stored !== 'unavailable' && recordIn(stored) !== undefined)
    const isIn = isKnown && current.isLoggedIn
    return usableData(taken, isIn, this.#now(), this.#config)?.data ?? {}
  }
}
