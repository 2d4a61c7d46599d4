import type { Platform } from '../platform'

/** One rule of the specification, held against a platform that was just reset. */
export interface Check {
  /** The table or section that the rule stands in. */
  table: string
  name: string
  run(platform: Platform): Promise<void>
}

/** Makes checks of one table. */
export function rulesOf(table: string): (name: string, run: Check['run']) => Check {
  return (name, run) => ({ table, name, run })
}
