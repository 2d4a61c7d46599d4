/** `sso.session`: reads both values of the browser's session in one round trip, and attaches the session to the request. */
import type { Request, RequestHandler, Response } from 'express'
import { isCrossSitePost } from '../../decide/navigation'
import { ageOf, type Entry, isLoggedIn, lifetimeOf } from '../../decide/record'
import { sessionKey, unlessUnavailable } from '../../storage/site-store'
import { ExternalSession } from './external-session'
import { type FoundSession, LAZY, OwnSession, type SessionParts } from './own-session'
import { attachedSession, attachSession, type RequestSession } from './request-session'
import { type FoundCookie, sessionCookieReader } from './session-cookie'

/** Lifetimes are renewed at most once in so many seconds. */
const RENEW_EVERY_SECONDS = 60
const MAX_RENEWED = 10_000

/** The sessions of a site. */
export class SiteSessions {
  readonly #parts: SessionParts
  readonly #readCookie: (req: Request) => FoundCookie
  /** Keys of the sessions that have been renewed since a moment. */
  #renewed = new Set<string>()
  #renewedSince = 0

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#readCookie = sessionCookieReader(parts.config)
  }

  /** `sso.session`. */
  readonly handler: RequestHandler = (req, res, next) => {
    if (attachedSession(req) || req.session) return next() // mounted twice, or the site has its own express-session
    const { id, isThere, isDoubled } = this.#readCookie(req)
    if (id === undefined) {
      this.#attach(req, res, {
        id,
        key: undefined,
        entry: this.#emptyEntry(),
        data: null,
        hadCookie: isThere,
        mayBegin: !isCrossSitePost(req, this.#parts.config.returnPolicy.origin), // it would replace the session of the browser
        dropsCookie: isDoubled,
      })
      return next()
    }
    const key = sessionKey(id)
    this.#read(key).then((found) => {
      this.#renew(this.#attach(req, res, { id, key, hadCookie: true, mayBegin: true, ...found }))
      next()
    }, next)
  }

  /** Returns the session of a request: the attached one, or that of the site's own express-session. */
  async sessionOf(req: Request): Promise<RequestSession> {
    const { records, config } = this.#parts
    return attachedSession(req) ?? ExternalSession.read(req, records, config.log)
  }

  #attach(req: Request, res: Response, found: FoundSession): OwnSession {
    const session = new OwnSession(this.#parts, req, res, found)
    attachSession(req, session, LAZY)
    return session
  }

  /** A visitor without a session cannot get one while Redis accepts no writes. */
  #emptyEntry(): Entry | 'unavailable' {
    return this.#parts.records.kv.isAvailable ? { state: 'none' } : 'unavailable'
  }

  async #read(key: string): Promise<Pick<FoundSession, 'entry' | 'data'>> {
    const found = await unlessUnavailable(() => this.#parts.records.read(key))
    return found === 'unavailable' ? { entry: found, data: null } : found
  }

  /** Renews the lifetime of a used session. The request does not wait. A status check renews it too, so most sessions need nothing here. */
  #renew({ key, entry, record, hasData }: OwnSession): void {
    const { records, config, now } = this.#parts
    if (key === undefined || entry === 'unavailable' || entry.state === 'gone') return
    if (entry.state === 'none' && !hasData) return
    const seconds = lifetimeOf(record, now(), config)
    if (record && isLoggedIn(record) && ageOf(record.checkedAt, now()) < seconds / 10) return
    if (now() - this.#renewedSince >= RENEW_EVERY_SECONDS || this.#renewed.size >= MAX_RENEWED) {
      this.#renewed = new Set()
      this.#renewedSince = now()
    }
    if (this.#renewed.has(key)) return
    if (seconds > 2 * RENEW_EVERY_SECONDS) this.#renewed.add(key)
    records.renew(key, seconds).catch(() => {})
  }
}
