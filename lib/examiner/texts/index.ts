/** Collects the texts of all checks. */
import type { CheckTexts } from '../check'
import { identifyTexts, landingTexts } from './identify'
import { callTexts, clockTexts, headerTexts, loginTexts, outageTexts, restTexts } from './login'
import { logoutTexts, sessionTexts } from './logout'
import { statusTexts, ticketTexts } from './session'

/** Texts by the name of the check. */
export const allTexts: CheckTexts = {
  ...identifyTexts,
  ...landingTexts,
  ...ticketTexts,
  ...statusTexts,
  ...loginTexts,
  ...logoutTexts,
  ...sessionTexts,
  ...outageTexts,
  ...clockTexts,
  ...headerTexts,
  ...restTexts,
  ...callTexts,
}
