/** Group `logout`: the end of a login on the site, in copies of the cookie, and at the platform. */
import { type Browser, crossSite } from '../browser'
import { type Check, failed, need, noneOf, notApplicable, passed } from '../check'
import type { Form } from '../html'
import type { Account } from '../platform'
import { pause, type Stage } from '../stage'

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

const here: Check = {
  name: 'logout/here',
  run: async (stage) => {
    const { browser, account, sid } = await loggedIn(stage)
    const tab = browser.copy('Browser A, another tab')
    const since = Date.now()
    const page = await stage.logout(browser)
    const calls = stage.platform.calls(since, { operation: 'logout', sid })
    return noneOf([
      ...(page.status >= 400 || page.status === 0 ? [`the logout ends with ${page.status || page.error}`] : []),
      ...((await stage.isKnown(browser, account)) ? ['the user is still logged in'] : []),
      ...((await stage.isKnown(tab, account)) ? ['a copy of the old cookie is still logged in'] : []),
      ...((await stage.isShown(browser, account)) ? ['the next page logs the user in again'] : []),
      ...(calls.length === 0 ? ['the platform is not informed'] : []),
    ])
  },
}

const identifyAfterwards: Check = {
  name: 'logout/identify-afterwards',
  run: async (stage) => {
    const { browser } = await loggedIn(stage)
    const page = await stage.logout(browser)
    const next = stage.identifies(page) > 0 ? page : await stage.visit(browser, stage.site.loginPage)
    if (stage.identifies(next) === 0) return failed('after the logout, the browser is not redirected through Identify')
    const account = stage.account()
    await stage.login(browser, account)
    return passed()
  },
}

const byPostOnly: Check = {
  name: 'logout/by-post-only',
  run: async (stage) => {
    const { browser, account } = await loggedIn(stage)
    await stage.openHere(browser, stage.site.logout.action)
    return (await stage.isKnown(browser, account))
      ? passed()
      : failed('opening the address of the logout, as an image does, logs the user out')
  },
}

const foreignForm: Check = {
  name: 'logout/foreign-form',
  run: async (stage) => {
    const { browser, account } = await loggedIn(stage)
    const { action, method } = stage.site.logout
    if (method === 'GET') return failed('the site logs out by GET, so any page can do it')
    await stage.openHere(browser, action, { method: 'POST', fields: {}, headers: crossSite })
    return (await stage.isKnown(browser, account)) ? passed() : failed('a form on another site logs the user out')
  },
}

const toldLater: Check = {
  name: 'logout/platform-informed-later',
  isSlow: true,
  isRough: true,
  run: async (stage) => {
    const { browser, sid } = await loggedIn(stage)
    const end = stage.platform.fault(['logout'], { kind: 'down' })
    await stage.logout(browser)
    end()
    need(stage.platform.status(sid) === 'loggedin', 'the platform was informed in spite of the fault')
    const limit = Date.now() + 90_000
    while (Date.now() < limit) {
      await pause(3000) // the turn does not end, because other checks would disturb the platform
      if (stage.platform.status(sid) !== 'loggedin') return passed()
    }
    return failed(
      '90 s after the platform is back, it still has the user logged in: on every other site the user is logged in too',
    )
  },
}

/** Logs out while a slow callback of another tab is in progress. */
const landingRace: Check = {
  name: 'logout/landing-in-progress',
  run: async (stage) => {
    const browser = stage.browser()
    const { account } = await stage.loginElsewhere(browser)
    const first = await stage.landing(browser)
    const second = await stage.landing(browser)
    await stage.openHere(browser, first.href)
    need(await stage.isKnown(browser, account), 'the first tab was not logged in')
    const end = stage.platform.fault(['me'], { kind: 'slow', ms: 900 }, { times: 1 })
    const tab = stage.openHere(browser, second.href)
    await pause(250)
    await stage.logout(browser, { stopAt: (url) => stage.platform.isIdentify(url) })
    await tab
    end()
    return (await stage.isKnown(browser, account))
      ? failed('a landing that began before the logout logs the user in again')
      : passed()
  },
}

/** Returns the form that logs out of all sessions, with its hidden fields, if a page shows the form. */
export async function logoutAllForm(stage: Stage, browser: Browser): Promise<Form | undefined> {
  const { logout, logoutAll } = stage.site
  if (logoutAll === undefined) return undefined
  const pages = [await stage.look(browser, logout.page), await stage.look(browser)]
  return pages.flatMap(({ forms }) => forms).find(({ action }) => action === logoutAll)
}

/** Returns a form without fields, for an address whose form is not shown. */
const bareForm = (action: string): Form => ({ page: action, action, method: 'POST', fields: [], text: '' })

const all: Check = {
  name: 'logout/all-sessions',
  run: async (stage) => {
    const { logoutAll } = stage.site
    if (logoutAll === undefined)
      return notApplicable('no form that logs out of all sessions was found: name it as logoutAll in examine.json')
    const { browser, account } = await loggedIn(stage)
    const other = stage.browser()
    await stage.login(other, account)
    const since = Date.now()
    const form = await logoutAllForm(stage, browser)
    await browser.submit(form ?? bareForm(logoutAll), {})
    const calls = stage.platform.calls(since, { operation: 'logoutall' })
    return noneOf([
      ...(calls.length === 0 ? ['the platform is not informed'] : []),
      ...((await stage.isKnown(browser, account)) ? ['this session is still logged in'] : []),
      ...((await stage.isKnown(other, account)) ? ['another session of the account is still logged in here'] : []),
    ])
  },
}

export const logoutChecks: readonly Check[] = [
  here,
  identifyAfterwards,
  byPostOnly,
  foreignForm,
  toldLater,
  landingRace,
  all,
]
