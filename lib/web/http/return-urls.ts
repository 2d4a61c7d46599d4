/** Where a visitor goes on after a form of ours, and where he finds the form. */
import type { Config } from '../../config'
import { validateReturnTo, withoutFlowParameter } from '../../decide/return-to'

/** The return address of a form or a query; anything that is not ours leads to the front page. */
export function returnToOf(config: Config, value: unknown): string {
  return withoutFlowParameter(validateReturnTo(value, config.returnPolicy) ?? `${config.siteUrl}/`)
}

/** Returns the address of the login page, with one return address. @param loginPage its absolute address, built-in or custom */
export function loginUrl(loginPage: string, returnTo: string, notice?: 'session_ended'): string {
  const [head = '', ...fragment] = loginPage.split('#')
  const more = notice ? `&notice=${notice}` : ''
  const query = `${head.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(returnTo)}${more}`
  return [head + query, ...fragment].join('#')
}
