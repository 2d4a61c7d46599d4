/** Watches whether users can be loaded, at the token endpoint and the user path. */
import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../errors'

/** Does this error concern every user? A refused ticket (HTTP 400, RFC 6749) or an unknown user concerns one user only. */
function concernsEveryUser(error: unknown): boolean {
  if (error instanceof PlatformApiError) return error.httpStatus === 429 || Math.floor(error.httpStatus / 100) !== 4
  if (error instanceof Sso2ResponseError) return error.httpStatus !== 400
  return error instanceof Sso2UnavailableError
}

/** So many failures in a row mean that no user can log in. */
const FAILURES = 3
/** A failure counts for so long. A site that a load balancer has taken out gets no login that could succeed. */
const FAILURE_MS = 60_000

/** Health of logins: the outcomes of the last exchanges of tickets for users, at the token endpoint and the user path. */
export class LoginHealth {
  #failures = 0
  #failedAt = 0

  /** False after three failures in a row, for a minute. */
  get isAvailable(): boolean {
    return this.#failures < FAILURES || performance.now() - this.#failedAt > FAILURE_MS
  }

  /** @returns does this end a row of failures? */
  noteSuccess(): boolean {
    const hasRecovered = this.#failures >= FAILURES
    this.#failures = 0
    return hasRecovered
  }

  /** @param error counts unless it concerns one user only */
  noteFailure(error: unknown): void {
    if (!concernsEveryUser(error)) return
    this.#failures += 1
    this.#failedAt = performance.now()
  }
}
