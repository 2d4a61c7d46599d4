/** A logged-in user, from whom many checks begin. */
import type { Browser } from '../browser'
import { need } from '../check'
import type { Account } from '../platform'
import type { Stage } from '../stage'

/**
 * Logs a user in.
 * @returns the browser, the account and the SSO session ID
 */
export async function loggedIn(stage: Stage): Promise<{ browser: Browser; account: Account; sid: string }> {
  const browser = stage.browser()
  const account = await stage.login(browser)
  need(await stage.isKnown(browser, account), 'the user is not shown after the login')
  return { browser, account, sid: await stage.sid(browser) }
}
