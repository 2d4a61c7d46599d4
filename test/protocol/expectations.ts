import { TokenError } from '../../lib/errors'

/** What a refused token was refused for. */
export interface Refusal {
  reason: string
  detail: string | undefined
}

/** Runs what must refuse a token, and tells why it did; anything but a `TokenError` is the test's failure. */
export function refusalOf(run: () => unknown): Refusal | 'taken' {
  try {
    run()
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    return { reason: error.reason, detail: error.detail }
  }
  return 'taken'
}
