/** Forms that pages of others send: their descriptions, and the headers that browsers give them. */
import { crossSite, oldBrowser } from '../browser'

/** A form of another page: its description, and the headers of its request. */
export type ForeignForm = readonly [name: string, headers: Readonly<Record<string, string>>]

/** Returns the forms of other pages, for modern browsers and for old ones without Fetch Metadata. */
export function foreignForms(siteUrl: string): readonly ForeignForm[] {
  const { origin, protocol, host } = new URL(siteUrl)
  const old = (from: string) => ({ ...oldBrowser, origin: from, ...(from === 'null' ? {} : { referer: `${from}/` }) })
  const [longer, similar] = [`${origin}.attacker.invalid`, `${protocol}//attacker-${host}`]
  const sibling = `${protocol}//sibling.${host}`
  return [
    ['a form on another site', crossSite],
    ['a form on another site, in an old browser (no Sec-Fetch-Site, only Origin),', old('https://attacker.invalid')],
    [`a form whose Origin begins like that of the site (${longer}), in an old browser,`, old(longer)],
    [`a form whose Origin ends like that of the site (${similar}), in an old browser,`, old(similar)],
    ['a form with Origin: null, in an old browser,', old('null')],
    [
      `a form on a sibling domain (${sibling})`,
      { 'sec-fetch-site': 'same-site', origin: sibling, referer: `${sibling}/` },
    ],
  ]
}
