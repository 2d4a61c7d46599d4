/** Texts of the built-in pages, and HTML with every value escaped. */
import type { AllTexts, TextCode } from '../../config/texts/en'

/** Returns a text with `{attempts}`, `{minutes}` and `{hours}` replaced by their values. */
export function localizedText(texts: AllTexts, code: TextCode, values: Readonly<Record<string, number>> = {}): string {
  return texts[code].replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  )
}

/** Markup that is already escaped. */
export class Html {
  constructor(readonly text: string) {}
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function renderValue(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(renderValue).join('')
  if (value === undefined || value === null || value === false) return ''
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** Template tag that escapes every value but `Html`. Arrays are joined. `undefined`, `null` and `false` become empty text. */
export function html(parts: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return new Html(parts.reduce((text, part, index) => text + renderValue(values[index - 1]) + part))
}
