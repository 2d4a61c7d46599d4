/** What a handler fails with reaches the site's error handler, also where it is nothing: to Express that would be no failure. */
import type { NextFunction } from 'express'

/** For `catch`. */
export const failing = (next: NextFunction) => (cause: unknown) =>
  next(cause || new Error('express-sso2: A hook or view failed without an error. See "TypeError" in docs/errors.md.'))
