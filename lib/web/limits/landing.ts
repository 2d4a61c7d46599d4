/** Limits how many anonymous sessions each address and network begins, so that a flood does not fill Redis. Threats S8, F20. */
import { landingBudgets } from '../../decide/login-budgets'
import type { Counts } from '../../storage/counts'
import type { LandingLimit } from '../site'
import { isLocalAddress } from './ip-network'

/** A local address is never limited: a proxy may show it in place of all visitors. */
export function landingLimit(counts: Counts): LandingLimit {
  return async (address) => {
    if (isLocalAddress(address)) return false
    const budgets = landingBudgets(address)
    return 'reason' in (await counts.add(budgets, budgets.perSeconds))
  }
}
