/** Group `status`: the site must check an old session, and must not check a young session. Most checks wait. */
import { type Browser, USER_AGENT } from '../browser'
import { type Check, type Finding, failed, failedIf, failedIfAny, need, noneOf, passed, warning } from '../check'
import { outcomeOf, responseOf } from '../outcome'
import type { Account } from '../platform'
import { pause, type Stage } from '../stage'
import { type Endpoint, endpointsOf, fetchAsScript } from './endpoints'
import { dataAddress, dataForm, isStored, lateForm } from './former-form'
import { type LoggedIn, loggedIn } from './logged-in'
import { redirectProblem } from './redirects'
import { sensitivePage, sensitiveUnverified } from './sensitive-page'
import { spoiltResponseChecks } from './spoilt-responses'
import { staleChecks } from './stale'

const young: Check = {
  name: 'status/young',
  run: async (stage) => {
    const browser = stage.browser()
    const account = await stage.login(browser)
    const since = Date.now()
    for (let count = 0; count < 5; count += 1)
      need(await stage.isKnown(browser, account), 'the user is not shown after the login')
    const calls = stage.platform.calls(since, { operation: 'sessionstatus' }).length
    return failedIf(calls > 0, `5 pages of a session that has just begun cause ${calls} status checks`)
  },
}

const old: Check = {
  name: 'status/old',
  isSlow: true,
  run: async (stage) => {
    const { browser, account, sid } = await loggedIn(stage)
    await stage.grownOld()
    const since = Date.now()
    const page = await stage.look(browser)
    const calls = stage.platform.calls(since, { operation: 'sessionstatus', sid })
    need(page.status !== 0, 'the page did not respond')
    const [call] = calls
    if (!call) return failed(await whyUnchecked(() => stage.platform.calls(since, { operation: 'sessionstatus', sid })))
    const { lks, ipa, uas } = call.call.claims
    const before = stage.platform.calls(0, { operation: 'authenticate', sid })[0]?.call.claims['ipa']
    const checkedAt = Date.now()
    for (let more = 0; more < 2; more += 1) await stage.look(browser)
    const again = stage.platform.calls(checkedAt, { operation: 'sessionstatus', sid }).length
    return failedIfAny([
      [calls.length > 1, `one page causes ${calls.length} status checks`],
      [
        again > 0,
        `the session has just been checked, and the next two pages check it ${again} times more: the site does not note the time of a check`,
      ],
      [lks !== 'loggedin', `lks is ${String(lks)}`],
      [typeof ipa !== 'string' || ipa === '', 'ipa is missing'],
      [before !== undefined && ipa !== before, `ipa is ${String(ipa)}, and at Authenticate it was ${String(before)}`],
      [uas !== USER_AGENT, "uas is not the browser's User-Agent"],
      [!stage.shows(page, account), 'the user is not shown any more'],
    ])
  },
}

/** Distinguishes a page that does not wait for its status check from a page without a status check. */
async function whyUnchecked(calls: () => readonly unknown[]): Promise<string> {
  await pause(1000)
  return calls().length > 0
    ? 'the page of an old session is shown before the response of its status check: the site does not wait for it'
    : 'the page of an old session is shown without a status check'
}

/** Time of a status check while ten pages are opened. */
const CHECK_MS = 400

const tenAtOnce: Check = {
  name: 'status/ten-at-once',
  isSlow: true,
  run: async (stage) => {
    const { browser, account, sid } = await loggedIn(stage)
    await stage.grownOld()
    const since = Date.now()
    const end = stage.platform.fault(['sessionstatus'], { kind: 'slow', ms: CHECK_MS }, { sid })
    const pages = await Promise.all(Array.from({ length: 10 }, () => stage.look(browser)))
    end()
    await pause(500) // the log gets a slow call at the end of the call
    const calls = stage.platform.calls(since, { operation: 'sessionstatus', sid })
    if (pages.some((page) => !stage.shows(page, account))) return failed('one of ten pages at once loses the user')
    need(calls.length > 0, 'no status check was made')
    const begins = calls.map(({ tick }) => Number(tick))
    const areInTurn = Math.max(...begins) - Math.min(...begins) >= 0.9 * CHECK_MS * (calls.length - 1)
    const how = areInTurn
      ? 'one after the other: each page waits for the check of another, and then makes its own'
      : 'at the same time'
    return calls.length === 1 ? passed() : warning(`ten pages at once cause ${calls.length} status checks, ${how}`)
  },
}

