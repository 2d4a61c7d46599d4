/** Makes tokens of attackers and of broken platforms. Uses `node:crypto` alone, because a JWT library prevents such mistakes. */
import { createHmac, randomBytes } from 'node:crypto'

/** Claims of a token, unverified. */
export type Claims = Readonly<Record<string, unknown>>

/** The readable parts of a token. */
export interface ReadToken {
  readonly header: Claims
  readonly claims: Claims
}

/** Reads a token without verifying the token. */
export function decodeToken(token: string): ReadToken | undefined {
  const [header, claims] = token.split('.', 2).map((part) => {
    try {
      const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
      return typeof value === 'object' && value !== null ? { ...value } : undefined
    } catch {
      return undefined
    }
  })
  return header && claims ? { header, claims } : undefined
}

/** Returns a part of a token. */
export const encodeClaims = (value: Claims): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Options for signing. */
export interface SignOptions {
  readonly secret: string
  readonly header?: Claims
  readonly hash?: 'sha256' | 'sha384' | 'sha512' | undefined
}

/** Signs claims. The signature is empty if `alg` is `none`. */
export function forge(
  claims: Claims,
  { secret, header = { alg: 'HS256', typ: 'JWT' }, hash = 'sha256' }: SignOptions,
): string {
  const signed = `${encodeClaims(header)}.${encodeClaims(claims)}`
  if (String(header['alg']).toLowerCase() === 'none') return `${signed}.`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

/** Encodes the same signature differently, because the last base64url character has two unused bits. */
export function respell(token: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = letters.indexOf(token.slice(-1))
  return token.slice(0, -1) + letters.charAt(last ^ 1)
}

/** Returns a secret that is not the client's. */
export const otherSecret = (): string => randomBytes(32).toString('hex')

/** Is a request token signed with the secret? */
export function isSignedWith(token: string, secret: string): boolean {
  const end = token.lastIndexOf('.')
  return createHmac('sha256', secret).update(token.slice(0, end)).digest('base64url') === token.slice(end + 1)
}

/** Returns the claims for a report, with passwords and tickets masked. */
export function maskedClaims(token: string): Readonly<Record<string, string | number | boolean | null>> {
  const claims = decodeToken(token)?.claims ?? {}
  const plain = (value: unknown) =>
    typeof value === 'number' || typeof value === 'boolean' || value === null ? value : String(value).slice(0, 300)
  return Object.fromEntries(
    Object.entries(claims).map(([name, value]) => [
      name,
      (name === 'pwd' || name === 'at') && value !== null ? '***' : plain(value),
    ]),
  )
}
