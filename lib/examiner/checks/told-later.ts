/** Check `logout/platform-informed-later`: logouts during an outage are reported afterwards. */
import type { Browser } from '../browser'
import { type Check, failed, need, noneOf } from '../check'
import { firstStatus, isServerError, outcomeOf, responseOf } from '../outcome'
import type { Account } from '../platform'
import { pause, type Stage, waitUntil } from '../stage'
import { loggedIn } from './logged-in'

const TOKEN_SECONDS = 10
/** Beginning of the outage, as a part of the time until sessions are old. */
const OUTAGE_BEGIN = 0.6

/** Returns the platform's reason for a refusal of the site's latest logout, for a sentence. */
function refusedLogout(stage: Stage, sid: string): string {
  const calls = stage.platform.calls(0).filter(({ call }) => call.operation.startsWith('logout'))
  const own = calls.filter(({ call, sid: named }) => named === sid || call.operation === 'logoutall')
  const detail = own[own.length - 1]?.call.detail
  return detail === undefined ? '' : ` (it refuses the call of the site: ${detail})`
}

/**
 * Lets Logout fail for longer than a request token lives. The site must report the logouts afterwards.
 * A site that has signed its request once would send an expired token.
 */
export const toldLater: Check = {
  name: 'logout/platform-informed-later',
  isSlow: true,
  isRough: true,
  run: async (stage) => {
    const { logoutAll } = stage.site
    const removed = await loggedIn(stage)
    const one = await loggedIn(stage)
    const all = logoutAll === undefined ? [] : [{ ...(await loggedIn(stage)), way: logoutAll }]
    const { recheckSeconds, clockToleranceSeconds } = stage.run.settings
    await stage.run.wait(recheckSeconds * 1000 * OUTAGE_BEGIN) // most other checks have ended then
    const end = stage.platform.fault(['logout', 'logoutall'], { kind: 'down' })
    const beganAt = Date.now()
    for (const { browser } of [removed, one]) {
      const { formPage } = await logOutUntold(stage, browser)
      if (isServerError(formPage)) return failed(`after a Logout that failed, ${NO_FORM} ${responseOf(formPage)}`)
    }
    const problems: string[] = []
    const accepted: typeof all = []
    for (const user of all) {
      const { page } = await logOutUntold(stage, user.browser, user.way)
      if (page.status === 503) continue // an open refusal promises nothing
      if (isServerError(page))
        problems.push(`while the platform does not respond, a logout of all sessions ends with ${outcomeOf(page)}`)
      if (await stage.isKnown(user.browser, user.account))
        problems.push('while the platform does not respond, a logout of all sessions leaves the user logged in here')
      else accepted.push(user)
    }
    // from here on the turn does not end, because other checks would disturb the platform
    await pause((TOKEN_SECONDS + clockToleranceSeconds + 1) * 1000)
    stage.platform.prune(removed.sid) // its logout gets err session_not_found, and must not hold up the others
    end()
    const endedAt = Date.now()
    const users = [
      { ...one, name: 'the user' },
      ...accepted.map((user) => ({ ...user, name: 'the user who has logged out of all sessions' })),
    ]
    const left = new Map(users.map((user) => [user.sid, user]))
    for (const sid of left.keys())
      need(stage.platform.status(sid) === 'loggedin', 'the platform was informed in spite of the fault')
    const areInformed = () => {
      for (const sid of left.keys()) if (stage.platform.status(sid) !== 'loggedin') left.delete(sid)
      return left.size === 0
    }
    await waitUntil(areInformed, { withinMs: 90_000, everyMs: 1000 })
    const late: string[] = []
    for (const [sid, { name, browser, account }] of left) {
      const calls = logoutCalls(stage, { sid, account }, { beganAt, endedAt })
      await stage.visit(browser)
      const isAtVisit = stage.platform.status(sid) !== 'loggedin'
      const what = isAtVisit ? AT_VISIT : `${calls}${refusedLogout(stage, sid)}`
      late.push(`90 s after the platform is back, it still has ${name} logged in, on every other site too${what}`)
    }
    const repeated = stage.platform.calls(endedAt, { operation: 'logout', sid: removed.sid }).length
    return noneOf([
      ...problems,
      ...late,
      ...(repeated > 2
        ? [
            `the site sends a logout ${repeated} times that the platform has answered by err session_not_found, which is final`,
          ]
        : []),
    ])
  },
}

const AT_VISIT =
  '. It is informed when this user opens the next page, but who has logged out may never open one: let any request, or a timer, send what is left'

const NO_FORM = 'the page with the form of the logout'

/**
 * Logs out while the platform takes no logouts.
 * @returns the page with the form, and the response to the form
 * @throws {Undecided} if the site refuses the form, so that nobody was logged out
 */
async function logOutUntold(stage: Stage, browser: Browser, way = stage.site.logout) {
  const formPage = await stage.look(browser, way.page)
  const page = await browser.submit(await stage.logoutForm(browser, way), {})
  const status = firstStatus(page)
  const isRefused = !isServerError(formPage) && status >= 400 && status < 500
  need(
    !isRefused,
    `while the platform takes no logouts, ${way.method} ${new URL(way.action).pathname} responds ${status}`,
  )
  return { formPage, page }
}

/** Says how often the site has called Logout for a user during the outage, and since the platform is back. */
function logoutCalls(
  stage: Stage,
  { sid, account }: { sid: string; account: Account },
  { beganAt, endedAt }: { beganAt: number; endedAt: number },
): string {
  const calls = stage.platform
    .calls(beganAt)
    .filter(({ call }) => call.operation.startsWith('logout'))
    .filter(({ call, sid: named }) => named === sid || call.claims['aid'] === account.accountId)
  const later = calls.filter(({ at }) => at >= endedAt).length
  const times = (count: number) => (count === 1 ? 'once' : `${count} times`)
  const tries = `. The site has called Logout ${times(calls.length - later)} during the outage`
  return later === 0
    ? `${tries}, and not since then: it has given the logout up`
    : `${tries}, and ${times(later)} since then`
}
