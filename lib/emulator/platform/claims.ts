/** Claims of a request as the platform reads them, once their token was checked. */

/** Claims by name, as the sender wrote them. */
export type Claims = Readonly<Record<string, unknown>>

/** A claim that is a string, or the empty string. Own members only: `constructor` is no claim. */
export function text(claims: Claims, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' ? value : ''
}
