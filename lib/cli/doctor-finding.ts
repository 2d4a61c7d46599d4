/** What the doctor finds: one line each. */

/** `note` is something to think about that is not wrong as such. */
export interface Finding {
  readonly state: 'ok' | 'note' | 'wrong'
  readonly what: string
  readonly says: string
}

/** Findings of one subject. */
export const about = (what: string) => ({
  ok: (says: string): Finding => ({ state: 'ok', what, says }),
  note: (says: string): Finding => ({ state: 'note', what, says }),
  wrong: (says: string): Finding => ({ state: 'wrong', what, says }),
})

/** Code or name of an error: enough to act on, and never a value. */
export function codeOf(error: unknown): string {
  const source = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (typeof source !== 'object' || source === null) return 'unknown error'
  if ('code' in source && typeof source.code === 'string') return source.code
  return source instanceof Error ? source.name : 'unknown error'
}
