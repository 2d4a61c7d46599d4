/** Group `outage`: the platform fails in each of the usual ways, and the site goes on. */
import type { EmulatedOperation } from '../../emulator/faults/rules'
import type { Page } from '../browser'
import { type Check, failed, need, noneOf, notApplicable, passed } from '../check'
import type { Fault } from '../platform'
import { pause, type Stage } from '../stage'

const SLOW_MS = 5000
const MAX_PAGE_MS = 5500
const MAX_LOGIN_MS = 12_000

const faults: readonly [name: string, fault: Fault][] = [
  ['down', { kind: 'down' }],
  ['hang', { kind: 'hang' }],
  ['slow', { kind: 'slow', ms: SLOW_MS }],
  ['status-500', { kind: 'status', code: 500 }],
  ['status-503', { kind: 'status', code: 503 }],
  ['garbage', { kind: 'garbage' }],
  ['redirect', { kind: 'status', code: 302 }],
  ['wrong-signature', { kind: 'wrong_signature' }],
]

/** Everything but Identify. */
const BACK_CHANNEL: readonly EmulatedOperation[] = ['authenticate', 'sessionstatus', 'logout']

function problemOf(page: Page, limit: number): string[] {
  const ms = page.hops.reduce((sum, hop) => sum + hop.ms, 0)
  if (page.status === 0) return [`the user gets ${page.error}`]
  if (page.status >= 500 && page.status !== 503) return [`the user gets ${page.status}`]
  return ms > limit ? [`the page took ${(ms / 1000).toFixed(1)} s`] : []
}

/** An old session of a known user is shown while Session Status fails. */
const oldSession = ([name, fault]: (typeof faults)[number]): Check => ({
  name: `outage/page-${name}`,
  isSlow: true,
  isRough: true,
  run: async (stage) => {
    const browser = stage.browser()
    await stage.login(browser)
    const sid = await stage.sid(browser)
    await stage.grownOld()
    const since = Date.now()
    const end = stage.platform.fault(['sessionstatus'], fault)
    const { isIdentifiedAlways, publicPage, userPage } = stage.site
    const page = await stage.look(browser, isIdentifiedAlways ? publicPage : userPage)
    end()
    need(await wasChecked(stage, since, sid), 'the site made no status check, so nothing failed')
    const isDown = page.status === 503 ? ['the user gets 503'] : []
    return noneOf([...problemOf(page, MAX_PAGE_MS), ...isDown])
  },
})

/** Was a status check made? A slow call is in the log when it ends. */
async function wasChecked(stage: Stage, since: number, sid: string): Promise<boolean> {
  const limit = Date.now() + SLOW_MS + 500
  while (stage.platform.calls(since, { operation: 'sessionstatus', sid }).length === 0) {
    if (Date.now() > limit) return false
    await pause(100)
  }
  return true
}

/** A login attempt while Authenticate fails: the user must not be told that the password is wrong. */
const login = ([name, fault]: (typeof faults)[number]): Check => ({
  name: `outage/login-${name}`,
  isRough: true,
  run: async (stage) => {
    const wrong = await attempt(stage, 'not-the-password')
    const since = Date.now()
    const end = stage.platform.fault(['authenticate'], fault)
    const page = await attempt(stage)
    end()
    need(
      stage.platform.calls(since, { operation: 'authenticate' }).length > 0 || page.status === 503,
      'the site did not call Authenticate',
    )
    const isSame = page.words === wrong.words && page.status === wrong.status
    return noneOf([
      ...problemOf(page, MAX_LOGIN_MS),
      ...(isSame ? ['the page says the same as for a wrong password'] : []),
    ])
  },
})

async function attempt(stage: Stage, password?: string): Promise<Page> {
  const browser = stage.browser()
  const account = stage.account()
  const { form } = await stage.loginForm(browser)
  return stage.submit(browser, form, password === undefined ? account : { ...account, password })
}

/** All operations fail, Identify too: after a while, new visitors are served without a redirect. */
const newVisitors: Check = {
  name: 'outage/new-visitors',
  isRough: true,
  run: async (stage) => {
    if (!stage.site.isIdentifiedAlways)
      return notApplicable('the first page load of this site does not go through Identify')
    const before = await stage.visit(stage.browser())
    need(stage.identifies(before) > 0, 'a new visitor was not redirected to Identify before the outage')
    const operations: EmulatedOperation[] = [...BACK_CHANNEL, 'identify', 'token', 'me']
    const end = stage.platform.fault(operations, { kind: 'status', code: 503 })
    const limit = Date.now() + 15_000
    let page = await stage.visit(stage.browser())
    while (stage.identifies(page) > 0 && Date.now() < limit) {
      await pause(500)
      page = await stage.visit(stage.browser())
    }
    end()
    if (stage.identifies(page) > 0)
      return failed('15 s into an outage, every new visitor is still redirected to the dead platform')
    return page.status === 200 ? passed() : failed(`new visitors get ${page.status || page.error}`)
  },
}

const recovery: Check = {
  name: 'outage/recovery',
  isRough: true,
  run: async (stage) => {
    const end = stage.platform.fault([...BACK_CHANNEL, 'identify', 'token', 'me'], { kind: 'down' })
    for (let count = 0; count < 6; count += 1) await stage.visit(stage.browser(), stage.site.loginPage)
    end()
    const limit = Date.now() + 10_000
    let reason = ''
    while (Date.now() < limit) {
      const browser = stage.browser()
      const account = stage.account()
      const isBack = await stage.login(browser, account).then(
        () => true,
        (error: Error) => {
          reason = error.message
          return false
        },
      )
      if (isBack) return passed()
      await pause(700)
    }
    return failed(`10 s after the outage, no login works: ${reason}`)
  },
}

/** All checks of this group. */
export const outageChecks: readonly Check[] = [...faults.map(oldSession), ...faults.map(login), newVisitors, recovery]
