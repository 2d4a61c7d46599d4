/** User names as the limits compare them. Pure. Threats F3, F16. */

const MARKS_AND_IGNORABLES = /[\p{M}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Returns the normalised user name: without case, width, accents and invisible characters. The platform may take names that differ in
 * these for one account. Two accounts that share a normalised name share its limits, which is the safe side.
 */
export function normalisedUsername(username: string): string {
  const plain = username.normalize('NFKD').replace(MARKS_AND_IGNORABLES, '')
  return plain.toLowerCase().toUpperCase().toLowerCase().trim().normalize('NFKC') // upper case writes out the sharp s
}
