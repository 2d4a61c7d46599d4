/** One service token for all calls without an identity: fetched when needed, shared by parallel calls, kept until shortly before it ends. */
import type { AccessTokenSource } from './rest-call'
import type { Grant } from './ticket'

const MARGIN_SECONDS = 30
const DEFAULT_LIFE_SECONDS = 300

/** @param fetchGrant asks the authorization server; @param now seconds since 1970 */
export function serviceTokenSource(fetchGrant: () => Promise<Grant>, now: () => number): AccessTokenSource {
  let kept: { readonly grant: Promise<Grant>; until: number } | undefined
  const renew = () => {
    const entry = { grant: fetchGrant(), until: Number.POSITIVE_INFINITY }
    kept = entry
    entry.grant.then(
      ({ expiresAt }) => {
        entry.until = (expiresAt ?? now() + DEFAULT_LIFE_SECONDS) - MARGIN_SECONDS
      },
      () => {
        kept = undefined // no other is begun while one is asked for
      },
    )
    return entry.grant
  }
  return async (refused) => {
    const seen = kept
    if (seen && now() < seen.until) {
      const token = (await seen.grant).token()
      if (token !== refused) return token
    }
    // whoever came first has fetched another one meanwhile
    const newer = kept !== undefined && kept !== seen ? kept.grant : renew()
    return (await newer).token()
  }
}
