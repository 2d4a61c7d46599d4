/** The session of a site with its own express-session. The site stores the data. The login record is stored under a hash of the session ID. */
import { promisify } from 'node:util'
import type { Request } from 'express'
import { type Entry, isLoggedIn } from '../../decide/record'
import { Sso2SetupError } from '../../errors'
import { accountOf } from '../../storage/account-index'
import { sessionKey, shortHash, unlessUnavailable } from '../../storage/site-store'
import { keepPrivate } from '../http/response-headers'
import type { SessionParts } from './built-in-session'
import { type NextSession, noEntry, RequestSession } from './request-session'
import { dataIn, type SiteData, TAG, withChanges } from './session-data'

const NO_SESSION =
  'Mount sso.session, or your own express-session, before sso.router and sso.middleware. An express-session whose store is not connected makes no session'
const OTHER_SESSION =
  'The session in req.session is not of express-session. With cookie-session the browser keeps the session, and a logout elsewhere could not end it. Mount app.use(sso) alone, or replace yours by an express-session'

/** Is this a session of express-session? Some packages add `regenerate` and `save` to other sessions for passport, but no `reload`. */
const isOfExpressSession = ({ session }: Request) => typeof session.reload === 'function'

/** The session of one request. */
export class ExternalSession extends RequestSession {
  readonly isExternal = true
  readonly #parts: SessionParts
  readonly #req: Request
  /** Data of the session when this request got them. */
  readonly #before: SiteData

  private constructor(parts: SessionParts, req: Request, key: string | undefined, entry: Entry | 'unavailable') {
    super(key, entry, key !== undefined)
    this.#parts = parts
    this.#req = req
    this.#before = structuredClone(dataIn(req.session))
  }

  /** Reads the record of the site's session. @throws {Sso2SetupError} without an express-session */
  static async read(parts: SessionParts, req: Request): Promise<ExternalSession> {
    if (!req.session) throw new Sso2SetupError(NO_SESSION)
    if (!isOfExpressSession(req)) throw new Sso2SetupError(OTHER_SESSION)
    const { records } = parts
    const key = req.headers.cookie ? sessionKey(req.sessionID) : undefined
    const entry = key === undefined ? noEntry(records) : await unlessUnavailable(() => records.readEntry(key))
    const found = new ExternalSession(parts, req, key, entry)
    if (found.isAvailable && found.#hasDataOfEndedLogin()) await found.leave()
    return found
  }

  get id(): string {
    return this.#req.sessionID
  }

  /** Session and account that the data serve. */
  get #tag(): readonly string[] {
    return String(dataIn(this.#req.session)[TAG] || '').split('.')
  }

  /**
   * Has the login of the data ended? A slow request can save them again after the logout (`resave`), and send the old cookie again (`rolling`).
   * Data of another session ID were copied over `regenerate()`, as passport does, and wait for a login.
   */
  #hasDataOfEndedLogin(): boolean {
    return !isLoggedIn(this.record) && this.#tag[0] === shortHash(this.id)
  }

  /** The browser gets the site's cookie with the other response. */
  async adopt(id: string): Promise<void> {
    this.key = sessionKey(id)
    this.entry = await this.#parts.records.readEntry(this.key)
  }

  async begin({ account }: NextSession): Promise<void> {
    const served = accountOf(this.record) ?? this.#tag[1]
    const data = served === undefined || served === account ? await this.#currentData() : {}
    await this.#regenerate()
    const tag = account === undefined ? false : `${shortHash(this.id)}.${account}`
    Object.assign(this.#req.session, data, { [TAG]: tag })
    await call((done) => this.#req.session.save(done))
    this.key = sessionKey(this.id)
  }

  /** Gives the request an empty session. A failure of the site's store is only logged, so the page is served and the logout stays valid. */
  async leave(): Promise<void> {
    const { log } = this.#parts.config
    await this.#regenerate().catch(() => log.warn('session:regenerate', 'Your own session store failed'))
    this.key = undefined
    this.entry = { state: 'none' }
  }

  /** Returns the data as other tabs have saved them, with the changes of this request on top. */
  async #currentData(): Promise<SiteData> {
    const mine = dataIn(this.#req.session)
    await call((done) => this.#req.session.reload(done)).catch(() => {}) // a session that was never saved stays unchanged
    return withChanges(this.#before, mine, dataIn(this.#req.session))
  }

  async #regenerate(): Promise<void> {
    if (this.#req.res) keepPrivate(this.#req.res)
    await call((done) => this.#req.session.regenerate(done))
  }
}

const call = (run: (done: (error?: unknown) => void) => void): Promise<void> => promisify(run)()
