/** Return addresses of an attacker, for every page that takes a return address. */
import type { Page } from '../browser'
import { matchesOf } from '../html'

const everywhere = [
  'https://attacker.invalid/',
  '//attacker.invalid/',
  '/\\attacker.invalid/',
  '\\\\attacker.invalid/',
  'https:attacker.invalid/',
  'https:///attacker.invalid/',
  '/\t/attacker.invalid/',
  '/%09/attacker.invalid/',
  '%2F%2Fattacker.invalid%2F',
  '%252F%252Fattacker.invalid%252F',
  '/%2F%2Fattacker.invalid/',
  '/%252F%252Fattacker.invalid/',
  '/.//attacker.invalid/',
  '/x/..//attacker.invalid/',
  'javascript:alert(1)//attacker.invalid',
]

/** Returns the attacker's addresses. The last ones begin or end like the site's address. */
export function hostileAddresses(siteUrl: string): readonly string[] {
  const { protocol, host, hostname } = new URL(siteUrl)
  return [
    ...everywhere,
    `${protocol}//${host}@attacker.invalid/`,
    `${protocol}//${host}.attacker.invalid/`,
    `${protocol}//${hostname}.attacker.invalid/`,
    `${protocol}//attacker-${host}/`,
    `${protocol}//${host}\\@attacker.invalid/`,
    `${protocol}//${host}//attacker.invalid/`,
  ]
}

/** A tag that lets the browser go on to another page. */
const REFRESH = /<meta\b[^>]*\bhttp-equiv=["']?refresh\b[^>]*\burl=["']?([^"'>\s]+)/gi

/** Returns the attacker's address to which a page leads without a redirect: by a link or by a refresh. */
export function hostileLink({ links, headers, text, url }: Page): string | undefined {
  const [, byHeader = ''] = /\burl=(\S+)/i.exec(headers['refresh'] ?? '') ?? []
  const byTag = matchesOf(text, REFRESH)
  return [...links.map(({ href }) => href), ...byTag, byHeader]
    .filter((address) => address.includes('attacker') && URL.canParse(address, url.href)) // scripts have links too
    .find((address) => isHostile(new URL(address, url.href)))
}

/** Does the address leave the site for the attacker's page or script? */
export const isHostile = ({ hostname, protocol }: URL): boolean =>
  /^attacker-|attacker\.invalid$/.test(hostname) || protocol === 'javascript:'
