import { TokenError } from '../../lib/errors'
import { type Expected, makeKeys } from '../../lib/protocol/token'

/** The one moment of these tests, in seconds since 1970. */
export const NOW = 1_800_000_000
export const SECRET = 'a secret that only this test and its oracle know'
export const keys = makeKeys(SECRET)
export const expected: Expected = { issuer: 'sso-service', audience: 'the-site', now: NOW, toleranceSeconds: 5 }

/** Runs what must refuse a token, and tells why it did; anything but a `TokenError` is the test's failure. */
export function refusalOf(run: () => unknown): { reason: string; detail: string | undefined } | 'taken' {
  try {
    run()
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    return { reason: error.reason, detail: error.detail }
  }
  return 'taken'
}
