/**
 * The client's secrets in use. The first signs and all verify, until the SSO system says that it takes another one: it refuses our
 * token in an answer of the back channel that it has signed with one of the others. So a secret may be changed there at any
 * moment, and processes need not all follow at once.
 */
import type { EpochSeconds } from '../protocol/claims'
import { type Expected, type Keys, makeKeys, signToken, type VerifiedClaims, verifyToken } from '../protocol/token'

/** @see the head of the file; secrets are named by their place in the list, from 0. */
export class ClientKeys {
  readonly #keys: Keys
  #inUse = 0

  /** @param secrets one, or several */
  constructor(secrets: string | readonly string[]) {
    this.#keys = makeKeys(secrets)
  }

  /** The one that signs. */
  get inUse(): number {
    return this.#inUse
  }

  /** Is the SSO system about to take another secret, as far as anybody can tell? */
  get isRotating(): boolean {
    return this.#keys.length > 1
  }

  /** Signs claims as they are. */
  sign(claims: { readonly iat: EpochSeconds }): string {
    return signToken(claims, this.#keys, this.#inUse)
  }

  /** Verifies a token. @throws {TokenError} with the first check that failed */
  verify(token: unknown, expected: Expected): { readonly claims: VerifiedClaims; readonly signedBy: number } {
    let signedBy = 0
    const onSigned = (key: number) => {
      signedBy = key
    }
    return { claims: verifyToken(token, this.#keys, { ...expected, onSigned }), signedBy }
  }

  /** The SSO system has refused a token of ours. @returns true where it takes another secret, which signs from now on: asking again will help */
  wasRefused(ours: number, theirs: number): boolean {
    if (ours === theirs) return false
    this.#inUse = theirs
    return true
  }
}
