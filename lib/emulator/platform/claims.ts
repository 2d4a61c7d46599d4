/** Reads the claims of verified requests. */

/** Claims by name, as received. */
export type Claims = Readonly<Record<string, unknown>>

/** Returns a claim, or an empty string if the claim is not a string. Ignores inherited members such as `constructor`. */
export function text(claims: Claims, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' ? value : ''
}
