/** A logged-in user, from whom many checks begin, and the cookies that the login needs. */
import type { Browser } from '../browser'
import { need } from '../check'
import type { Cookie } from '../cookies'
import type { Account } from '../platform'
import type { Stage } from '../stage'

/** A logged-in user, with the SSO session ID. */
export interface LoggedIn {
  readonly browser: Browser
  readonly account: Account
  readonly sid: string
}

/** Logs a user in. */
export async function loggedIn(stage: Stage): Promise<LoggedIn> {
  const browser = stage.browser()
  const account = await stage.login(browser)
  need(await stage.isKnown(browser, account), 'the user is not shown after the login')
  return { browser, account, sid: await stage.sid(browser) }
}

interface Login {
  readonly browser: Browser
  readonly account: Account
  /** Cookies that the login needs. */
  readonly keys: readonly Cookie[]
}

/** Logs in and finds the session cookies. Without them, the site does not show the user. */
export async function sessionOf(stage: Stage): Promise<Login> {
  const browser = stage.browser()
  const account = await stage.login(browser)
  need(await stage.isKnown(browser, account), 'the user is not shown after the login')
  const keys: Cookie[] = []
  for (const cookie of browser.cookies.of(new URL(stage.site.userPage))) {
    const without = browser.copy(`Browser A without ${cookie.name}`)
    without.cookies.forget(cookie.name)
    if (!(await stage.isKnown(without, account))) keys.push(cookie)
  }
  need(keys.length > 0, 'no cookie was found that the login depends on')
  return { browser, account, keys }
}
