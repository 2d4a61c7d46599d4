/** The context of a request: its session, the browser's cookies, its redirects to Identify, and the identity that `req.sso2` shows. The outcome of a flow is a return value. */
import { randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import { type LogoutMark, readLogoutMark } from '../decide/logout-mark'
import { blockReason, countReturn, type LoopCause, type ReturnCount, readReturnCount } from '../decide/loop-guard'
import {
  ANONYMOUS,
  type DegradedReason,
  type Identity,
  lifetimeOf,
  type RecordChanges,
  type SsoRecord,
} from '../decide/record'
import { flowParameterOf, MAX_RETURN_LENGTH, withFlowParameter, withoutFlowParameter } from '../decide/return-to'
import { isBindingValue, MARKER_MS, makeStamp, readSigned, readStamp, writeSigned } from '../decide/signatures'
import type { EpochMs } from '../protocol/claims'
import { shortHash, storeUnavailable } from '../storage/site-store'
import { publish } from './hooks'
import { readCookie, requestAddress } from './http/request-facts'
import { redirect, setCookie } from './http/response-headers'
import type { LeftCookie, RequestSession } from './session/request-session'
import type { Site } from './site'

/** The context of one request. */
export class Context {
  readonly site: Site
  readonly req: Request
  readonly res: Response
  readonly session: RequestSession
  /** Value of the binding cookie, as the response will leave it. */
  binding: string | undefined
  /** The logout mark, as the response will leave it. */
  logoutMark: LogoutMark | undefined
  /** What `req.sso2` shows. */
  identity: Identity = ANONYMOUS
  /** When this request has logged the browser out, in milliseconds. The redirect to Identify after it belongs to the logout. */
  logoutAt: EpochMs | undefined
  /** Is `onLogout` running for the request? A logout in it does not call it again. */
  isInOnLogout = false

  constructor(site: Site, req: Request, res: Response, session: RequestSession) {
    const { config } = site
    this.site = site
    this.req = req
    this.res = res
    this.session = session
    this.binding = readCookie(req, config.cookies.binding)
    const mark = readCookie(req, config.cookies.logout)
    this.logoutMark = mark === undefined ? undefined : readLogoutMark(readSigned(config.macKeys(), 'logout', mark))
  }

  /**
   * The login record, anonymous or logged in. An anonymous session that another browser began counts as none: a login would log in the other
   * browser too, and its login would log in this one. Threats L2, S1.
   */
  get record(): SsoRecord | undefined {
    const { session, binding } = this
    const { record } = session
    if (!session.isExternal || record?.status !== 'anon' || record.browser === undefined) return record
    return binding !== undefined && record.browser === shortHash(binding) ? record : undefined
  }

  /** Changes the record of a live session, and renews its lifetime. @returns false if the session has ended meanwhile */
  async update(changes: RecordChanges): Promise<boolean> {
    const { site, session, record: known } = this
    const { key } = session
    if (key === undefined || !known) return false
    const record: SsoRecord = { ...known, ...changes }
    const isWritten = await site.records.update(key, record, lifetimeOf(record, site.now(), site.config))
    session.entry = isWritten ? { state: 'live', record } : await site.records.readEntry(key)
    return isWritten
  }

  /** Reads the record again. @throws {Sso2UnavailableError} if Redis does not answer */
  async reread(): Promise<void> {
    const { session, site } = this
    if (session.key !== undefined) session.entry = await site.records.readEntry(session.key)
    else if (!session.isAvailable) throw storeUnavailable()
  }

  /** Leaves a session without a record, and removes its data. */
  async leaveData(cookie: LeftCookie): Promise<void> {
    const { session, site } = this
    const { key } = session
    await session.leave(cookie)
    if (key !== undefined) await site.records.remove(key).catch(() => {})
  }

  /** Sets the logout mark. @param seconds how long the browser keeps it */
  setLogoutMark(mark: LogoutMark, seconds: number): void {
    const { config } = this.site
    this.logoutMark = mark
    setCookie(this.res, config, config.cookies.logout, writeSigned(config.macKeys(), 'logout', mark), seconds)
  }

  /** Drops a mark that names no SSO session, after a login by form or an anonymous landing. */
  dropLogoutMark(): void {
    if (this.logoutMark?.sidHash !== '') return
    this.logoutMark = undefined
    setCookie(this.res, this.site.config, this.site.config.cookies.logout, '', 0)
  }

  /** How often the browser has returned from Identify without a pause. */
  get returnCount(): ReturnCount | undefined {
    return readReturnCount(readCookie(this.req, this.site.config.cookies.loop))
  }

  /** Counts a return of the browser. @param cause why the landing failed, '' if it did not */
  addReturn(cause: LoopCause): void {
    const { config } = this.site
    const { text, seconds } = countReturn(this.returnCount, cause)
    setCookie(this.res, config, config.cookies.loop, text, seconds)
  }

  /** Address of the page without the parameter `sso2`. `undefined` if it is too long to return to, or not valid. */
  get page(): string | undefined {
    const address = requestAddress(this.req, this.site.config)
    const page = address && withoutFlowParameter(address)
    return page && page.length > MAX_RETURN_LENGTH ? undefined : page
  }

  /** Why this browser must get the page now, without another Identify redirect. The landing page marks the address of a browser without cookies. */
  get browserProblem(): DegradedReason | undefined {
    const { site, req, binding } = this
    const { macKeys, clock } = site.config
    const marker = binding === undefined ? flowParameterOf(requestAddress(req, site.config) ?? '') : undefined
    const isMarked = readStamp(macKeys(), 'marker', '', marker, clock.now(), MARKER_MS) !== undefined
    return isMarked ? 'cookies_blocked' : blockReason(this.returnCount)
  }

  /** Why no browser, or not this one, may be redirected to Identify. An outage is no loop. docs/internals/architecture.md says who asks what. */
  get identifyProblem(): DegradedReason | undefined {
    return this.site.identifyHealth.mayRedirect ? this.browserProblem : 'sso_unavailable'
  }

  /** Returns the Identify address for a page, bound to the browser as by `state` in OAuth. @param page without the parameter `sso2` */
  identifyAddress(page: string): string {
    const { site } = this
    const startedAt = this.logoutAt ?? site.config.clock.now()
    const parameter = makeStamp(site.config.macKeys(), 'flow', this.#ensureBinding(), startedAt)
    return site.client.identifyUrl(withFlowParameter(page, parameter))
  }

  /** Redirects the browser to Identify. Interface: "Identify: browser redirect". */
  sendToIdentify(page: string, reason: string): void {
    const { site, req, res } = this
    site.identifyHealth.noteRedirect()
    publish('identify', { operation: 'identify', outcome: 'redirected', reason })
    redirect(res, this.identifyAddress(page), req.method === 'GET' ? 302 : 303)
  }

  /** Redirects a browser without cookies to the page, with a marker. If it keeps the binding cookie, the page redirects to Identify. */
  redirectWithMarker(page: string): void {
    const { site, res } = this
    this.#ensureBinding()
    redirect(res, withFlowParameter(page, makeStamp(site.config.macKeys(), 'marker', '', site.config.clock.now())), 303)
  }

  /** Returns the value of the binding cookie. Sets the cookie if the browser has none, or one that is not ours. */
  #ensureBinding(): string {
    const { site, res } = this
    if (!isBindingValue(this.binding)) {
      this.binding = randomBytes(16).toString('base64url')
      setCookie(res, site.config, site.config.cookies.binding, this.binding)
    }
    return this.binding
  }
}

const CONTEXT: unique symbol = Symbol('express-sso2.context')

/** Returns the context of a request, made when it is first needed. Never throws because of an outage of Redis. */
export async function contextOf(site: Site, req: Request, res: Response): Promise<Context> {
  const marked = req as { [CONTEXT]?: Context }
  if (marked[CONTEXT]?.site === site) return marked[CONTEXT]
  const made = new Context(site, req, res, await site.sessions.sessionOf(req))
  const { key, isAvailable, gone } = made.session
  // the browser has logged out of this session while Redis was away. A session with a record is ended by the page, because it has an SSO session
  const hasLeft = key !== undefined && key === made.logoutMark?.leftKey
  if (hasLeft && isAvailable && !made.record && !gone) await made.leaveData('dead_cookie')
  marked[CONTEXT] = made
  return made
}
