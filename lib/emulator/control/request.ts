/** What a control is, and how it reads its request. */
import type { Request } from 'express'
import type { z } from 'zod'
import { problemsOf } from '../config/schema'

/** One control: what is listed, and what is done. */
export interface Control {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/_emulator`, as Express writes it. */
  readonly path: string
  /** What it does, in one sentence. */
  readonly does: string
  /** A body to try it with. */
  readonly body?: object
  /** Default 200. */
  readonly status?: number
  /** Gives the JSON of its answer. @throws {ControlError} */
  answer(req: Request): object
}

/** A control that was refused: becomes an answer in the one error shape. */
export class ControlError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** The body of a request, read by a schema; what is wrong with it is said path by path. @throws {ControlError} */
export function readBody<T>(schema: z.ZodType<T>, req: Request): T {
  const body: unknown = req.body
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const problems = problemsOf(result.error).map(({ option, message }) => `${option}: ${message}`)
  throw new ControlError(400, 'bad_request', problems.join('; '))
}

/** A parameter of the path. */
export function param(req: Request, name: string): string {
  const value: unknown = req.params[name]
  return typeof value === 'string' ? value : ''
}
