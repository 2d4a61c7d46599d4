/** One row of the table of texts. */
import type { CheckText } from '../check'

/** The fix with this package, where it does all by itself. */
export const SENSIBLE =
  'app.use(sso) does this without any option. Mount it before your own routes, and add no second handler.'

/** @param good behaviour of a good site, in one sentence */
export const row = (good: string, effect: string, source: string, fix: string, fixHere: string): CheckText => ({
  good,
  effect,
  source,
  fix,
  fixHere,
})
