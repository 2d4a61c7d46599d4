/** Masks what must not be printed in a text that is about to be. Pure. Threats O6, O8. */

const MASK = '***'
/** Whoever prints so many characters of the beginning of a secret prints it. */
const BEFORE_SECRET = 8

/** What nobody may print, whoever it belongs to: tokens, credentials in headers, forms, JSON and addresses. The first group stays. */
const SHAPES: readonly RegExp[] = [
  /()\beyJ[\w-]{4,}(?:\.[\w-]*){0,2}/g,
  /\b((?:Bearer|Basic)\s+)[\w.~+/=-]+/gi,
  /((?:access|refresh|id)_?token["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s,;&)}\]]+)/gi,
  /((?:client_?secret|password|passwd|pwd|authorization|cookie)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s,;&)}\]]+)/gi,
  /([?&](?:code|t|token|ticket)=)[^&\s"'#]+/gi,
  /(:\/\/)[^\s/@:]*:[^\s/@]*(?=@)/g,
  /()(?<![\w-])[\w-]*-secret-[\w-]+/gi, // it says so itself
]

/** The text without the secrets, in whichever of their usual spellings, and without anything that has the shape of one. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const forms = [...new Set(secrets.flatMap(spellings))].sort((one, other) => other.length - one.length)
  const known = forms.reduce(withoutForm, text)
  return SHAPES.reduce((rest, shape) => rest.replace(shape, `$1${MASK}`), known)
}

/** A long one counts from its beginning on, with whatever of the same word follows; a short one only where it stands alone. */
function withoutForm(text: string, form: string): string {
  const whole = escaped(form)
  const pattern =
    form.length < BEFORE_SECRET
      ? `(?<![\\w])${whole}(?![\\w])`
      : `${whole}|${escaped(form.slice(0, BEFORE_SECRET))}[\\w.~+/=%-]*`
  return text.replace(new RegExp(pattern, 'gi'), MASK)
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** A secret as itself, and as encoders write it; in base64 wherever in a longer text it begins. */
function spellings(secret: string): string[] {
  if (secret === '') return []
  const bytes = Buffer.from(secret)
  const encoded = encodeURIComponent(bytes.toString()) // a lone surrogate has become a character that can be encoded
  const begun = [0, 1, 2].map((skipped) => bytes.subarray(skipped))
  const base64 = begun.flatMap((part) => [part.toString('base64'), part.toString('base64url')])
  const long = [bytes.toString('hex'), ...base64].filter((form) => form.length >= BEFORE_SECRET)
  return [secret, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(secret).slice(1, -1), ...long]
}

/** The text on one line, without control characters: nobody writes lines of his own into a log. */
export function onOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
}
