/** Finds forms and links of a page, as a browser without scripts does. */

/** A form with the fields that a browser would send. */
export interface Form {
  /** Address of the page that has the form. */
  readonly page: string
  readonly action: string
  readonly method: 'GET' | 'POST'
  readonly fields: readonly Field[]
  /** Text inside the form. */
  readonly text: string
}

/** A field of a form. */
interface Field {
  readonly name: string
  readonly type: string
  readonly value: string
}

export interface Link {
  readonly href: string
  readonly text: string
}

/** Returns the forms of a page. `base` is the address of the page. */
export function formsOf(html: string, base: string): Form[] {
  return each(clean(html), /<form\b([^>]*)>([\s\S]*?)<\/form\s*>/gi, (head, inside): Form => {
    const { action, method } = attributes(head)
    return {
      page: base,
      action: absolute(action || base, base),
      method: method?.toUpperCase() === 'POST' ? 'POST' : 'GET',
      fields: formFields(inside),
      text: visibleText(inside),
    }
  })
}

/** Returns what the first group of a pattern matches, each time. */
export const matchesOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => String(found))

/** Returns the links of a page. */
export function linksOf(html: string, base: string): Link[] {
  const found = each(clean(html), /<a\b([^>]*)>([\s\S]*?)<\/a\s*>/gi, (head, inside) => {
    const { href } = attributes(head)
    return href === undefined ? [] : [{ href: absolute(href, base), text: visibleText(inside) }]
  })
  return found.flat()
}

/** Makes a value of each match, from the groups of the pattern. */
function each<T>(text: string, pattern: RegExp, make: (...groups: string[]) => T): T[] {
  return [...text.matchAll(pattern)].map(([, ...groups]) => make(...groups))
}

/** Returns the text of a page, without tags, scripts and styles. */
export function visibleText(html: string): string {
  return decode(clean(html).replace(/<[^<>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim()
}

function formFields(html: string): Field[] {
  let hasButton = false
  const found = html.matchAll(/<input\b([^>]*)>|<(button|select|textarea)\b([^>]*)>([\s\S]*?)<\/\2\s*>/gi)
  return [...found].flatMap(([, ofInput, tag = 'input', ofOther = '', inside = '']) => {
    const head = ofInput ?? ofOther
    const given = attributes(head)
    const isInput = tag.toLowerCase() === 'input'
    const type = (given['type'] ?? (isInput ? 'text' : tag.toLowerCase() === 'button' ? 'submit' : tag)).toLowerCase()
    const { name, value = isInput ? '' : chosen(inside) } = given
    const isButton = type === 'submit' || type === 'image' || type === 'button' || type === 'reset'
    const isLeftOut = isButton && (hasButton || type !== 'submit')
    if (type === 'submit') hasButton = true
    const isUnchecked = (type === 'checkbox' || type === 'radio') && !('checked' in given)
    return name === undefined || isLeftOut || isUnchecked || 'disabled' in given ? [] : [{ name, type, value }]
  })
}

/** Returns the value of a select or a text area. */
function chosen(inside: string): string {
  const options = each(inside, /<option\b([^>]*)>([^<]*)/gi, (head, text) => {
    const given = attributes(head)
    return { value: given['value'] ?? decode(text).trim(), isSelected: 'selected' in given }
  })
  const [first] = options
  if (!first) return decode(inside)
  return (options.find(({ isSelected }) => isSelected) ?? first).value
}

function attributes(head: string): Readonly<Record<string, string>> {
  const pattern = /([^\s=/"'>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g
  const found = each(head, pattern, (name, a?: string, b?: string, c?: string) => [
    name.toLowerCase(),
    decode(a ?? b ?? c ?? ''),
  ])
  return Object.fromEntries(found)
}

const clean = (html: string) => html.replace(/<!--[\s\S]*?-->/g, '').replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, '')

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

function decode(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    if (name !== undefined) return entities[name.toLowerCase()] ?? whole
    return code > 0 && code < 0x11_0000 ? String.fromCodePoint(code) : whole
  })
}

function absolute(address: string, base: string): string {
  return URL.canParse(address, base) ? new URL(address, base).href : base
}
