/** What the platform refuses: no redirects without end for the user concerned, and no outage for all others. */
import { type Check, failed, need, noneOf, passed } from '../check'
import { loginFormOf } from '../facts'
import type { Fault } from '../platform'
import { isAwake, type Stage } from '../stage'
import { type Arrival, arrive } from './landing'
import { redirectProblem } from './redirects'

/** Refusals that a new Identify redirect does not heal: the description, the operation and its fault. */
const lasting: readonly (readonly [what: string, operation: 'sessionstatus' | 'token' | 'me', fault: Fault])[] = [
  ['Session Status knows no session', 'sessionstatus', { kind: 'error', code: 'session_not_found' }],
  ['the token endpoint refuses every ticket', 'token', { kind: 'status', code: 400 }],
  ['the REST API refuses every access token', 'me', { kind: 'status', code: 401 }],
  // last, because a site may stop redirecting after such failures
  ['the token endpoint responds 500', 'token', { kind: 'status', code: 500 }],
  ['the REST API responds 500', 'me', { kind: 'status', code: 500 }],
]

/** Pages that may need a new session: all that the examiner knows. */
function pagesOf({ run, site }: Stage): string[] {
  const { sensitive } = run.settings.pages
  const further = sensitive === undefined ? [] : [new URL(sensitive, site.url).href]
  return [...new Set([site.publicPage, site.userPage, ...further])]
}

/** Opens pages with an SSO session that has a user, while the platform refuses what the site then does. */
export const noLoop: Check = {
  name: 'identify/no-loop',
  isRough: true,
  run: async (stage) => {
    await stage.login(stage.browser())
    const problems: string[] = []
    const refused = new Set<string>()
    for (const [what, operation, fault] of lasting)
      for (const address of pagesOf(stage)) {
        const browser = stage.browser()
        await stage.loginElsewhere(browser)
        const since = Date.now()
        const end = stage.platform.fault([operation], fault)
        const page = await stage.visit(browser, address)
        end()
        if (stage.platform.calls(since, { operation }).length > 0) refused.add(operation)
        need(page.hops.length > 1 || page.status < 400, `the page ${page.url.pathname} was not there`)
        const problem = page.next === undefined ? undefined : redirectProblem(stage, page, 0)
        if (problem !== undefined) problems.push(`while ${what}, the page ${new URL(address).pathname} ${problem}`)
      }
    // a page need not call Session Status, and a site that pauses its calls after failures misses some of the rest
    for (const operation of ['token', 'me'])
      need(problems.length > 0 || refused.has(operation), `the site did not call ${operation}, so nothing was refused`)
    return noneOf(problems)
  },
}

/** More than the failures after which a site usually stops calling. */
const REFUSED = 6

/** Ways in which the platform refuses a user who is on the way to the landing page. */
const ofOneUser: readonly (readonly [what: string, operation: 'token' | 'me', refuse: Refuse])[] = [
  ['tickets', 'token', (stage, sid) => stage.platform.terminate(sid)],
  [
    'access tokens',
    'me',
    (stage, sid) => void stage.platform.fault(['me'], { kind: 'status', code: 401 }, { times: 1, sid }),
  ],
]

type Refuse = (stage: Stage, sid: string) => void

/** Lets several users land who are refused. Another user must then be able to log in at once. */
export const othersAfterRefusals: Check = {
  name: 'ticket/others-after-refusals',
  isRough: true,
  run: async (stage) => {
    need(await isAwake(stage), 'no login works before the refusals')
    for (const [what, operation, refuse] of ofOneUser) {
      const since = Date.now()
      const arrivals: Arrival[] = []
      for (let count = 0; count < REFUSED; count += 1) arrivals.push(await arrive(stage))
      for (const { browser, address, claims } of arrivals) {
        refuse(stage, String(claims['sid']))
        await stage.openHere(browser, address.href)
      }
      const calls = stage.platform.calls(since, { operation }).length
      need(calls > 0, `the site made no call of ${operation}`)
      const browser = stage.browser()
      const page = await stage.visit(browser, stage.site.loginPage)
      const form = loginFormOf(page.forms, stage.site.passwordField)
      const account = stage.account()
      if (form) await stage.submit(browser, form, account)
      if (!(await stage.isShown(browser, account)))
        return failed(
          `after the ${what} of ${REFUSED} users were refused, another user cannot log in: the site takes the refusals for failures of the platform`,
        )
    }
    return passed()
  },
}
