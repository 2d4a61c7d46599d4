/** Checks of accounts that are unlike the others: without an e-mail address, with a new name, with a long one. */
import type { Browser } from '../browser'
import { type Check, noneOf } from '../check'
import { isServerError, outcomeOf } from '../outcome'
import type { Account } from '../platform'

/** Logs two users in whom the REST API gives no e-mail address, each in a browser of its own. */
export const withoutEmail: Check = {
  name: 'login/without-email',
  needsNames: true,
  run: async (stage) => {
    await stage.login(stage.browser())
    const users: (readonly [Account, Browser])[] = []
    const ends: (() => void)[] = []
    while (users.length < 2) {
      const [browser, account] = [stage.browser(), stage.account()]
      ends.push(stage.platform.replaceUser(account, { email: null }))
      const { form } = await stage.loginForm(browser)
      await stage.submit(browser, form, account)
      users.push([account, browser])
    }
    const problems: string[] = []
    for (const [account, browser] of users) {
      const page = await stage.visit(browser, stage.site.userPage)
      if (users.some(([other]) => other !== account && stage.showsOther(page, other)))
        problems.push(
          'of two users without an e-mail address, one is shown as the other: the site finds its users by the address, and not by account_id',
        )
      else if (!stage.shows(page, account)) problems.push('a user without an e-mail address cannot log in')
    }
    for (const end of ends) end()
    return noneOf(problems)
  },
}

/** A name of 150 letters of several scripts, with signs that end a cookie. */
const LONG_NAME = 'Жофия 王小明; Łódź, '.repeat(9).slice(0, 150).trim()
const LONG_BEGIN = 'Жофия 王小明'

/** Spells letters beyond ASCII as JSON may do. */
const escaped = (text: string) =>
  text.replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Changes the name of a user at the platform, who then logs out and in again. */
export const newName: Check = {
  name: 'login/new-name',
  needsNames: true,
  run: async (stage) => {
    const browser = stage.browser()
    const account = await stage.login(browser)
    const isNamed = (await stage.visit(browser, stage.site.userPage)).text.includes(account.name)
    const problems: string[] = []
    for (const name of [stage.account().name, LONG_NAME]) {
      await stage.logout(browser)
      const end = stage.platform.replaceUser(account, { name })
      const { form } = await stage.loginForm(browser)
      const landed = await stage.submit(browser, form, account)
      const page = await stage.visit(browser, stage.site.userPage)
      end()
      const text = `${page.text} ${page.words}`
      const isShown = [name, LONG_BEGIN, escaped(LONG_BEGIN)].some((word) => text.includes(word))
      const isIn = isShown || stage.shows({ ...page, text }, account)
      if (name === LONG_NAME && (isServerError(landed) || !isIn))
        problems.push(
          `a user whose name has 150 letters, also Cyrillic and Chinese ones, cannot log in (${outcomeOf(landed)}): does a cookie or a header hold the name?`,
        )
      else if (isNamed && isIn && !isShown && text.includes(account.name))
        problems.push(
          `the user has ${name === LONG_NAME ? 'a long new name' : 'another name'} at the platform, logs out and in again, and is still shown with the old name: the site keeps the name of the first login`,
        )
    }
    return noneOf(problems)
  },
}
