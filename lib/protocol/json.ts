/** Strict reading of JSON in tokens, so that all readers get the same value for a name. */
import { isUtf8 } from 'node:buffer'

/** Counts the members of the top-level object in a valid JSON text. A repeated name counts each time. */
function membersWritten(text: string): number {
  let [depth, members] = [0, 0]
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (sign === '"') at = endOfText(text, at)
    else if (sign === '{' || sign === '[') depth += 1
    else if (sign === '}' || sign === ']') depth -= 1
    else if (sign === ':' && depth === 1) members += 1
  }
  return members
}

/** Returns the index of the quotation mark that ends a string. The string begins at `from`. */
function endOfText(text: string, from: number): number {
  let at = from + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

/**
 * Reads a JSON object strictly.
 * @param bytes UTF-8 without a byte order mark
 * @returns the object, or `undefined` for bad UTF-8, bad JSON, a repeated name, or a value that is not an object
 */
export function readJsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    if (!isUtf8(bytes)) return undefined
    const text = bytes.toString('utf8')
    const value: unknown = JSON.parse(text)
    return isObject(value) && Object.keys(value).length === membersWritten(text) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Parses JSON of another system, without members named `__proto__`: a copy of the object would take such a member for its prototype.
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseForeignJson(text: string): unknown {
  const mayHaveName = text.includes('__proto__') || text.includes('\\u') // a name may be written with escapes
  return mayHaveName ? JSON.parse(text, (name, value) => (name === '__proto__' ? undefined : value)) : JSON.parse(text)
}

/** Is the value a JSON object (not null, not an array)? */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Is the value a whole number from 0 that JavaScript represents exactly? */
export function isNonNegativeInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
