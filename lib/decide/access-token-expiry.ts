/** The access token of a login: is it over, and may another one still come? Pure. */
import type { EpochSeconds } from '../protocol/claims'
import type { LoggedInRecord, SsoRecord } from './record'

/** Session Status, the ticket's exchange and naming the user, in milliseconds. */
const RENEWAL_MS = 8000
/** Between the claim of a renewal and the record that shows it, in milliseconds. */
const CLAIM_MS = 500

/** Has the token's life ended, as far as the authorization server told? */
export function isAccessTokenExpired({ accessUntil }: LoggedInRecord, now: EpochSeconds): boolean {
  return accessUntil !== undefined && accessUntil <= now
}

/** Somebody else renews it: may whoever has waited so many milliseconds go on waiting? */
export function mayStillBeRenewed(record: SsoRecord | undefined, waitedMs: number): boolean {
  if (waitedMs > RENEWAL_MS) return false
  return waitedMs < CLAIM_MS || record?.askingAt !== undefined
}
