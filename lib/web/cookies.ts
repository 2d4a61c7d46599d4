/** Strict reading of the Cookie header, and writing of our few helper cookies. Threats S1, S2. */
import type { Request, Response } from 'express'
import type { Config } from '../config'
import { keepPrivate } from './private'

/** Values of one exact name; only space and tab are trimmed, as the standard says. */
function valuesOf(header: string, name: string): string[] {
  const values: string[] = []
  for (const pair of header.split(';')) {
    const mark = pair.indexOf('=')
    if (mark > 0 && pair.slice(0, mark).replace(/^[ \t]+|[ \t]+$/g, '') === name)
      values.push(pair.slice(mark + 1).replace(/^[ \t]+|[ \t]+$/g, ''))
  }
  return values
}

/** The cookie's value; two of one name are none, for one of them is not ours. */
export function readCookie(req: Request, name: string): string | undefined {
  const values = valuesIn(req, name)
  return values.length === 1 ? values[0] : undefined
}

/** Did the browser send several cookies of this name? */
export function isDoubled(req: Request, name: string): boolean {
  return valuesIn(req, name).length > 1
}

function valuesIn({ headers: { cookie } }: Request, name: string): string[] {
  return cookie?.includes(name) ? valuesOf(cookie, name) : []
}

/** Sets a helper cookie: HttpOnly, SameSite=Lax, Path=/, Secure over https. @param maxAge seconds; absent: until the browser closes */
export function setCookie(res: Response, config: Config, name: string, value: string, maxAge?: number): void {
  keepPrivate(res)
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  appendCookie(res, name, `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${config.isSecure ? '; Secure' : ''}`)
}

/** Expires a helper cookie. */
export function dropCookie(res: Response, config: Config, name: string): void {
  setCookie(res, config, name, '', 0)
}

/** Replaces what this answer already says about the name. */
function appendCookie(res: Response, name: string, line: string): void {
  const others = [res.getHeader('set-cookie') ?? []]
    .flat()
    .map(String)
    .filter((other) => !other.startsWith(`${name}=`))
  res.setHeader('set-cookie', [...others, line])
}