const loginElsewhere: Check = {
  name: 'status/login-elsewhere',
  isSlow: true,
  run: async (stage) => {
    const browser = stage.browser()
    await stage.visit(browser)
    await stage.visit(browser, stage.site.loginPage)
    const { account, sid } = await stage.loginElsewhere(browser)
    const unlucky = stage.browser()
    await stage.visit(unlucky, stage.site.loginPage)
    const { sid: withoutTicket } = await stage.loginElsewhere(unlucky)
    await stage.grownOld()
    const end = stage.platform.fault(['token'], { kind: 'status', code: 503 }, { sid: withoutTicket })
    const failing = await stage.visit(unlucky)
    end()
    if (failing.status !== 200)
      return failed(`while the token endpoint fails, a user who logged in on another site gets ${outcomeOf(failing)}`)
    const since = Date.now()
    await stage.visit(browser)
    const [check] = stage.platform.calls(since, { operation: 'sessionstatus', sid })
    const lks = check?.call.claims['lks']
    return failedIfAny([
      [lks !== undefined && lks !== 'anon', `lks of an anonymous session is ${String(lks)}`],
      [!(await stage.isShown(browser, account)), 'a user who logged in on another site is still anonymous here'],
    ])
  },
}

/** Fails for the reason if the user is still logged in. The next page must work. */
async function loggedOutFinding(stage: Stage, browser: Browser, account: Account, reason: string): Promise<Finding> {
  if (await stage.isKnown(browser, account)) return failed(reason)
  const page = await stage.visit(browser)
  return failedIf(page.status !== 200, `the next page ${responseOf(page)}`)
}

/** Opens the page of a logged-out user while the status check of another user is in progress. */
const logoutElsewhere: Check = {
  name: 'status/logout-elsewhere',
  isSlow: true,
  run: async (stage) => {
    const other = await loggedIn(stage)
    const { browser, account, sid } = await loggedIn(stage)
    const readers: [Endpoint, LoggedIn][] = []
    const own = { address: stage.site.userPage, headers: {} }
    for (const endpoint of [own, ...(await endpointsOf(stage, browser, account))])
      readers.push([endpoint, await loggedIn(stage)])
    const late = await lateForm(stage)
    const ended = [sid, ...readers.map(([, reader]) => reader.sid), ...(late === undefined ? [] : [late.sid])]
    for (const one of ended) await stage.second.logout(one)
    await stage.grownOld()
    const end = stage.platform.fault(['sessionstatus'], { kind: 'slow', ms: 400 }, { sid: other.sid })
    const otherPage = stage.look(other.browser)
    await pause(100)
    const isShown = await stage.isKnown(browser, account)
    await otherPage
    end()
    const reason = 'a user who logged out on another site is still logged in here'
    const finding = await loggedOutFinding(stage, browser, account, reason)
    if (finding.verdict !== 'passed') return finding
    for (const [endpoint, reader] of readers) {
      const fetched = await fetchAsScript(stage, reader.browser, endpoint)
      const what = `a fetch call of a script for ${new URL(endpoint.address).pathname}, of a user who logged out on another site,`
      if (stage.shows(fetched, reader.account))
        return failed(`${what} still gets what is for the user: only page loads cause a status check`)
      if (fetched.next !== undefined)
        return failed(`${what} is redirected to Identify, where no script can follow: answer 401`)
    }
    if (await late?.isStoredNow())
      return failed(
        'a form that is sent by a user who has logged out on another site is stored for this user: only pages cause a status check, and no POST',
      )
    if (!isShown) return finding
    return failed(
      'while the status check of another user is in progress, a user who logged out on another site is still shown: the site waits for the check of another session instead of its own',
    )
  },
}

/** Logs a user out on another site who keeps loading pages, because a site may move its check on with each page. */
const logoutWhileReading: Check = {
  name: 'status/logout-while-reading',
  isSlow: true,
  run: async (stage) => {
    const since = Date.now()
    const { browser, account, sid } = await loggedIn(stage)
    await stage.second.logout(sid)
    await stage.grownOldReading(browser)
    const halfAt = since + (stage.run.settings.recheckSeconds * 1000) / 2 // sites may spread their checks a little
    const early = stage.platform.calls(since, { operation: 'sessionstatus', sid }).filter(({ at }) => at < halfAt)
    if (early.length > 0) return failed(`a session younger than three minutes is checked ${early.length} times`)
    return loggedOutFinding(
      stage,
      browser,
      account,
      'a user who loads a page every minute, and has logged out on another site, is still logged in here',
    )
  },
}

