/** Forms that pages of others send: their descriptions, and the headers that browsers give them. */
import { crossSite, oldBrowser } from '../browser'
import type { Form } from '../html'

/** A form of another page: its description, and the headers of its request. */
export type ForeignForm = readonly [name: string, headers: Readonly<Record<string, string>>]

/** Returns the forms of other pages, for modern browsers and for old ones without Fetch Metadata. */
export function foreignForms(siteUrl: string): readonly ForeignForm[] {
  const { origin, protocol, host } = new URL(siteUrl)
  const old = (from: string) => ({ ...oldBrowser, origin: from, ...(from === 'null' ? {} : { referer: `${from}/` }) })
  const sibling = `${protocol}//sibling.${host}`
  const forms: readonly ForeignForm[] = [
    ['a form on another site', crossSite],
    ['a form on another site, in an old browser', old('https://attacker.invalid')],
    ['a form whose Origin begins like that of the site, in an old browser', old(`${origin}.attacker.invalid`)],
    ['a form whose Origin ends like that of the site, in an old browser', old(`${protocol}//attacker-${host}`)],
    ['a form without an Origin of its own, in an old browser', old('null')],
    [
      'a form on a page of a sibling domain',
      { 'sec-fetch-site': 'same-site', origin: sibling, referer: `${sibling}/` },
    ],
  ]
  return forms.map(([name, headers]) => [`${name} (${metadataOf(headers)})`, headers])
}

/** Returns the form without its fields, and as the attacker gets it: with tokens that are of the attacker's own session. */
export const formsOfAttacker = (form: Form): readonly Form[] => {
  const hidden = form.fields.filter(({ type }) => type === 'hidden')
  const bare = { ...form, fields: [] }
  return hidden.length === 0 ? [bare] : [bare, { ...form, fields: hidden }]
}

/** Names the hidden fields of a form for a sentence. */
export const hiddenFieldsOf = ({ fields }: Form): string =>
  fields.length === 0 ? '' : ` with ${fields.map(({ name }) => name).join(' and ')} of the attacker's own form`

const metadataOf = (headers: ForeignForm[1]) =>
  `${headers['sec-fetch-site'] ? `Sec-Fetch-Site: ${headers['sec-fetch-site']}` : 'no Sec-Fetch-Site'}, Origin: ${headers['origin']}`
