/** Checks `status/…` with wrong responses of Session Status: they may neither log a visitor in nor a user out. */
import type { Browser } from '../browser'
import { type Check, type Finding, failed, need, noneOf, passed, problemsIn, warning } from '../check'
import { isServerError, responseOf } from '../outcome'
import type { Account, Fault } from '../platform'
import { isAwake, MAX_WAIT_IN_TURN_SECONDS, pause, type Stage } from '../stage'
import { loggedIn } from './logged-in'

/** A browser whose SSO session is logged in. Here, a visitor's browser is anonymous. */
interface Someone {
  readonly browser: Browser
  readonly account: Account
  readonly sid: string
}

/** A user of the site, and a visitor who has logged in on another site meanwhile. */
interface Pair {
  readonly user: Someone
  readonly visitor: Someone
  readonly loggedInAt: number
}

/**
 * Has the site kept the user while it could not ask the platform? After the grace period the site need not.
 * A session that is older is checked once more, and grows old again, if that takes a few seconds.
 */
async function isWithinGrace(stage: Stage, browser: Browser, loggedInAt: number): Promise<boolean> {
  const { recheckSeconds, graceSeconds } = stage.run.settings
  const age = (Date.now() - loggedInAt) / 1000
  if (graceSeconds === undefined || age < recheckSeconds + graceSeconds - 2) return true
  if (recheckSeconds > MAX_WAIT_IN_TURN_SECONDS) return false
  await stage.look(browser)
  await pause((recheckSeconds + 0.5) * 1000)
  return graceSeconds > 2
}

async function pairOf(stage: Stage): Promise<Pair> {
  const loggedInAt = Date.now()
  const user = await loggedIn(stage)
  const browser = stage.browser()
  await stage.visit(browser)
  await stage.visit(browser, stage.site.loginPage)
  return { user, loggedInAt, visitor: { browser, ...(await stage.loginElsewhere(browser)) } }
}

/** Effect and fix if a response is refused, and the site breaks or forgets its user. */
const keepsNobody = {
  effect: 'One response that does not verify logs users out, or shows them an error page.',
  fix: 'Treat a response that does not verify as no response: catch the error of the verification, keep the session as it is, serve the page, and ask again later.',
}

/** Lets a logged-in user load a page while the response is wrong. */
async function spoilForUser(stage: Stage, { user, loggedInAt }: Pair, fault: Fault): Promise<string[]> {
  const mustStay = await isWithinGrace(stage, user.browser, loggedInAt)
  const { page } = await spoil(stage, user, fault, stage.site.userPage)
  const what = page.next !== undefined ? 'redirects to Identify' : `${responseOf(page)} without the user`
  const isLost = isServerError(page) || (mustStay && !stage.shows(page, user.account))
  return problemsIn([[isLost, `the page of a logged-in user ${what}, who must stay logged in`]])
}

/** Loads a page of an old session while the response is wrong. */
async function spoil(stage: Stage, { browser, account, sid }: Someone, fault: Fault, address: string) {
  const since = Date.now()
  const end = stage.platform.fault(['sessionstatus'], fault, { sid })
  const page = await stage.look(browser, address)
  const isKnown = await stage.isKnown(browser, account)
  end()
  const isCalled = stage.platform.calls(since, { operation: 'sessionstatus', sid }).length > 0
  need(isCalled || isServerError(page), 'no status check was made for an old session')
  return { page, isKnown }
}

/** Logs the user out. Returns the problem if the call is about the session of an earlier response. */
async function takenOver(stage: Stage, { browser, sid }: Someone): Promise<string[]> {
  const since = Date.now()
  await stage.logout(browser, { stopAt: (url) => stage.platform.isIdentify(url) })
  await pause(200) // a site may call after its response
  const calls = stage.platform.calls(since, { operation: 'logout' })
  const isOwn = calls.some(({ call }) => call.claims['sid'] === sid)
  return problemsIn([
    [
      calls.length > 0 && !isOwn,
      'the next call of the session has another SSO session ID: the site has taken over sid of the response',
    ],
  ])
}

