/** Logins during an outage, because a site may learn of the outage by its own calls only. */
import type { Page } from '../browser'
import { loginFormOf } from '../facts'
import type { Stage } from '../stage'

/**
 * Opens the login form while the platform works.
 * @returns a function that sends the form, each time as the last response shows it
 */
export async function loginAttempts(stage: Stage): Promise<() => Promise<Page>> {
  const { usernameField, passwordField } = stage.site
  const { username, password } = stage.account()
  const browser = stage.browser()
  let { form } = await stage.loginForm(browser)
  return async () => {
    const page = await browser.submit(form, { [usernameField]: username, [passwordField]: password })
    form = loginFormOf(page.forms, passwordField) ?? form
    return page
  }
}
