/** Finds secrets in pages, cookies and the output of a site, plain or encoded. */
import { type Claims, decodeToken } from './tokens'

const TOKEN = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*/g

/** Does the text contain the secret: plain, URL-encoded, or in base64 at any offset? */
export function holds(text: string, secret: string): boolean {
  const encoded = encodeURIComponent(secret)
  return [secret, encoded, encoded.replaceAll('%20', '+'), ...inBase64(secret)].some((spelling) =>
    text.includes(spelling),
  )
}

/** Returns the secret as base64 writes it inside of a longer text, for each of the three offsets. */
function inBase64(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.from('\0'.repeat(offset) + secret)
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64')
    const text = whole.slice(offset === 0 ? 0 : 4) // the first four characters depend on what stands before
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** A token of SSO2 in a text, with the line that has it. */
export interface FoundToken {
  readonly token: string
  readonly claims: Claims
  /** The line, with each token replaced by `<token>`. */
  readonly line: string
}

/** Returns the tokens of a text, line by line. */
export function tokensIn(text: string): FoundToken[] {
  return text.split('\n').flatMap((whole) =>
    (whole.match(TOKEN) ?? []).flatMap((token) => {
      const claims = decodeToken(token)?.claims
      return claims ? [{ token, claims, line: shortLine(whole, '<token>') }] : []
    }),
  )
}

/** Names a token by its claims. */
export function kindOf(claims: object): string {
  if ('pwd' in claims) return 'a request token of Authenticate, with the password,'
  return 'sts' in claims ? 'a Session Token' : 'a request token'
}

/** Returns the lines that hold a secret, with the secret and all tokens replaced. */
export function linesWith(text: string, secret: string): string[] {
  if (!holds(text, secret)) return [] // nearly always, and a log is long
  return text
    .split('\n')
    .filter((line) => holds(line, secret))
    .map((line) => shortLine(line.replaceAll(secret, MASK), MASK))
}

const MASK = '<secret>'
/** Characters that a report shows of a line: of its beginning, and before and after the secret. */
const SHOWN = 80

/** Returns the beginning of a line and the part around a word, without everything that may be a secret. */
function shortLine(line: string, word: string): string {
  const shown = withoutSecrets(line).trim()
  const at = shown.indexOf(word)
  if (at <= 2 * SHOWN) return shown.slice(0, 3 * SHOWN)
  return `${shown.slice(0, SHOWN)} … ${shown.slice(at - SHOWN, at + SHOWN)}`
}

/** Masks everything of a text that may be a secret, so that a report can show the rest. */
export const withoutSecrets = (text: string): string =>
  text
    .replace(TOKEN, '<token>')
    .replace(/((?:pass|pwd|secret|token|csrf)[^=&\s]*=)[^&\s<][^&\s]*/gi, '$1***')
    .replace(/[\w-]{20,}/g, '<…>')