/** Creates a check with a wrong response. A site may pause its calls after a failure, and is then tried again after the pause. */
function spoiltResponseCheck(name: string, response: string, fault: Fault): Check {
  return {
    name: `status/${name}`,
    isSlow: true,
    isRough: true,
    run: async (stage) => {
      const pair = await pairOf(stage)
      await stage.grownOld()
      await isAwake(stage)
      const problems = await spoilForUser(stage, pair, fault)
      await isAwake(stage)
      const { page, isKnown } = await spoil(stage, pair.visitor, fault, stage.site.publicPage)
      if (isKnown) return failed(`${response} was accepted, and its user is logged in`)
      if (page.next !== undefined && problems.length === 0)
        return failed(`${response} was believed: a visitor is redirected to Identify because of it`)
      if (isServerError(page)) problems.push(`the page of a visitor ${responseOf(page)}`)
      if (fault.kind === 'wrong_session' && problems.length === 0) {
        const taken = await takenOver(stage, pair.user)
        if (taken.length > 0) return noneOf(taken)
      }
      if (problems.length === 0) return passed()
      return { ...failed(`${response}: ${problems.join('; ')}`), ...keepsNobody }
    },
  }
}

const PAGES = 5
const MIN_PAUSE_MS = 1000
/** Time after which a site has asked again for a session whose status check has failed. */
const MAX_PAUSE_SECONDS = 30

/** Ends the SSO session whose status check has failed. If sessions live long here, the site must ask before they are old again. */
async function asksAgain(stage: Stage, { browser, account, sid }: Someone): Promise<Finding> {
  if (stage.run.settings.recheckSeconds < 4 * MAX_PAUSE_SECONDS) return passed()
  stage.platform.terminate(sid)
  await stage.run.wait(MAX_PAUSE_SECONDS * 1000)
  await isAwake(stage)
  if (!(await stage.isKnown(browser, account))) return passed()
  return warning(
    `a status check fails once, and ${MAX_PAUSE_SECONDS} s later the site has not asked again for this session: a failed check counts as a check (such as a time that is noted in finally), so a user who has logged out on another site is shown for ${stage.run.settings.recheckSeconds} more seconds after each failure`,
    'While the platform fails now and then, users who have logged out on other sites stay logged in here.',
  )
}

/** Opens pages one after the other while Session Status fails for one session. Not every page may ask again. */
const retryPause: Check = {
  name: 'status/retry-pause',
  isSlow: true,
  isRough: true,
  run: async (stage) => {
    const user = await loggedIn(stage)
    const { browser, sid } = user
    await stage.grownOld()
    await isAwake(stage)
    const since = Date.now()
    const end = stage.platform.fault(['sessionstatus'], { kind: 'status', code: 503 }, { sid })
    for (let page = 1; page <= PAGES; page += 1) await stage.look(browser)
    end()
    const times = stage.platform.calls(since, { operation: 'sessionstatus', sid }).map(({ at }) => at)
    need(times.length > 0, 'no status check was made for an old session')
    const early = times.filter((at, index) => at - (times[index - 1] ?? 0) < MIN_PAUSE_MS)
    if (early.length === 0) return asksAgain(stage, user)
    return failed(
      `a status check fails, and the next pages of the same user ask again at once: ${PAGES} pages make ${times.length} calls. The site notes the time of a check only if it succeeds`,
    )
  },
}

export const spoiltResponseChecks: readonly Check[] = [
  spoiltResponseCheck('wrong-signature', 'a response with a wrong signature', { kind: 'wrong_signature' }),
  spoiltResponseCheck('wrong-session', 'a response about another session', { kind: 'wrong_session' }),
  spoiltResponseCheck('wrong-audience', 'a response for another client', { kind: 'wrong_audience' }),
  spoiltResponseCheck('expired', 'a response that expired two minutes ago', { kind: 'skew', seconds: -120 }),
  spoiltResponseCheck('invalid-token', 'a response with err invalid_token', { kind: 'error', code: 'invalid_token' }),
  retryPause,
]
