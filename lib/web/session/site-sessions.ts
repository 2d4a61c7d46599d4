/** `sso.session`: reads both values of the browser's session in one round trip, and attaches the session to the request. Threats S1 to S3. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import type { Config } from '../../config'
import { isCrossSitePost } from '../../decide/navigation'
import { ageOf, isLoggedIn, lifetimeOf } from '../../decide/record'
import { sessionKey, unlessUnavailable } from '../../storage/site-store'
import { cookieValues } from '../http/request-facts'
import { ExternalSession } from './external-session'
import { attachedSession, OwnSession, type SessionParts } from './own-session'
import { noEntry, type RequestSession } from './request-session'

/** Lifetimes are renewed at most once in so many seconds. */
const RENEW_EVERY_SECONDS = 60

/** The sessions of a site. */
export class SiteSessions {
  readonly #parts: SessionParts
  readonly #readId: ReturnType<typeof sessionCookieReader>
  /** Keys of the sessions that have been renewed since a moment. */
  #renewed = new Set<string>()
  #renewedSince = 0

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#readId = sessionCookieReader(parts.config)
  }

  /** `sso.session`. */
  readonly handler: RequestHandler = (req, res, next) => {
    if (attachedSession(req) || req.session) return next() // mounted twice, or the site has its own express-session
    const { config, records } = this.#parts
    const sent = cookieValues(req, config.cookies.session)
    const id = this.#readId(sent)
    if (id === undefined) {
      const none = { id, entry: noEntry(records), data: null }
      const mayBegin = !isCrossSitePost(req, config.returnPolicy.origin) // it would replace the session of the browser
      const session = new OwnSession(this.#parts, req, res, { ...none, hadCookie: sent.length > 0, mayBegin })
      if (sent.length > 1) void session.leave('drop_cookie')
      return next()
    }
    unlessUnavailable(() => records.read(sessionKey(id))).then((read) => {
      const found = read === 'unavailable' ? { entry: read, data: null } : read
      this.#renew(new OwnSession(this.#parts, req, res, { id, ...found, hadCookie: true, mayBegin: true }))
      next()
    }, next)
  }

  /** Returns the session of a request: the attached one, or that of the site's own express-session. */
  async sessionOf(req: Request): Promise<RequestSession> {
    const { records, config } = this.#parts
    return attachedSession(req) ?? ExternalSession.read(req, records, config.log)
  }

  /** Renews the lifetime of a used session. The request does not wait. A status check renews it too, so most sessions need nothing here. */
  #renew({ key, entry, record, hasData }: OwnSession): void {
    const { records, config, now } = this.#parts
    if (key === undefined || entry === 'unavailable' || !(record || entry.state === 'empty' || hasData)) return
    const seconds = lifetimeOf(record, now(), config)
    if (isLoggedIn(record) && ageOf(record.checkedAt, now()) < seconds / 10) return
    if (now() - this.#renewedSince >= RENEW_EVERY_SECONDS) {
      this.#renewed = new Set()
      this.#renewedSince = now()
    }
    if (this.#renewed.has(key)) return
    if (seconds > 2 * RENEW_EVERY_SECONDS) this.#renewed.add(key)
    records.renew(key, seconds).catch(() => {})
  }
}

const SIGNED = /^s:([\w-]{43})\.([A-Za-z0-9+/]{43})$/

/**
 * Returns a reader of the session ID in cookies of one name, as express-session signs it. It runs before express-session. The keys are made
 * once, because that costs more than a signature.
 */
function sessionCookieReader({ sessionSecrets }: Config): (cookies: readonly string[]) => string | undefined {
  const keys = sessionSecrets().map((secret) => createSecretKey(secret, 'utf8'))
  return (cookies) => {
    if (cookies.length > 1) return undefined // the package did not set both
    const [, id, signature = ''] = SIGNED.exec(decoded(cookies[0] ?? '')) ?? []
    if (id === undefined) return undefined
    const given = Buffer.from(signature)
    const signed = (key: KeyObject) => createHmac('sha256', key).update(id).digest('base64').slice(0, 43)
    const isGood = keys.some((key) => timingSafeEqual(Buffer.from(signed(key)), given))
    return isGood ? id : undefined
  }
}

function decoded(value: string): string {
  if (!value.includes('%')) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}
