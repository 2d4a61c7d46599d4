/** Writing of our few helper cookies. Threats S1, S2. */
import type { Response } from 'express'
import type { Config } from '../../config'
import { keepPrivate } from './caching'

/** Sets a helper cookie: HttpOnly, SameSite=Lax, Path=/, Secure over https. @param maxAge seconds; absent: until the browser closes */
export function setCookie(res: Response, config: Config, name: string, value: string, maxAge?: number): void {
  if (typeof res.setHeader !== 'function' || res.headersSent) return // an upgrade, or too late: nobody can be told
  keepPrivate(res)
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  appendCookie(res, name, `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${config.isSecure ? '; Secure' : ''}`)
}

/** Expires a helper cookie. */
export function dropCookie(res: Response, config: Config, name: string): void {
  setCookie(res, config, name, '', 0)
}

/** Adds a line of `Set-Cookie`; replaces what this answer already says about the name. */
export function appendCookie(res: Response, name: string, line: string): void {
  const others = [res.getHeader('set-cookie') ?? []]
    .flat()
    .map(String)
    .filter((other) => !other.startsWith(`${name}=`))
  res.setHeader('set-cookie', [...others, line])
}
