/** One service token for all calls without an identity: fetched when needed, shared by parallel calls, kept until shortly before it ends. */
import type { Grant } from './ticket'

const MARGIN_SECONDS = 30
const DEFAULT_LIFE_SECONDS = 300

/** @param fetchGrant asks the authorization server; @param now seconds since 1970 */
export function serviceTokenSource(
  fetchGrant: () => Promise<Grant>,
  now: () => number,
): (isRefused: boolean) => Promise<string> {
  let kept: { readonly grant: Promise<Grant>; readonly until: () => number } | undefined
  const renew = () => {
    let until = Number.POSITIVE_INFINITY
    const grant = fetchGrant()
    const entry = { grant, until: () => until }
    kept = entry
    grant.then(
      ({ expiresAt }) => {
        until = (expiresAt ?? now() + DEFAULT_LIFE_SECONDS) - MARGIN_SECONDS
      },
      () => {
        if (kept === entry) kept = undefined
      },
    )
    return grant
  }
  return async (isRefused) => {
    const current = kept && !isRefused && now() < kept.until() ? kept.grant : renew()
    return (await current).token()
  }
}
