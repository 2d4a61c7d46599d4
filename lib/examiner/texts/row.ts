/** Creates a row of the table of texts. */
import type { CheckText } from '../check'

/** The fix with this package, if no option is needed. */
export const SENSIBLE =
  'app.use(sso) does this without any option. Mount it before your own routes, and add no second handler.'

/**
 * Creates the texts of a check.
 * @param good behaviour of a good site, in a sentence
 */
export const row = (good: string, effect: string, source: string, fix: string, fixHere: string): CheckText => ({
  good,
  effect,
  source,
  fix,
  fixHere,
})
