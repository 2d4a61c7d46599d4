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

/** `req.session` for one site. */
export interface SiteSessions {
  readonly handler: RequestHandler
  /** What the request's session is; reads the record where the site has a session of its own. */
  stateOf(req: Request): Promise<SessionState>
  /** New session ID; the old one must be buried before. @param data moves along */
  renew(req: Request, data: object, isLoggedIn: boolean): Promise<string>
  /** Gives this request the session that another request of the same browser got. */
  adopt(req: Request, sessionId: string, isLoggedIn: boolean): void
  /** The site's own data in `req.session`. */
  dataOf(req: Request): object
}

const NOT_SAVED: SessionState = { key: undefined, raw: null, isAvailable: true }
const unread = (unreadKey: string | undefined): SessionState => ({
  key: undefined,
  raw: null,
  isAvailable: false,
  unreadKey,
})

/** Makes `sso.session` and what goes with it. */
export function siteSessions(config: Config, records: Records, now: () => number): SiteSessions {
  const { anonymousIdleSeconds, idleSeconds, absoluteSeconds, isSecure } = config
  const store = new SsoSessionStore(records, { anonymousIdleSeconds, idleSeconds, absoluteSeconds, isSecure, now })
  const presetIds = new WeakMap<object, string>()
  const inner = session({
    name: config.cookies.session,
    secret: config.sessionSecrets(),
    store,
    resave: false,
    saveUninitialized: false,
    genid: (req) => presetIds.get(req) ?? randomBytes(32).toString('base64url'),
  })
  const plainGenerate = store.generate.bind(store)
  const generate = (req: Request, isLoggedIn: boolean) => {
    if (req.res && store.loadedFor(req)) keepPrivate(req.res)
    plainGenerate(req)
    req.session.cookie = store.freshCookie(isLoggedIn) as session.Session['cookie']
  }
  store.generate = (req: Request) => generate(req, false) // every new session gets our cookie, whoever asks for it
  const unavailable = new WeakMap<object, SessionState>()
  const notPages = new WeakSet<object>() // `OPTIONS *` has no path, so express-session passes it by
  const ended = new WeakSet<object>() // a session of the site's own whose data belongs to a login that has ended
  const isOurs = (req: Request) => Object.is(req.sessionStore, store)
  return {
    handler: (req, res, next) => {
      if (isDoubled(req, config.cookies.session)) dropCookie(res, config, config.cookies.session)
      withOnlyOurCookie(req, config.cookies.session, inner, res, (error) => {
        if (error === undefined && req.session) {
          if (!store.loadedFor(req)) keepPrivateIf(res, () => Object.keys(dataOf(req)).length > 0)
          return next()
        }
        if (error === undefined) notPages.add(req)
        else unavailable.set(req, unread(req.sessionID && sessionKey(req.sessionID)))
        generate(req, false)
        Object.assign(req, { sessionID: undefined }) // so that express-session neither saves nor sets a cookie
        next()
      })
    },
    stateOf: async (req) => {
      const away = unavailable.get(req)
      if (away) return away
      if (notPages.has(req)) return NOT_SAVED
      if (!req.session)
        throw new Error(
          'express-sso2: mount sso.session, or a session of your own, before sso.router and sso.middleware',
        )
      if (!isOurs(req)) {
        const state = await foreignState(req, records)
        if (state === NOT_SAVED && 'sso2' in req.session) ended.add(req)
        return state
      }
      const loaded = store.loadedFor(req)
      return loaded ? { key: loaded.key, raw: loaded.record, isAvailable: true } : NOT_SAVED
    },
    renew: async (req, data, isLoggedIn) => {
      const kept = ended.delete(req) ? {} : data
      if (req.res) keepPrivate(req.res)
      if (isOurs(req)) generate(req, isLoggedIn)
      else await call((done) => req.session.regenerate(done))
      Object.assign(req.session, kept, isOurs(req) ? {} : { sso2: true }) // a foreign store keeps no empty session
      if (Object.keys(dataOf(req)).length > 0) await call((done) => req.session.save(done))
      return req.sessionID
    },
    adopt: (req, sessionId, isLoggedIn) => {
      if (!isOurs(req)) return
      if (req.res) keepPrivate(req.res)
      presetIds.set(req, sessionId)
      generate(req, isLoggedIn)
      presetIds.delete(req)
    },
    dataOf,
  }
}

function dataOf(req: Request): object {
  const { cookie: _cookie, ...data } = { ...req.session }
  return data
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