const removed: Check = {
  name: 'status/session-not-found',
  isSlow: true,
  run: async (stage) => {
    const { browser, account, sid } = await loggedIn(stage)
    stage.platform.prune(sid)
    await stage.grownOld()
    const page = await stage.visit(browser, stage.site.publicPage)
    const redirects = stage.identifies(page)
    const problem = redirectProblem(stage, page, 3)
    if (stage.shows(page, account)) return failed('the user of a removed SSO session is still shown')
    if (problem !== undefined) return failed(`the page ${problem}`)
    if (page.status !== 200) return failed(`the page ${responseOf(page)} after ${redirects} Identify redirects`)
    const mayComeLater = redirects === 0 && stage.identifiedPage !== stage.site.publicPage
    const later = mayComeLater ? stage.identifies(await stage.visit(browser, stage.identifiedPage)) : 0
    return failedIf(
      redirects + later === 0,
      'no page load is redirected to Identify: the browser keeps an SSO session that does not exist',
    )
  },
}

/** Ends the SSO sessions of visitors. Identify must give them new ones, and then they must be able to log in. */
const visitorEnded: Check = {
  name: 'status/visitor-session-ended',
  isSlow: true,
  run: async (stage) => {
    const endings: readonly (readonly [string, (sid: string) => void])[] = [
      ['was logged in and out on another site', (sid) => stage.platform.terminate(sid)],
      ['was removed by the platform', (sid) => stage.platform.prune(sid)],
    ]
    const visitors: [string, Browser, string][] = []
    for (const [how, end] of endings) {
      const browser = stage.browser()
      await stage.visit(browser, stage.site.loginPage)
      const sid = await stage.sid(browser)
      end(sid)
      visitors.push([how, browser, sid])
    }
    await stage.grownOld()
    const problems: string[] = []
    for (const [how, browser, sid] of visitors) {
      const page = await stage.visit(browser, stage.site.loginPage)
      const what = `a visitor whose SSO session ${how}`
      const problem = redirectProblem(stage, page, 1)
      if (problem !== undefined) problems.push(`${what} ${problem}`)
      else if (page.status !== 200) problems.push(`${what} gets ${outcomeOf(page)}`)
      else if (stage.identifies(page) === 0) problems.push(`${what} does not go through Identify`)
      else if ((await stage.sid(browser)) === sid) problems.push(`${what} keeps it`)
    }
    return noneOf(problems)
  },
}

const otherAccount: Check = {
  name: 'status/other-account',
  isSlow: true,
  run: async (stage) => {
    const { browser, account: first, sid } = await loggedIn(stage)
    const address = dataAddress(stage)
    const form = address && (await dataForm(stage, browser, address, `examined-stale-${first.accountId}`))
    await stage.second.logout(sid)
    const { account: second } = await stage.loginElsewhere(browser)
    await stage.grownOld()
    if (address && form && (await isStored(stage, browser, address, form)))
      return failed(
        'a form that one user has filled in, and that is sent after another account has logged in on another site, is stored for the other user',
      )
    const pages = [
      await stage.look(browser),
      await stage.visit(browser, stage.site.userPage),
      await stage.visit(browser, stage.site.publicPage),
    ]
    if (pages.some((page) => stage.showsOther(page, first)))
      return failed('the page still shows the first user, though the browser is logged in as another one')
    need(
      pages.some(({ status }) => status === 200),
      'no page responded',
    )
    return failedIf(!pages.some((page) => stage.shows(page, second)), 'the second user is not logged in here')
  },
}

export const statusChecks: readonly Check[] = [
  young,
  old,
  tenAtOnce,
  loginElsewhere,
  staleChecks.newAtStatusCheck,
  logoutElsewhere,
  logoutWhileReading,
  removed,
  visitorEnded,
  otherAccount,
  sensitivePage,
  sensitiveUnverified,
  ...spoiltResponseChecks,
]
