/** Where a visitor goes on after a form of ours, and where he finds the form. */
import type { Config } from '../../config'
import { judgeReturnTo, withoutFlowParameter } from '../../decide/return-to'

/** The return address of a form or a query; anything that is not ours leads to the front page. */
export function returnToOf(config: Config, value: unknown): string {
  return withoutFlowParameter(judgeReturnTo(value, config.returnPolicy) ?? `${config.siteUrl}/`)
}

/** Address of the login page, whoever's it is, for one return address. */
export function loginUrl({ loginPage }: Config, returnTo: string, notice?: 'session_ended'): string {
  const [head = '', ...fragment] = loginPage.split('#')
  const more = notice ? `&notice=${notice}` : ''
  const query = `${head.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(returnTo)}${more}`
  return [head + query, ...fragment].join('#')
}
