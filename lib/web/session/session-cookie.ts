/** Reads the session cookie as express-session signs it, before express-session runs. Threats S1 to S3. */
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import type { Config } from '../../config'
import { cookieValues } from '../http/request-facts'

/** Result of reading the session cookie. */
export interface FoundCookie {
  readonly id: string | undefined
  readonly isThere: boolean
  /** Two cookies of this name count as none, because the package did not set both. */
  readonly isDoubled: boolean
}

const SIGNED = /^s:([\w-]{43})\.([A-Za-z0-9+/]{43})$/
const NONE: FoundCookie = Object.freeze({ id: undefined, isThere: false, isDoubled: false })

/** Returns a new session ID: 256 random bits. */
export const newSessionId = (): string => randomBytes(32).toString('base64url')

const signatureOf = (id: string, key: KeyObject) => createHmac('sha256', key).update(id).digest('base64').slice(0, 43)

/** Returns a reader of the session cookie. The keys are made once, because that costs more than a signature. */
export function sessionCookieReader({ cookies, sessionSecrets }: Config): (req: Request) => FoundCookie {
  const keys = sessionSecrets().map((secret) => createSecretKey(secret, 'utf8'))
  return (req) => {
    const [value, ...more] = cookieValues(req, cookies.session)
    if (value === undefined) return NONE
    if (more.length > 0) return { id: undefined, isThere: true, isDoubled: true }
    const [, id, signature = ''] = SIGNED.exec(decoded(value)) ?? []
    if (id === undefined) return { id, isThere: true, isDoubled: false }
    const given = Buffer.from(signature)
    const isGood = keys.some((key) => timingSafeEqual(Buffer.from(signatureOf(id, key)), given))
    return { id: isGood ? id : undefined, isThere: true, isDoubled: false }
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
