import { createHmac } from 'node:crypto'

/*
 * The tests' own token signer, on node:crypto alone. It shares no line with the package or the emulator,
 * so that a mistake which both make in the same way is still seen.
 */

/** Signs any claims, wrong ones too. `header` replaces or adds members of `{ alg: 'HS256', typ: 'JWT' }`. */
export function signJwt(claims: object, secret: string, header: object = {}): string {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode(claims)}`
  return `${signed}.${hmac(signed, secret)}`
}

/** Takes a token apart without checking anything but its three parts. `signed` is the part that the signature covers. */
export function readJwt(token: string) {
  const [head = '', body = '', signature = '', ...rest] = token.split('.')
  if (head === '' || body === '' || rest.length > 0) throw new Error('not a token of three parts')
  return { header: decode(head), claims: decode(body), signature, signed: `${head}.${body}` }
}

/** True when the signature is the one that `secret` makes. */
export function isSignedWith(token: string, secret: string): boolean {
  const { signature, signed } = readJwt(token)
  return signature === hmac(signed, secret)
}

function hmac(signed: string, secret: string): string {
  return createHmac('sha256', secret).update(signed).digest('base64url')
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>
}
