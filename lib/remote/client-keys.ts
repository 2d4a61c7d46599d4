/**
 * The client's secrets. All secrets verify. The first secret signs, until the SSO system uses another secret of the list. The SSO system
 * shows the change when it refuses a token of the site in a response signed with the other secret. So the platform may change the secret
 * at any moment.
 */
import type { EpochSeconds } from '../protocol/claims'
import { type Expected, type Keys, makeKeys, signToken, type VerifiedClaims, verifyToken } from '../protocol/token'

/** Signs and verifies with the client's secrets, which are numbered from 0. */
export class ClientKeys {
  readonly #keys: Keys
  #inUse = 0

  /** @param secrets a single secret, or several */
  constructor(secrets: string | readonly string[]) {
    this.#keys = makeKeys(secrets)
  }

  /** Number of the signing secret. */
  get inUse(): number {
    return this.#inUse
  }

  /** Does the site have several secrets, so that the SSO system may change to another secret? */
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

  /**
   * Notes that the SSO system refused a token of the site.
   * @param ours number of the secret that signed the token
   * @param theirs number of the secret that signed the response
   * @returns true if the SSO system uses another secret. That secret signs from now on, so a second call helps
   */
  wasRefused(ours: number, theirs: number): boolean {
    if (ours === theirs) return false
    this.#inUse = theirs
    return true
  }
}
