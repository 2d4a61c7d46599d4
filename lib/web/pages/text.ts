/** One text of the built-in pages, filled in. */
import type { AllTexts, TextCode } from '../../config/texts/en'

/** `{attempts}`, `{minutes}` and `{hours}` give way to their values. */
export function textOf(texts: AllTexts, code: TextCode, values: Readonly<Record<string, number>> = {}): string {
  return texts[code].replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  )
}
