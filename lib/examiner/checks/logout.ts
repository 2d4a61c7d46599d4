/** Group `logout`: the end of a login on the site, in copies of the cookie, and at the platform. */
import type { Browser } from '../browser'
import { type Check, failed, failedIfAny, need, notTold, type Problem, passed, warning } from '../check'
import type { LogoutWay } from '../facts'
import { firstStatus, isAnyError, isServerError, outcomeOf, responseOf } from '../outcome'
import type { Account } from '../platform'
import { pause, type Stage } from '../stage'
import { endpointsOf, fetchAsScript } from './endpoints'
import { twinsOf } from './equal-names'
import { foreignForms, formsOfAttacker, hiddenFieldsOf } from './foreign'
import { loggedIn } from './logged-in'
import { redirectProblem } from './redirects'
import { staleChecks } from './stale'
import { toldLater } from './told-later'

const here: Check = {
  name: 'logout/here',
  run: async (stage) => {
    const { browser, account, sid } = await loggedIn(stage)
    const tab = browser.copy('Browser A, another tab')
    const endpoints = await endpointsOf(stage, tab, account)
    const elsewhere = stage.browser()
    await stage.login(elsewhere, account)
    const neighbour = await loggedIn(stage)
    const since = Date.now() // a site that logs out by GET does so here
    const form = await stage.logoutForm(tab)
    const page = await stage.logout(browser)
    const calls = stage.platform.calls(since, { operation: 'logout', sid })
    const sids = [sid, ...(stage.identifies(page) > 0 ? [await stage.sid(browser)] : [])]
    const sent = stage.platform.calls(since, { operation: 'logout' }).filter((call) => sids.includes(String(call.sid)))
    const loop = redirectProblem(stage, page, 2)
    const kept: Problem[] = []
    for (const endpoint of endpoints) {
      const { pathname } = new URL(endpoint.address)
      const isServed = stage.shows(await fetchAsScript(stage, tab, endpoint), account)
      kept.push([
        isServed,
        `with what a script had before the logout, ${pathname} still responds for the user: it takes a credential of its own, which the logout does not end`,
      ])
    }
    const again = await tab.submit(form, {})
    const unknown = await loggedIn(stage)
    stage.platform.prune(unknown.sid)
    const pruned = await stage.logout(unknown.browser, { stopAt: (url) => stage.platform.isIdentify(url) })
    const status = firstStatus(page)
    return failedIfAny([
      ...kept,
      [loop !== undefined, `the page after the logout ${loop}: does the way back from Identify lead to the logout?`],
      [
        sent.length > 1,
        `one click on the logout calls Logout ${sent.length} times: the way back from Identify leads to the address that logs out`,
      ],
      [isAnyError(page), `the logout ends with ${outcomeOf(page)}`],
      [
        status === 307 || status === 308,
        `the form is answered with ${status}: the browser sends the form to the next page`,
      ],
      [isServerError(pruned), `the platform responds session_not_found, and the logout ends with ${outcomeOf(pruned)}`],
      [
        await stage.isKnown(unknown.browser, unknown.account),
        'the platform responds session_not_found, and the user is still logged in',
      ],
      [await stage.isKnown(browser, account), 'the user is still logged in'],
      [await stage.isKnown(tab, account), 'a copy of the old cookie is still logged in'],
      [await stage.isShown(browser, account), 'the next page logs the user in again'],
      [calls.length === 0, 'the platform is not informed'],
      [isServerError(again), `a second logout, in another tab, ends with ${outcomeOf(again)}`],
      [!(await stage.isKnown(elsewhere, account)), 'another browser of the same account is logged out too'],
      [!(await stage.isKnown(neighbour.browser, neighbour.account)), 'another user is logged out too'],
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

/** Returns the logout, and the logout of all sessions if there is one. */
const logoutWays = ({ site: { logout, logoutAll } }: Stage): LogoutWay[] =>
  logoutAll === undefined ? [logout] : [logout, logoutAll]

const byPostOnly: Check = {
  name: 'logout/by-post-only',
  run: async (stage) => {
    const { browser, account } = await loggedIn(stage)
    for (const { action } of logoutWays(stage)) {
      await stage.openHere(browser, action)
      if (!(await stage.isKnown(browser, account)))
        return failed(
          `opening ${new URL(action).pathname}, the address of the logout, as an image does, logs the user out`,
        )
    }
    return passed()
  },
}

const foreignForm: Check = {
  name: 'logout/foreign-form',
  run: async (stage) => {
    const { browser, account } = await loggedIn(stage)
    if (stage.site.logout.method === 'GET') return failed('the site logs out by GET, so any page can do it')
    const attacker = await loggedIn(stage)
    for (const way of logoutWays(stage))
      for (const [name, headers] of foreignForms(stage.site.url))
        for (const form of formsOfAttacker(await stage.logoutForm(attacker.browser, way))) {
          await browser.submit(form, {}, { headers, stopAt: (url) => stage.platform.isIdentify(url) })
          const isOut = !(await stage.isKnown(browser, account))
          const what = `${name}, to ${new URL(way.action).pathname}${hiddenFieldsOf(form)}`
          stage.tried(`${what}: ${isOut ? 'logged out' : 'still logged in'}`)
          if (isOut) return failed(`${what}, logs the user out`)
        }
    return passed()
  },
}

/**
 * Logs out while a slow landing of another tab is in progress. The tab has the session cookie of the login, or none yet.
 * @returns whether the slow landing logs the user in again
 */
async function isBackByLanding(stage: Stage, tabBegins: 'after the login' | 'before the login'): Promise<boolean> {
  const browser = stage.browser()
  const { account } = await stage.loginElsewhere(browser)
  const first = await stage.landing(browser)
  const second = await stage.landing(browser, `${stage.identifiedPage}?tab=second`) // a site may take each return address once
  const logInHere = async () => {
    await stage.openHere(browser, first.href)
    need(await stage.isKnown(browser, account), 'the first tab was not logged in')
  }
  if (tabBegins === 'after the login') await logInHere()
  const end = stage.platform.fault(['me'], { kind: 'slow', ms: SLOW_LANDING_MS }, { times: 1 })
  const tab = stage.openHere(browser, second.href)
  await pause(250)
  if (tabBegins === 'before the login') await logInHere()
  await stage.logout(browser, { stopAt: (url) => stage.platform.isIdentify(url) })
  await tab
  end()
  return stage.isKnown(browser, account)
}

const SLOW_LANDING_MS = 1400

const landingRace: Check = {
  name: 'logout/landing-in-progress',
  run: async (stage) =>
    failedIfAny([
      [
        await isBackByLanding(stage, 'after the login'),
        'a landing that began before the logout logs the user in again',
      ],
      [
        await isBackByLanding(stage, 'before the login'),
        'a landing that began before the logout, and before the browser had a session, logs the user in again',
      ],
    ]),
}

const all: Check = {
  name: 'logout/all-sessions',
  run: async (stage) => {
    const { logoutAll } = stage.site
    if (logoutAll === undefined) return notTold(['logoutAll'], 'no form that logs out of all sessions was found')
    const { browser, account } = await loggedIn(stage)
    const other = stage.browser()
    await stage.login(other, account)
    const { sid } = await stage.loginElsewhere(stage.browser(), account)
    const twins: (readonly [string, Browser, Account])[] = []
    for (const { what, account: twin } of twinsOf(stage, account)) {
      const others = stage.browser()
      twins.push([what, others, await stage.login(others, twin)])
    }
    const since = Date.now()
    await browser.submit(await stage.logoutForm(browser, logoutAll), {})
    const calls = stage.platform.calls(since, { operation: 'logoutall' })
    const lost: Problem[] = []
    for (const [what, others, twin] of twins)
      lost.push([
        !(await stage.isKnown(others, twin)),
        `another account with the same ${what} is logged out too: the site finds sessions by it, and not by account_id`,
      ])
    return failedIfAny([
      ...lost,
      [calls.length === 0, 'the platform is not informed'],
      [
        calls.length > 0 && stage.platform.accountOf(sid) !== undefined,
        `the platform still has the account logged in on another site: aid is ${JSON.stringify(calls[0]?.call.claims['aid'])}, not the account ID`,
      ],
      [await stage.isKnown(browser, account), 'this session is still logged in'],
      [await stage.isKnown(other, account), 'another session of the account is still logged in here'],
    ])
  },
}

/** Logs out with the form of a page that was opened before the user logged out and in again in another tab. */
const olderTab: Check = {
  name: 'logout/older-tab',
  run: async (stage) => {
    const { browser, account } = await loggedIn(stage)
    const form = await stage.logoutForm(browser)
    await stage.logout(browser)
    await stage.login(browser, account)
    const page = await browser.submit(form, {})
    if (!(await stage.isKnown(browser, account))) return passed()
    const judge = page.status >= 400 ? warning : failed // an error page tells the user
    return judge(
      `the form of a tab that was opened before the user logged out and in again ${responseOf(page)}, and the user stays logged in`,
    )
  },
}

export const logoutChecks: readonly Check[] = [
  here,
  olderTab,
  identifyAfterwards,
  byPostOnly,
  foreignForm,
  staleChecks.staleLogout,
  toldLater,
  landingRace,
  all,
]
