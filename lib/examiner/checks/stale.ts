/**
 * Forms that are sent after the session has become old, and IDs of sessions before a login.
 * Checks `login/stale-session`, `logout/stale-session`, `landing/new-session-id` and `status/new-session-id`.
 */
import type { EmulatedOperation } from '../../emulator/faults/rules'
import type { Browser } from '../browser'
import { type Check, failed, failedIf, need, passed, warning } from '../check'
import type { Form } from '../html'
import { isAwake, pause, type Stage } from '../stage'
import { arrive } from './landing'
import { loggedIn } from './logged-in'

/** Did the site call the operation since a time without a status check before? */
async function lacksStatusCheck(
  stage: Stage,
  operation: EmulatedOperation,
  sid: string,
  since: number,
): Promise<boolean> {
  await pause(200) // a site may call after its response
  const calls = stage.platform.calls(since, { sid }).map(({ call }) => call.operation)
  const index = calls.indexOf(operation)
  need(index >= 0 || calls.includes('sessionstatus'), `the site did not call ${operation}`)
  return index >= 0 && !calls.slice(0, index).includes('sessionstatus')
}

const staleLogin: Check = {
  name: 'login/stale-session',
  isSlow: true,
  run: async (stage) => {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const sid = await stage.sid(browser)
    const account = stage.account()
    await stage.grownOld()
    await isAwake(stage)
    const since = Date.now()
    await stage.submit(browser, form, account)
    if (await lacksStatusCheck(stage, 'authenticate', sid, since))
      return failed('the form of a session older than six minutes calls Authenticate without a status check before')
    return failedIf(
      !(await stage.isShown(browser, account)),
      'a form that was open for longer than six minutes does not log in',
    )
  },
}

const staleLogout: Check = {
  name: 'logout/stale-session',
  isSlow: true,
  run: async (stage) => {
    const { browser, account, sid } = await loggedIn(stage)
    const { page, action, method } = stage.site.logout
    // a site that logs out by GET has no form: opening its page would log out
    const bare: Form = { page, action, method, fields: [], text: '' }
    const form = method === 'GET' ? bare : await stage.logoutForm(browser)
    await stage.grownOld()
    await isAwake(stage)
    const since = Date.now()
    await browser.submit(form, {}, { stopAt: (url) => stage.platform.isIdentify(url) })
    if (await stage.isKnown(browser, account)) return failed('the user is still logged in')
    return (await lacksStatusCheck(stage, 'logout', sid, since))
      ? warning('the logout of a session older than six minutes calls Logout without a status check before')
      : passed()
  },
}

const PLANTED = 'the session of an attacker, whose cookie was planted before the landing,'

/** Says why the cookies of before a login are valid: they are the same, or there are new ones beside. */
function fateOfOldId(stage: Stage, early: Browser, browser: Browser): string {
  const url = new URL(stage.site.url)
  const now = new Map(browser.cookies.of(url).map(({ name, value }) => [name, value]))
  const replaced = early.cookies.of(url).filter(({ name, value }) => now.has(name) && now.get(name) !== value)
  if (replaced.length === 0) return 'the session ID is kept'
  return `the browser has a new value of ${replaced.map(({ name }) => name).join(' and ')}, and the old one stays valid`
}

const newAtLanding: Check = {
  name: 'landing/new-session-id',
  run: async (stage) => {
    const attacker = stage.browser()
    await stage.visit(attacker)
    await stage.visit(attacker, stage.site.loginPage)
    const { browser, account, address } = await arrive(stage)
    const early = browser.copy('Browser with the cookies of before the landing')
    const planted = plant(browser, attacker, stage.site.url)
    await stage.openHere(browser, address.href)
    if (await stage.isKnown(early, account))
      return failed(`the cookies of before the landing are logged in too: ${fateOfOldId(stage, early, browser)}`)
    if (!(await stage.isKnown(browser, account))) {
      need(planted > 0, 'the genuine token did not log its user in')
      return passed() // the site takes no login for a session that another browser has begun
    }
    return failedIf(
      await stage.isKnown(attacker, account),
      `${PLANTED} is logged in as the user: the session ID is kept`,
    )
  },
}

/**
 * Gives a browser the cookies of another one that it does not have yet, as a hostile page on a sibling domain does.
 * @returns the number of planted cookies
 */
function plant(victim: Browser, attacker: Browser, site: string): number {
  const url = new URL(site)
  const own = new Set(victim.cookies.of(url).map(({ name }) => name))
  const foreign = attacker.cookies.of(url).filter(({ name }) => !own.has(name))
  for (const cookie of foreign) victim.cookies.put(cookie)
  return foreign.length
}

const newAtStatusCheck: Check = {
  name: 'status/new-session-id',
  isSlow: true,
  run: async (stage) => {
    const browser = stage.browser()
    await stage.visit(browser)
    await stage.visit(browser, stage.site.loginPage)
    const thief = browser.copy('Browser with the cookies of before the login')
    const { account } = await stage.loginElsewhere(browser)
    await stage.grownOld()
    await stage.visit(browser)
    need(await stage.isShown(browser, account), 'a user who logged in on another site is still anonymous here')
    return failedIf(
      await stage.isKnown(thief, account),
      `the cookies of before the login that a status check brings are logged in too: ${fateOfOldId(stage, thief, browser)}`,
    )
  },
}

export const staleChecks = { staleLogin, staleLogout, newAtLanding, newAtStatusCheck }
