/** Where the site has a session of its own, by another express-session: only its ID counts, and the record under it. */
import type { Request } from 'express'
import { type SiteData, withChanges } from '../../decide/session-data'
import { mayLive, type Stored } from '../../decide/stored'
import { Sso2SetupError } from '../../errors'
import { sessionKey } from '../../storage/hashes'
import type { Records } from '../../storage/records'
import type { Unavailable } from '../../storage/unavailable'
import { keepPrivate } from '../http/caching'
import { dataIn } from './request-session'

/** What this room knows of a request whose session is the site's own. */
const KNOWN = Symbol('express-sso2.foreign')
interface Known {
  /** Does the session hold data of a login that is gone? It must not reach the next account. */
  readonly isLost: boolean
  /** The data when the request came in. */
  readonly read: SiteData
}
type Marked = Request & { [KNOWN]?: Known }
/** Our mark in the data: does it belong to a login? There is always one, for some stores keep no empty session. */
const MARK = 'sso2'

const NO_SESSION =
  'mount sso.session, or a session of your own, before sso.router and sso.middleware (an express-session whose store is not connected gives none)'
const OTHER_SESSION =
  'req.session is not of express-session, whose ID and store this package needs: with cookie-session the browser keeps the session, and a logout elsewhere could not end it. Mount app.use(sso) alone, or an express-session in the place of yours'

/** Some put a `regenerate` and a `save` on what is no such session, for passport: an ID they do not. */
const isOfExpressSession = ({ sessionID, session }: Request) =>
  typeof sessionID === 'string' && typeof session.regenerate === 'function' && typeof session.reload === 'function'

/** What the record under the session's ID says. */
export async function readForeign(
  req: Marked,
  records: Records,
): Promise<{ readonly key: string; readonly stored: Stored | Unavailable } | undefined> {
  if (!req.session) throw new Sso2SetupError(NO_SESSION)
  if (!isOfExpressSession(req)) throw new Sso2SetupError(OTHER_SESSION)
  if (!req.headers.cookie) return undefined
  const key = sessionKey(req.sessionID)
  const stored = await records.read(key)
  const data: SiteData = dataIn(req.session)
  const isAlive = stored === 'unavailable' || mayLive(stored)
  req[KNOWN] ??= { isLost: !isAlive && data[MARK] === true, read: structuredClone(data) }
  return { key, stored }
}

/** Has the site's session make a new ID. @returns it, or 'unavailable' where its store fails */
export async function renewForeign(
  req: Marked,
  keepsData: boolean,
  isLoggedIn: boolean,
): Promise<string | Unavailable> {
  try {
    const kept = keepsData && !req[KNOWN]?.isLost ? await currentData(req) : {}
    await regenerateForeign(req)
    Object.assign(req.session, kept, { [MARK]: isLoggedIn })
    await call((done) => req.session.save(done))
    return req.sessionID
  } catch {
    return 'unavailable'
  }
}

/** An empty session under a new ID. */
export async function regenerateForeign(req: Marked): Promise<void> {
  if (req.res) keepPrivate(req.res)
  await call((done) => req.session.regenerate(done))
  req[KNOWN] = { isLost: false, read: {} }
}

/** What other tabs have put into the session meanwhile, and over it what this request has changed. */
async function currentData(req: Marked): Promise<SiteData> {
  const mine: SiteData = dataIn(req.session)
  await call((done) => req.session.reload(done)).catch(() => {}) // never saved: it stays as it is
  return withChanges(req[KNOWN]?.read ?? mine, mine, dataIn(req.session))
}

function call(run: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => run((error) => (error ? reject(error) : resolve())))
}
