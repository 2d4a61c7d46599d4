/** What of an answer, or of the want of one, is the SSO system's fault. */
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../errors'
import { SessionToken } from '../protocol/session-token'

/** No answer, or none that can be used. Where that is so for one session alone, the probe finds out before the circuit opens. */
export const isFault = (error: Error) =>
  error instanceof Sso2UnavailableError || error instanceof Sso2ResponseError || error instanceof TokenError

/** It does not take our tokens: whatever is asked next, it will say the same. */
export const isFaulty = (answer: unknown) => answer instanceof SessionToken && answer.err === 'invalid_token'
