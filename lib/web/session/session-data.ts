/** The site's own data in `req.session`: the stored text, and the merge of two versions. Pure. */
import type session from 'express-session'
import { isObject, parseForeignJson } from '../../protocol/json'

/** Content of `req.session`. */
export type SiteData = Readonly<Record<string, unknown>>

/** Returns the site's data in a session object. */
export function dataIn(session: object | null | undefined): SiteData {
  const { cookie: _cookie, ...data }: { cookie?: unknown } = { ...session }
  return data
}

/**
 * Name of the tag in the data: hash of the account that they serve. In the data of a site's own express-session, the hash of the session ID and
 * a point stand before it; the value is `false` if they serve nobody, because some stores do not keep an empty session.
 */
export const TAG = 'sso2'

/** Returns the stored text of a session. @returns `null` for a session without data, which the login record alone keeps */
export function textOf(sess: object, account: string | undefined): string | null {
  if (Object.values(dataIn(sess)).every((value) => value === undefined)) return null
  return JSON.stringify(account === undefined ? sess : { ...sess, [TAG]: account })
}

/** Reads a stored text for express-session. Data of another account, or of a login that has ended, are none. */
export function sessionIn(text: string | null, account: string | undefined): session.SessionData {
  const { [TAG]: tag, cookie, ...data } = parsed(text)
  const known = isObject(cookie) ? cookie : { originalMaxAge: null }
  return { cookie: known as unknown as session.Cookie, ...(tag === undefined || tag === account ? data : {}) } // express-session makes its own object of it
}

/** Returns the content of a stored text. */
function parsed(text: string | null): SiteData {
  try {
    const value: unknown = parseForeignJson(text ?? '{}')
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Applies the changes between `before` and `now` to `under`, by names of the top level. */
export function withChanges(before: SiteData, now: SiteData, under: SiteData): SiteData {
  const result = new Map(Object.entries(under))
  for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (JSON.stringify(before[name]) === JSON.stringify(now[name])) continue
    if (Object.hasOwn(now, name)) result.set(name, now[name])
    else result.delete(name)
  }
  return Object.fromEntries(result)
}
