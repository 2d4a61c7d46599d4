/** Defines a control, and reads the requests of controls. */
import type { Request } from 'express'
import type { z } from 'zod'
import { optionProblems } from '../config/schema'

/** A control: its description and its function. */
export interface Control {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below `/_emulator`, in Express syntax. */
  readonly path: string
  /** Description in a sentence. */
  readonly does: string
  /** Example of a body. */
  readonly body?: object
  /** Status of the response. Default 200. */
  readonly status?: number
  /**
   * Returns the JSON of the response.
   * @throws {ControlError} if the request is refused
   */
  answer(req: Request): object
}

/** A refusal of a control, which the server sends as a JSON error. */
export class ControlError extends Error {
  constructor(
    readonly httpStatus: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Reads the body of a request with a schema.
 * @throws {ControlError} if the body is wrong, with the path of each problem
 */
export function readControlBody<T>(schema: z.ZodType<T>, req: Request): T {
  const body: unknown = req.body
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const problems = optionProblems(result.error).map(({ option, message }) => `${option}: ${message}`)
  throw new ControlError(400, 'bad_request', problems.join('; '))
}

/** Returns a parameter of the path. */
export function param(req: Request, name: string): string {
  return String(req.params[name])
}
