/** Builds HTML from templates and escapes all texts. */

/** A piece of HTML. */
export class Html {
  constructor(readonly text: string) {}
}

/** Values of a template. Text is escaped, pieces of HTML are not. `undefined` and `false` add nothing. */
export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false

/** Template tag. Attribute values in templates are always in double quotes. */
export function portalHtml(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => part + renderPortalValue(values[index])).join(''))
}

function renderPortalValue(value: HtmlValue): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  return typeof value === 'object' ? value.map(renderPortalValue).join('') : escapeText(String(value))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
