/** Masks secrets in a text before it is printed. Pure. Threats O6, O8. */

const MASK = '***'
/** Random characters at the beginning of a secret that are masked too, because a text may be cut off. */
const BEFORE_SECRET = 8
/** Fewer characters than this are masked only if they contain random characters, or are the whole secret. */
const LONG_PART = 24
/** Share of a secret that is masked too, even if it consists of words. */
const LONG_SHARE = 0.75
/** Words and numbers at the beginning of a secret, for example a host name and its port. */
const WORDS = /^(?:[A-Z]?[a-z]{2,}|[A-Z]{3,}|[^A-Za-z])*/

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
  const forms = [...new Set(secrets.flatMap(secretSpellings))].sort((one, other) => other.length - one.length)
  const known = forms.reduce(withoutForm, text)
  return SHAPES.reduce((rest, shape) => rest.replace(shape, `$1${MASK}`), known)
}

/** Masks a long secret from its beginning to the end of the word. A short secret is masked only as a whole word. */
function withoutForm(text: string, form: string): string {
  const whole = escaped(form)
  const pattern =
    form.length < BEFORE_SECRET
      ? `(?<![\\w])${whole}(?![\\w])`
      : `${whole}|${escaped(form.slice(0, revealingLength(form)))}[\\w.~+/=%-]*`
  return text.replace(new RegExp(pattern, 'gi'), MASK)
}

/** Returns the length of the shortest beginning that reveals a secret. Common words and the site's host name reveal nothing. */
function revealingLength(form: string): number {
  const words = WORDS.exec(form)?.[0].length ?? 0
  return Math.min(words + BEFORE_SECRET, Math.max(LONG_PART, Math.ceil(form.length * LONG_SHARE)))
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** Returns a secret in the encodings of URLs, JSON, hex and base64, in base64 also from inside a longer text. */
function secretSpellings(secret: string): string[] {
  if (secret === '') return []
  const bytes = Buffer.from(secret)
  const encoded = encodeURIComponent(bytes.toString()) // without lone surrogates, which cannot be encoded
  const begun = [0, 1, 2].map((skipped) => bytes.subarray(skipped))
  const base64 = begun.flatMap((part) => [part.toString('base64'), part.toString('base64url')])
  const long = [bytes.toString('hex'), ...base64].filter((form) => form.length >= BEFORE_SECRET)
  return [secret, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(secret).slice(1, -1), ...long]
}

/** Returns the text without line breaks and control characters, so that the text cannot add lines to a log. */
export function onOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
}
