/** Reads and sets the session cookie, which is signed as the package cookie-signature does. No other file sets the cookie. Threats S1 to S3, S19. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'
import type { Config } from '../../config'
import { cookieValues } from '../http/request-facts'
import { appendCookie, makePrivate } from '../http/response-headers'

/** Result of reading the session cookie. */
export interface CookieFinding {
  readonly id: string | undefined
  /** There are two cookies of this name, or this process does not have the secret of the signature. */
  readonly isUnreadable: boolean
  readonly isDoubled: boolean
}

/** No cookie, or a cookie in another format. */
const NONE: CookieFinding = Object.freeze({ id: undefined, isUnreadable: false, isDoubled: false })
const SIGNED = /^s:([\w-]{43})\.([A-Za-z0-9+/]{43})$/
const SESSION_ID = /^[\w-]{43}$/

/** Does this value have the format of a session ID? */
export function isSessionId(id: unknown): id is string {
  return typeof id === 'string' && SESSION_ID.test(id)
}

const signatureOf = (id: string, key: KeyObject) => createHmac('sha256', key).update(id).digest('base64').slice(0, 43)

/** The session cookie of a site. */
export class SessionCookie {
  readonly #name: string
  /** All keys verify. The first key signs. Created once, because the creation of a key costs more than a signature. */
  readonly #keys: readonly KeyObject[]
  readonly #attributes: string

  constructor({ cookies, sessionSecrets, isSecure }: Config) {
    this.#name = cookies.session
    this.#keys = sessionSecrets().map((secret) => createSecretKey(secret, 'utf8'))
    this.#attributes = `HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  }

  isIn(req: Request): boolean {
    return cookieValues(req, this.#name).length > 0
  }

  /** Reads the cookie from the request header, and ignores the result of any cookie parser. */
  read(req: Request): CookieFinding {
    const [value, ...more] = cookieValues(req, this.#name)
    if (value === undefined) return NONE
    if (more.length > 0) return { id: undefined, isUnreadable: true, isDoubled: true }
    const [, id = '', signature = ''] = SIGNED.exec(decoded(value)) ?? []
    if (id === '') return NONE
    const given = Buffer.from(signature)
    const isGood = this.#keys.some((key) => timingSafeEqual(Buffer.from(signatureOf(id, key)), given))
    return { id: isGood ? id : undefined, isUnreadable: !isGood, isDoubled: false }
  }

  /** Sets the cookie while the response headers are being written. @param end milliseconds since 1970, default when the browser closes */
  send(res: Response, id: string, end: number | undefined): void {
    const [key] = this.#keys
    if (key) this.#put(res, encodeURIComponent(`s:${id}.${signatureOf(id, key)}`), end)
  }

  drop(res: Response): void {
    this.#put(res, '', 0)
  }

  #put(res: Response, value: string, end: number | undefined): void {
    const expires = end === undefined ? '' : `Expires=${new Date(end).toUTCString()}; `
    appendCookie(res, this.#name, `${this.#name}=${value}; Path=/; ${expires}${this.#attributes}`)
    makePrivate(res)
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
