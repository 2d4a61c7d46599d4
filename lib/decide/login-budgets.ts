/** Budgets of logins and landings, by address and network, and the user names that limits compare. Pure. Threats F3, F4, F16, F20, S8. */

/** Maximum of attempts in a time. */
export interface Limit {
  readonly attempts: number
  readonly perSeconds: number
}

/** Limit that refused a login. */
export type LimitReason = 'address_and_name' | 'address' | 'network' | 'name' | 'site' | 'held' | 'turn'

/** A count of an attempt. */
interface Budget {
  readonly reason: LimitReason
  /** Address, network or user name that is counted, within the site. */
  readonly subject: string
  readonly limit: number
}

/** The counts of an attempt, the narrowest first. */
export interface Budgets {
  readonly counts: readonly [Budget, ...Budget[]]
  /** Part of the last count's limit that is reserved for networks without a counted attempt. */
  readonly reserved: number
}

/** Number of shares of the site's limit. Each network counts in a share, so that no Redis key is needed by all logins. */
export const SITE_SHARES = 4
/** Factors of `loginLimit` for an address, and for the whole site. */
const PER_ADDRESS = 5
const PER_SITE = 100
/** Part of the site's limit that is reserved for networks without a failed attempt. */
const RESERVED_PART = 1 / 4
/** Limit of new visitors: ten a second, more than a university or a mobile network behind a single address needs. */
const LANDINGS: Limit = { attempts: 600, perSeconds: 60 }

/**
 * Returns the networks of an address from the widest to the narrowest, each with its multiple of an address's budget.
 * An IPv6 visitor has a whole /64, a customer may have a /56, and a company a /48. For IPv4: /24 and address.
 */
export function networksOf(address: string): readonly [Network, ...Network[]] {
  if (!address.includes(':')) {
    const wide = address.split('.').slice(0, 3).join('.')
    return [
      { name: `${wide}.0/24`, multiple: 4 },
      { name: address, multiple: 1 },
    ]
  }
  const groups = ipv6Groups(address)
  const prefix = (bits: number) =>
    `${groups.map((group, index) => withMask(group, bits - 16 * index)).join(':')}::/${bits}`
  return [
    { name: prefix(48), multiple: 4 },
    { name: prefix(56), multiple: 2 },
    { name: prefix(64), multiple: 1 },
  ]
}

/** An address or network, and its multiple of an address's budget. */
export interface Network {
  readonly name: string
  readonly multiple: number
}

/** Returns the first four groups of an IPv6 address, which identify the /64. */
function ipv6Groups(address: string): number[] {
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':'))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  const groups = [...head, ...zeros, ...tail].slice(0, 4)
  return groups.map((group) => Number.parseInt(group || '0', 16))
}

/** Returns a group of 16 bits as text. All but the first `bits` of them are zero. */
function withMask(group: number, bits: number): string {
  const shift = Math.min(16, Math.max(0, 16 - bits))
  return ((group >> shift) << shift).toString(16)
}

/** Returns the counts of a login attempt of an unrecognised browser. @param name the normalised user name, or its hash */
export function loginBudgets({ attempts }: Limit, address: string, name: string): Budgets {
  const networks = networksOf(address)
  const [widest] = networks
  const narrowest = networks[networks.length - 1] ?? widest
  const perSite = (attempts * PER_SITE) / SITE_SHARES
  const ofNetwork = (network: Network): Budget => ({
    reason: network === narrowest ? 'address' : 'network',
    subject: `login\n${network.name}`,
    limit: attempts * PER_ADDRESS * network.multiple,
  })
  return {
    counts: [
      ofNetwork(widest),
      ...networks.slice(1).map(ofNetwork),
      { reason: 'address_and_name', subject: `login\n${narrowest.name}\n${name}`, limit: attempts },
      { reason: 'site', subject: 'login', limit: perSite },
    ],
    reserved: perSite * RESERVED_PART,
  }
}

/** Returns the counts of an anonymous landing, and the time of the limit. */
export function landingBudgets(address: string): Budgets & { readonly perSeconds: number } {
  const [widest, ...narrower] = networksOf(address)
  const budgetOf = ({ name, multiple }: Network): Budget => ({
    reason: 'network',
    subject: `landing\n${name}`,
    limit: LANDINGS.attempts * multiple,
  })
  return { counts: [budgetOf(widest), ...narrower.map(budgetOf)], reserved: 0, perSeconds: LANDINGS.perSeconds }
}

const MARKS_AND_IGNORABLES = /[\p{M}\p{Default_Ignorable_Code_Point}]/gu

/** Compares letters as databases do that ignore case and accents. */
const { compare } = new Intl.Collator('und', { sensitivity: 'base' })
const PLAIN = [...'0123456789', 'a', 'ae', ...'bcdefghijklmno', 'oe', ...'pqrstuvwxyz'] // in the collator's order

/**
 * Returns the plain letters or digit that such a database takes the character for.
 * @returns '' if the database ignores the character, and the character itself if no letter or digit is equal
 */
function plainOf(character: string): string {
  if (compare(character, '') === 0) return ''
  let [first, last] = [0, PLAIN.length - 1]
  while (first <= last) {
    const middle = (first + last) >> 1
    const plain = PLAIN[middle] ?? ''
    const order = compare(character, plain)
    if (order === 0) return plain
    if (order < 0) last = middle - 1
    else first = middle + 1
  }
  return character
}

/**
 * Returns the user name without case, width, accents and invisible characters, because the platform may treat such names as the
 * same account.
 * Two accounts with the same normalised name share its limits, which is the safe side.
 */
export function normalisedUsername(username: string): string {
  const letters = username.normalize('NFKD').replace(MARKS_AND_IGNORABLES, '')
  const plain = letters.replace(/[^\x20-\x7e]/gu, plainOf)
  return plain.toLowerCase().toUpperCase().toLowerCase().trim().normalize('NFKC') // upper case writes out the sharp s
}
