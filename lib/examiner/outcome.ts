/** Judges the status of a response, and names the status in the sentence of a check. */
import type { Page } from './browser'
import type { Response } from './request'

/** Returns the status for a sentence, or the reason for the missing response. */
export const outcomeOf = ({ status, error }: Pick<Response, 'status' | 'error'>): string => String(status || error)

/** Says how the site responds, as the predicate of a sentence. */
export const responseOf = ({ status, error }: Pick<Response, 'status' | 'error'>): string => {
  if (status > 0) return `responds ${status}`
  return isUnanswered({ error }) ? `gives ${error}` : `gives no response (${error})`
}

/** Did the examiner wait in vain for a response? */
export const isUnanswered = ({ error }: Pick<Response, 'error'>): boolean => error.startsWith('no response')

/** Is the response a server error, or is there no response? */
export const isServerError = ({ status }: Pick<Response, 'status'>): boolean => status === 0 || status >= 500

/** Returns the status of the first response, before any redirect. */
export const firstStatus = ({ hops: [first] }: Page): number => Number(first?.status)

/** Is the response any error, or is there no response? */
export const isAnyError = ({ status }: Pick<Response, 'status'>): boolean => status === 0 || status >= 400
