/**
 * The client's secrets. All verify, and the first signs until the SSO system uses another one. This shows when the SSO system refuses our
 * token in a response that another secret of ours has signed. So the platform may change the secret at any moment.
 */
import type { EpochSeconds } from '../protocol/claims'
import { type Expected, type Keys, makeKeys, signToken, type VerifiedClaims, verifyToken } from '../protocol/token'

/** Signs and verifies with the client's secrets, which are numbered from 0. */
export class ClientKeys {
  readonly #keys: Keys
  #inUse = 0

  /** @param secrets one, or several */
  constructor(secrets: string | readonly string[]) {
    this.#keys = makeKeys(secrets)
  }

  /** Number of the secret that signs. */
  get inUse(): number {
    return this.#inUse
  }

  /** Does the site have several secrets, so that the SSO system may use another one soon? */
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

  /** Notes that the SSO system refused our token. @returns true if it uses another secret, which signs from now on, so a second call helps */
  wasRefused(ours: number, theirs: number): boolean {
    if (ours === theirs) return false
    this.#inUse = theirs
    return true
  }
}
