/** What of an answer, or of the want of one, is the SSO system's fault. */
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../errors'
import { SessionToken } from '../protocol/session-token'
import type { Circuit } from './circuit'

/** No answer, or none that can be used. Where that is so for one session alone, the probe finds out before the circuit opens. */
export const isFault = (error: Error) =>
  error instanceof Sso2UnavailableError || error instanceof Sso2ResponseError || error instanceof TokenError

/** It does not take our tokens: whatever is asked next, it will say the same. */
export const isFaulty = (answer: unknown) => answer instanceof SessionToken && answer.err === 'invalid_token'

/** An answer to a login that cannot be used, on its way past the circuit. */
class Answered extends Error {
  constructor(readonly answer: Sso2ResponseError | TokenError) {
    super()
  }
}

/**
 * Runs an Authenticate. What the SSO system answers to it may be about what somebody typed: that opens the circuit for nobody, and is a
 * reason to find out how the system is, unless it asks to be left alone. No answer at all counts as ever.
 */
export async function runLogin(circuit: Circuit, call: () => Promise<SessionToken>): Promise<SessionToken> {
  try {
    const { token } = await circuit.run('authenticate', async () => {
      try {
        return { token: await call() } // whatever is in it
      } catch (error) {
        throw error instanceof Sso2ResponseError || error instanceof TokenError ? new Answered(error) : error
      }
    })
    return token
  } catch (error) {
    if (!(error instanceof Answered)) throw error
    const { answer } = error
    if (!(answer instanceof Sso2ResponseError && answer.status === 429)) circuit.doubt()
    throw answer
  }
}
