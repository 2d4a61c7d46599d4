/** Collects the texts of all checks. */
import type { CheckText, CheckTexts } from '../check'
import { identifyTexts, landingTexts } from './identify'
import { inputTexts } from './input'
import { loginTexts, outageTexts } from './login'
import { logoutTexts, sessionTexts } from './logout'
import { callTexts, clockTexts, headerTexts, restTexts } from './others'
import { statusTexts, ticketTexts } from './session'

/** Texts by the name of the check. */
const allTexts: CheckTexts = {
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
  ...inputTexts,
}

/**
 * Returns the texts of a check.
 * @throws {Error} if the check has no texts
 */
export function textOf(name: string): CheckText {
  const text = allTexts[name]
  if (!text) throw new Error(`the check ${name} has no texts`)
  return text
}
