/** Checks `status/…` with wrong responses of Session Status: they may neither log a visitor in nor a user out. */
import type { Browser } from '../browser'
import { type Check, type Finding, failed, need, passed, problemsIn } from '../check'
import { isServerError, outcomeOf } from '../outcome'
import type { Account, Fault } from '../platform'
import { called, pause, type Stage } from '../stage'
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

/** Longest time that a check waits in its turn for a session to grow old again. */
const MAX_WAIT_SECONDS = 10

/**
 * Has the site kept the user while it could not ask the platform? After the grace period the site need not.
 * A session that is older is checked once more, and grows old again, if that takes a few seconds.
 */
async function isWithinGrace(stage: Stage, browser: Browser, loggedInAt: number): Promise<boolean> {
  const { recheckSeconds, graceSeconds } = stage.run.settings
  const age = (Date.now() - loggedInAt) / 1000
  if (graceSeconds === undefined || age < recheckSeconds + graceSeconds - 2) return true
  if (recheckSeconds > MAX_WAIT_SECONDS) return false
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

/**
 * Lets both browsers load a page while the response is wrong.
 * @returns undefined if the site did not call Session Status for both
 */
async function spoil(
  stage: Stage,
  { user, visitor, loggedInAt }: Pair,
  response: string,
  fault: Fault,
): Promise<Finding | undefined> {
  const mustStay = await isWithinGrace(stage, user.browser, loggedInAt)
  const since = Date.now()
  const ends = [user, visitor].map(({ sid }) => stage.platform.fault(['sessionstatus'], fault, { sid }))
  const userPage = await stage.look(user.browser)
  const visitorPage = await stage.look(visitor.browser, stage.site.publicPage)
  const isVisitorKnown = await stage.isKnown(visitor.browser, visitor.account)
  for (const end of ends) end()
  const isCalled = [user, visitor].every(
    ({ sid }) => stage.platform.calls(since, { operation: 'sessionstatus', sid }).length > 0,
  )
  if (isVisitorKnown) return failed(`${response} was accepted, and its user is logged in`)
  if (visitorPage.next !== undefined)
    return failed(`${response} was believed: a visitor is redirected to Identify because of it`)
  const isLost = isServerError(userPage) || (mustStay && !stage.shows(userPage, user.account))
  const what =
    userPage.next !== undefined ? 'redirects to Identify' : `responds ${outcomeOf(userPage)} without the user`
  const problems = problemsIn([
    [isLost, `the page of a logged-in user ${what}, who must stay logged in`],
    [isServerError(visitorPage), `the page of a visitor responds ${outcomeOf(visitorPage)}`],
  ])
  if (problems.length > 0) return { ...failed(`${response}: ${problems.join('; ')}`), ...keepsNobody }
  return isCalled ? passed() : undefined
}

/** Creates a check with a wrong response. A site may pause its calls after a failure, and is then tried again after the pause. */
function spoiltResponseCheck(name: string, response: string, fault: Fault): Check {
  return {
    name: `status/${name}`,
    isSlow: true,
    isRough: true,
    run: async (stage) => {
      const pairs = [await pairOf(stage), await pairOf(stage)]
      await stage.grownOld()
      for (const pair of pairs) {
        const finding = await spoil(stage, pair, response, fault)
        if (finding) return finding
        const { user } = pair
        await called(stage, 'sessionstatus', () => stage.look(user.browser))
      }
      need(false, 'no status check was made for a user and for a visitor with old sessions')
    },
  }
}

export const spoiltResponseChecks: readonly Check[] = [
  spoiltResponseCheck('wrong-signature', 'a response with a wrong signature', { kind: 'wrong_signature' }),
  spoiltResponseCheck('wrong-session', 'a response about another session', { kind: 'wrong_session' }),
  spoiltResponseCheck('wrong-audience', 'a response for another client', { kind: 'wrong_audience' }),
  spoiltResponseCheck('expired', 'a response that has expired', { kind: 'expired' }),
]
