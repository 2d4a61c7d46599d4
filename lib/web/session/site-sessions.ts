/** `sso.session`: reads both values of the browser's session in one round trip, and attaches the session to the request. Threats S1 to S3. */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import type { Config } from '../../config'
import { ageOf, isAlive, lifetimeOf, type SsoRecord } from '../../decide/record'
import { sessionKey, unlessUnavailable } from '../../storage/site-store'
import { cookieValues } from '../http/request-facts'
import { attachedSession, BuiltInSession, type SessionParts } from './built-in-session'
import { ExternalSession } from './external-session'
import { noEntry, type RequestSession } from './request-session'

/** The sessions of a site. */
export class SiteSessions {
  readonly #parts: SessionParts

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** `sso.session`. */
  readonly handler: RequestHandler = (req, res, next) => {
    if (attachedSession(req) || req.session) return next() // mounted twice, or the site has its own express-session
    const { config, records } = this.#parts
    const sent = cookieValues(req, config.cookies.session)
    const id = sessionIdIn(sent, config)
    if (id === undefined) {
      const none = { id, key: undefined, entry: noEntry(records), data: null, hadCookie: sent.length > 0 }
      const session = new BuiltInSession(this.#parts, req, res, none)
      if (sent.length > 1) void session.leave('drop_cookie')
      return next()
    }
    const key = sessionKey(id)
    unlessUnavailable(() => records.read(key)).then((read) => {
      const found = read === 'unavailable' ? { entry: read, data: null } : read
      const session = new BuiltInSession(this.#parts, req, res, { id, key, ...found, hadCookie: true })
      if (isAlive(found.entry) || found.data !== null) this.#renew(key, session.record)
      next()
    }, next)
  }

  /** Returns the session of a request: the attached one, or that of the site's own express-session. */
  async sessionOf(req: Request): Promise<RequestSession> {
    return attachedSession(req) ?? ExternalSession.read(this.#parts, req)
  }

  /** Renews the lifetime of a used session. The request does not wait. Status checks renew a session with a record, unless the SSO system is down for long. */
  #renew(key: string, record: SsoRecord | undefined): void {
    const { records, config, now } = this.#parts
    const seconds = lifetimeOf(record, now(), config)
    if (record && ageOf(record.checkedAt, now()) < seconds / 10) return
    records.renew(key, seconds).catch(() => {})
  }
}

/** An ID as express-session signs it. */
const SIGNED = /^s(?::|%3A)([\w-]{43})\.((?:[A-Za-z0-9+/]|%2B|%2F){43})$/i

/** Returns the session ID in the cookies of its name. `undefined` unless the package has signed it. */
function sessionIdIn(cookies: readonly string[], { cookieKeys }: Config): string | undefined {
  if (cookies.length > 1) return undefined // the package did not set both
  const [, id, signature = ''] = SIGNED.exec(cookies[0] ?? '') ?? []
  if (id === undefined) return undefined
  const given = Buffer.from(decodeURIComponent(signature))
  const signed = (key: KeyObject) => createHmac('sha256', key).update(id).digest('base64').slice(0, 43)
  const isGood = cookieKeys().some((key) => timingSafeEqual(Buffer.from(signed(key)), given))
  return isGood ? id : undefined
}
