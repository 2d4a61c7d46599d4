/** Judges the status of a response, and names the status in the sentence of a check. */
import type { Response } from './request'

/** Returns the status for a sentence, or the reason for the missing response. */
export const outcomeOf = ({ status, error }: Pick<Response, 'status' | 'error'>): string => String(status || error)

/** Is the response a server error, or is there no response? */
export const isServerError = ({ status }: Pick<Response, 'status'>): boolean => status === 0 || status >= 500

/** Is the response any error, or is there no response? */
export const isAnyError = ({ status }: Pick<Response, 'status'>): boolean => status === 0 || status >= 400
