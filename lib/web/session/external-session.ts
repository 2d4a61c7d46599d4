/** Supports a site with its own express-session. The login record is stored under a hash of the session ID. The site stores the data. */
import type { Request } from 'express'
import type { Log } from '../../config/log'
import { LOG_LINES } from '../../decide/log-lines'
import { mayBeAlive, type StoredEntry } from '../../decide/record'
import { type SiteData, withChanges } from '../../decide/session-data'
import { Sso2SetupError } from '../../errors'
import type { Records } from '../../storage/records'
import { sessionKey, shortHash, type Unavailable } from '../../storage/site-store'
import { keepPrivate } from '../http/response-headers'
import { dataIn } from './request-session'

const FOUND_SESSION = Symbol('express-sso2.foreign')
interface FoundSession {
  /** May the login record of the session still be valid? If not, data of that login must not reach another account. */
  readonly isAlive: boolean
  readonly read: SiteData
}
type RequestWithFoundSession = Request & { [FOUND_SESSION]?: FoundSession }
/**
 * Entry of the package in the session data: `false`, or session and account of the login that the data belongs to. The entry is always
 * set, because some stores do not keep an empty session.
 */
const LOGIN_ENTRY = 'sso2'

const NO_SESSION =
  'Mount sso.session, or your own express-session, before sso.router and sso.middleware. An express-session whose store is not connected makes no session'
const OTHER_SESSION =
  'The session in req.session is not of express-session. With cookie-session the browser keeps the session, and a logout elsewhere could not end it. Mount app.use(sso) alone, or replace yours by an express-session'

/** Is this a session of express-session? Some packages add `regenerate` and `save` to other sessions for passport, but no `sessionID`. */
const isOfExpressSession = ({ sessionID, session }: Request) =>
  typeof sessionID === 'string' && typeof session.regenerate === 'function' && typeof session.reload === 'function'

/**
 * Reads the login record under the session's ID. A slow request can save the data of a login again after its logout (`resave`), and send
 * the old cookie again (`rolling`). If the data belongs to an ended login of the same session ID, the request gets an empty session.
 */
export async function readExternalSession(
  req: RequestWithFoundSession,
  records: Records,
  log: Log,
): Promise<{ readonly key: string; readonly stored: StoredEntry | Unavailable } | undefined> {
  if (!req.session) throw new Sso2SetupError(NO_SESSION)
  if (!isOfExpressSession(req)) throw new Sso2SetupError(OTHER_SESSION)
  if (!req.headers.cookie) return undefined
  const key = sessionKey(req.sessionID)
  const stored = await records.read(key)
  const data: SiteData = dataIn(req.session)
  const isAlive = stored === 'unavailable' || mayBeAlive(stored)
  req[FOUND_SESSION] ??= { isAlive, read: structuredClone(data) }
  if (!isAlive && loginOf(data)?.session === shortHash(req.sessionID)) await emptyExternalSession(req, log)
  return { key, stored }
}

function loginOf({
  [LOGIN_ENTRY]: entry,
}: SiteData): { readonly session: string; readonly account: string } | undefined {
  if (typeof entry !== 'string') return undefined
  const [session = '', account = ''] = entry.split('.')
  return { session, account }
}

const loginEntryOf = (sessionId: string, accountId: string) => `${shortHash(sessionId)}.${shortHash(accountId)}`

/**
 * Must the data of a session without a valid login record be dropped? Yes, if the data belongs to an ended login of the same session ID. If
 * the data belongs to another session ID, the site has copied the data over `regenerate()`, as passport does with `keepSessionInfo`. Then
 * only a login of the same account keeps the data.
 */
function isSessionLost(req: RequestWithFoundSession, accountId: string | undefined): boolean {
  const found = req[FOUND_SESSION]
  const login = found && !found.isAlive ? loginOf(found.read) : undefined
  if (!login) return false
  return login.session === shortHash(req.sessionID) || accountId === undefined || login.account !== shortHash(accountId)
}

/** Regenerates the site's session. @returns the new session ID, or 'unavailable' if the site's store fails */
export async function renewExternalSession(
  req: RequestWithFoundSession,
  keepsData: boolean,
  accountId: string | undefined,
): Promise<string | Unavailable> {
  try {
    const data = keepsData && !isSessionLost(req, accountId) ? await currentData(req) : {}
    await regenerateExternalSession(req)
    Object.assign(req.session, data, {
      [LOGIN_ENTRY]: accountId !== undefined && loginEntryOf(req.sessionID, accountId),
    })
    await call((done) => req.session.save(done))
    return req.sessionID
  } catch {
    return 'unavailable'
  }
}

/** Gives the request an empty session under a new ID. A failure of the site's store is only logged, so the page is served and the logout stays valid. */
export async function emptyExternalSession(req: Request, log: Log): Promise<void> {
  await regenerateExternalSession(req).catch(() => log.warn('session:regenerate', LOG_LINES.externalSessionFailed))
}

async function regenerateExternalSession(req: RequestWithFoundSession): Promise<void> {
  if (req.res) keepPrivate(req.res)
  await call((done) => req.session.regenerate(done))
  req[FOUND_SESSION] = { isAlive: true, read: {} }
}

/** Returns the data as other tabs have saved it, with the changes of this request on top. */
async function currentData(req: RequestWithFoundSession): Promise<SiteData> {
  const mine: SiteData = dataIn(req.session)
  await call((done) => req.session.reload(done)).catch(() => {}) // a session that was never saved stays unchanged
  return withChanges(req[FOUND_SESSION]?.read ?? mine, mine, dataIn(req.session))
}

function call(run: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => run((error) => (error ? reject(error) : resolve())))
}
