/** Masks secrets in a text before it is printed. Pure. Threats O6, O8. */

const MASK = '***'
/** A secret of fewer characters is masked only as a whole word. */
const SHORT = 8
/** A secret of so many characters is masked from its first half on, because a text may be cut off. */
const LONG = 16

/** Forms of secrets: tokens, and credentials in headers, forms, JSON and addresses. The first group stays. */
const SHAPES: readonly RegExp[] = [
  /()\beyJ[\w-]{4,}(?:\.[\w-]*){0,2}/g,
  /\b((?:Bearer|Basic)\s+)[\w.~+/=-]+/gi,
  /((?:access|refresh|id)_?token["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s,;&)}\]]+)/gi,
  /((?:client_?secret|password|passwd|pwd|authorization|cookie)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s,;&)}\]]+)/gi,
  /([?&](?:code|t|token|ticket)=)[^&\s"'#]+/gi,
  /(:\/\/)[^\s/@:]*:[^\s/@]*(?=@)/g,
  /()(?<![\w-])[\w-]*-secret-[\w-]+/gi, // names itself a secret
]

/** Returns the text without the secrets, in all usual encodings, and without anything in the form of a secret. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return SHAPES.reduce((rest, shape) => rest.replace(shape, `$1${MASK}`), maskKnown(text, secrets))
}

/** Returns the text without the secrets, in all usual encodings. */
export function maskKnown(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.filter(Boolean).flatMap(secretSpellings))
  return [...forms].sort((one, other) => other.length - one.length).reduce(withoutForm, text)
}

/** Masks a secret to the end of the word. */
function withoutForm(text: string, form: string): string {
  const begin = escaped(form.slice(0, form.length < LONG ? form.length : Math.ceil(form.length / 2)))
  const pattern = form.length < SHORT ? `(?<!\\w)${begin}(?!\\w)` : `${escaped(form)}|${begin}[\\w.~+/=%-]*`
  return text.replace(new RegExp(pattern, 'gi'), MASK)
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** Returns a secret in the encodings of URLs, JSON, hex and base64, in base64 also from inside a longer text. */
function secretSpellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const encoded = encodeURIComponent(bytes.toString()) // without lone surrogates, which cannot be encoded
  const begun = [0, 1, 2].map((skipped) => bytes.subarray(skipped))
  const base64 = begun.flatMap((part) => [part.toString('base64'), part.toString('base64url')])
  const long = [bytes.toString('hex'), ...base64].filter((form) => form.length >= SHORT)
  return [secret, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(secret).slice(1, -1), ...long]
}

/** Returns the text without line breaks and control characters, so that the text cannot add lines to a log. */
export function onOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
}
