/** Checks options and arguments of the clients for the SSO system and the REST API. */
import type { z } from 'zod'

/** Returns the value as the schema reads it. @throws {TypeError} that names every wrong field, and no value */
export function checkArgument<T>(of: string, schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value)
  if (!error) return data
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'argument'}: ${message}`)
  throw new TypeError(`${of}: ${problems.join('; ')}`)
}
