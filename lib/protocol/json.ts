/** Strict reading of JSON text in tokens: one value for a name, whoever reads it. */

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g

/** Does the top level object of this valid JSON text hold one name twice, escapes resolved? */
function hasDuplicateMember(text: string): boolean {
  const seen = new Set<string>()
  let depth = 0
  let last = ''
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
    else if (token === ':' && depth === 1) {
      const name: string = JSON.parse(last)
      if (seen.has(name)) return true
      seen.add(name)
    }
    last = token
  }
  return false
}

/**
 * Reads a JSON object strictly.
 * @param bytes UTF-8 without a byte order mark
 * @returns the object, or `undefined` for anything else: bad UTF-8, bad JSON, not an object, a name twice
 */
export function readJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || hasDuplicateMember(text)) return undefined
    return value
  } catch {
    return undefined
  }
}

/** Is this a JSON object (not null, not an array)? */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
