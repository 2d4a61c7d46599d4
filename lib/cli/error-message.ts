/** Returns the message of whatever was thrown, for a line on the standard error. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error')
