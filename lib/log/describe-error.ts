/** Describes an error for the site's log: name, message, stack and causes. Pure. Threats O6, O8. */
import { onOneLine } from './masking'

/** Description of an error. */
export interface DescribedError {
  /** Name, code and message of the error and of its causes, on a single line. */
  readonly text: string
  /** Stack frames, innermost first. None for a value that is not an error. */
  readonly frames: readonly string[]
}

const MAX_TEXT = 500
const MAX_FRAMES = 8
const MAX_CAUSES = 3

/** Describes a thrown value of any type. A hook may throw anything, and reading the value may throw again. */
export function describeError(error: unknown): DescribedError {
  try {
    return { text: errorText(error, MAX_CAUSES), frames: framesOf(error) }
  } catch {
    return { text: 'an error that cannot be read', frames: [] }
  }
}

function errorText(error: unknown, causes: number): string {
  if (typeof error === 'string') return `the text "${plain(error)}"`
  if (!isErrorLike(error)) return error === undefined ? 'nothing' : `what is no error (${typeof error})`
  const { name, message, code, cause } = error
  const codeText = typeof code === 'string' && /^\w{1,40}$/.test(code) && !message.includes(code) ? ` (${code})` : ''
  const text = `${plain(String(name ?? 'Error'))}: ${plain(message)}${codeText}`
  return cause === undefined || causes === 0 ? text : `${text}; caused by ${errorText(cause, causes - 1)}`
}

interface ErrorLike {
  readonly name?: unknown
  readonly message: string
  readonly code?: unknown
  readonly cause?: unknown
  readonly stack?: unknown
}

/** Not `instanceof`, because errors of another realm are errors too. */
const isErrorLike = (error: unknown): error is ErrorLike =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'

const plain = (text: string) => onOneLine(text).trim().slice(0, MAX_TEXT)

/** Returns the stack without the message and without frames of Node.js itself. */
function framesOf(error: unknown): string[] {
  if (!isErrorLike(error) || typeof error.stack !== 'string') return []
  return error.stack
    .replace(error.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !line.includes('node:internal'))
    .slice(0, MAX_FRAMES)
    .map(plain)
}
