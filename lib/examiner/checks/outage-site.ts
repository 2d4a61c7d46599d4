/** Group `outage`, the site as a whole: new visitors, calls to the platform, grace period, recovery. */
import type { EmulatedOperation } from '../../emulator/faults/rules'
import type { Browser } from '../browser'
import { advised, type Check, failed, failedIf, need, noneOf, notTold } from '../check'
import type { Form } from '../html'
import { outcomeOf } from '../outcome'
import type { Fault } from '../platform'
import { called, pause, type Stage, waitUntil } from '../stage'
import { healthPage } from './health-page'
import { onFirstLoad } from './identify'
import { arrive } from './landing'
import { type LoggedIn, loggedIn } from './logged-in'
import { loginAttempts } from './login-attempts'

const everything: readonly EmulatedOperation[] = ['identify', 'authenticate', 'sessionstatus', 'logout', 'token', 'me']

/**
 * Lets all operations fail, also Identify. Within 15 seconds, new visitors must get pages without a redirect.
 * Meanwhile a user tries to log in, because a site may learn of the outage by its own calls.
 */
const newVisitors: Check = {
  name: 'outage/new-visitors',
  isRough: true,
  run: onFirstLoad(async (stage) => {
    const before = await stage.visit(stage.browser())
    need(stage.identifies(before) > 0, 'a new visitor was not redirected to Identify before the outage')
    const tryLogin = await loginAttempts(stage)
    const end = stage.platform.fault(everything, { kind: 'status', code: 503 })
    let outcome = ''
    const isServed = async () => {
      await tryLogin()
      const page = await stage.visit(stage.browser())
      outcome = outcomeOf(page)
      return stage.identifies(page) === 0
    }
    const areServed = await waitUntil(isServed, { withinMs: 15_000, everyMs: 500 })
    end()
    if (!areServed) return failed('15 s into an outage, every new visitor is still redirected to the dead platform')
    return failedIf(outcome !== '200', `new visitors get ${outcome}`)
  }),
}

const BROWSERS = 4
const PAGES_EACH = 5

/** Ends a pause of the site after the failures of earlier checks. The session of the browser is old. */
const endPause = (stage: Stage, browser: Browser) => called(stage, 'sessionstatus', () => stage.look(browser))

/** Lets Session Status fail while users with old sessions open pages. Not every page may call Session Status. */
const fewCalls: Check = {
  name: 'outage/few-calls',
  isSlow: true,
  isRough: true,
  run: async (stage) => {
    const browsers = Array.from({ length: BROWSERS }, () => stage.browser())
    for (const browser of browsers) await stage.login(browser)
    const opener = stage.browser()
    await stage.login(opener)
    await stage.grownOld()
    await endPause(stage, opener)
    const since = Date.now()
    const end = stage.platform.fault(['sessionstatus'], { kind: 'status', code: 503 })
    const callsSoFar = () => stage.platform.calls(since, { operation: 'sessionstatus' }).length
    for (let page = 1; page <= PAGES_EACH; page += 1)
      for (const browser of browsers) {
        const outcome = outcomeOf(await stage.look(browser))
        stage.tried(`page ${page} of ${browser.name}: ${outcome}, ${callsSoFar()} calls so far`)
      }
    end()
    const calls = callsSoFar()
    need(calls > 0, 'the site made no status check, so nothing failed')
    const pages = BROWSERS * PAGES_EACH
    return failedIf(calls >= pages, `${pages} pages call the dead platform ${calls} times`)
  },
}

/** Maximum grace period for the check. A longer period would take longer than the whole examination. */
const MAX_GRACE_SECONDS = 60

const INFORMED_SECONDS = 45

/** Waits until the platform has logged an SSO session out. */
const isInformed = ({ platform }: Stage, sid: string): Promise<boolean> =>
  waitUntil(() => platform.status(sid) !== 'loggedin', { withinMs: INFORMED_SECONDS * 1000, everyMs: 1000 })

/** The traffic does not tell the two apart. */
const AFTER_CHECK =
  'the status check of the page has failed, so the user is shown without end, or the period begins again with each failed check'

/** Lets the platform fail for longer than the grace period. The site must not show the user any more. */
const gracePeriod: Check = {
  name: 'outage/grace-period',
  isSlow: true,
  isRough: true,
  run: async (stage) => {
    const { graceSeconds } = stage.run.settings
    if (graceSeconds === undefined || graceSeconds > MAX_GRACE_SECONDS)
      return notTold(['graceSeconds'], `the grace period of the site under test, up to ${MAX_GRACE_SECONDS} s`)
    const failures = [
      ['does not respond', { kind: 'down' }],
      ['responds with err invalid_token', { kind: 'error', code: 'invalid_token' }],
    ] as const
    const users: (LoggedIn & { what: string; fault: Fault; form: Form; opener: Browser })[] = []
    for (const [what, fault] of failures) {
      const user = await loggedIn(stage)
      const opener = stage.browser()
      await stage.login(opener)
      users.push({ ...user, what, fault, form: await stage.logoutForm(user.browser), opener })
    }
    await stage.run.wait((stage.run.settings.recheckSeconds + graceSeconds + 3) * 1000)
    const problems: string[] = []
    const unreported: string[] = []
    for (const { browser, account, sid, what, fault, form, opener } of users) {
      await endPause(stage, opener)
      const since = Date.now()
      const end = stage.platform.fault(['sessionstatus'], fault, { sid })
      const isKnown = await stage.isKnown(browser, account)
      const isChecked = stage.platform.calls(since, { operation: 'sessionstatus' }).length > 0
      const isKnownAgain = !isKnown && (await stage.isKnown(browser, account))
      await browser.submit(form, {}) // a tab that was opened before
      end()
      need(isKnown || stage.platform.calls(since).length > 0, 'the site made no status check, so nothing failed')
      if (isKnown)
        problems.push(
          `the platform ${what}, and the user is still shown, although the grace period is over: ${isChecked ? AFTER_CHECK : 'the page makes no status check'}`,
        )
      if (isKnownAgain)
        problems.push(
          `the platform ${what}, and the user is shown again by the second page after the end of the grace period: the period begins again with each failed check`,
        )
      if (!(await isInformed(stage, sid)))
        unreported.push(
          `the platform ${what}, and the user, who is not shown any more, logs out in an older tab: ${INFORMED_SECONDS} s later the platform still has the user logged in`,
        )
    }
    return noneOf([...problems, ...advised(unreported, UNREPORTED)])
  },
}

/** Effect and fix if only the logout after the grace period fails. */
const UNREPORTED = {
  effect: 'The user has logged out, and is still logged in on every other site.',
  fix: 'After the grace period, treat the user as anonymous, but keep the session with its SSO session ID: a logout calls Logout with it. Note a Logout that could not be sent, and send it as soon as the platform is back, without waiting for the user.',
}

/** Lets all operations fail, and then work again. Within ten seconds, a user must be able to log in. */
const recovery: Check = {
  name: 'outage/recovery',
  isRough: true,
  run: async (stage) => {
    const tryLogin = await loginAttempts(stage)
    const end = stage.platform.fault(everything, { kind: 'down' })
    for (let count = 0; count < 6; count += 1) {
      await stage.visit(stage.browser(), stage.site.loginPage)
      await tryLogin()
    }
    end()
    let problem: string | undefined
    const isBack = async () => {
      problem = await stage.login(stage.browser()).then(
        () => undefined,
        (error: Error) => error.message,
      )
      return problem === undefined
    }
    const isInTime = await waitUntil(isBack, { withinMs: 10_000, everyMs: 700 })
    return failedIf(!isInTime, `10 s after the outage, no login works: ${problem}`)
  },
}

const SLOW_MS = 3000
const MAX_OTHERS_MS = 1500

/** A step of one user that calls the platform. */
interface Step {
  /** The SSO session of the call. */
  readonly sid: string
  act(): Promise<unknown>
}

/** Prepares a step. The session of `user` is old. */
type Prepare = (stage: Stage, user: LoggedIn) => Promise<Step>

const slowSteps: readonly (readonly [EmulatedOperation, Prepare])[] = [
  ['sessionstatus', async (stage, { browser, sid }) => ({ sid, act: () => stage.look(browser) })],
  [
    'authenticate',
    async (stage) => {
      const browser = stage.browser()
      const { form } = await stage.loginForm(browser)
      return { sid: await stage.sid(browser), act: () => stage.submit(browser, form, stage.account()) }
    },
  ],
  [
    'token',
    async (stage) => {
      const { browser, claims, address } = await arrive(stage)
      return { sid: String(claims['sid']), act: () => stage.openHere(browser, address.href) }
    },
  ],
  [
    'logout',
    async (stage) => {
      const { browser, sid } = await loggedIn(stage)
      return { sid, act: () => stage.logout(browser) }
    },
  ],
]

/** Prepares what others do meanwhile. The status check of `reader` is due. Returns what takes too long. */
async function prepareOthers(stage: Stage, reader: LoggedIn): Promise<() => Promise<string[]>> {
  const [newcomer, visitor] = [stage.browser(), stage.browser()]
  const { form } = await stage.loginForm(visitor)
  return async () => {
    const pages = Object.entries({
      'the page of a new visitor': stage.openHere(newcomer, stage.site.publicPage),
      'a page with the status check of another user': stage.look(reader.browser),
      'the login of another user': stage.submit(visitor, form, stage.account()),
    })
    const loaded = await Promise.all(pages.map(async ([name, page]) => [name, await page] as const))
    return loaded.flatMap(([name, { hops }]) => {
      const ms = Math.max(...hops.map((hop) => hop.ms))
      stage.tried(`${name}: ${Math.round(ms)} ms`)
      return ms > MAX_OTHERS_MS ? [`${name} takes ${(ms / 1000).toFixed(1)} s`] : []
    })
  }
}

/** Lets single calls about one user be slow. Meanwhile, others must not wait: not for pages, status checks and logins. */
const oneSlowUser: Check = {
  name: 'outage/one-slow-user',
  isSlow: true,
  isRough: true,
  run: async (stage) => {
    const [slow, opener] = [await loggedIn(stage), await loggedIn(stage)]
    const rounds: { operation: EmulatedOperation; prepare: Prepare; reader: LoggedIn }[] = []
    for (const [operation, prepare] of slowSteps) rounds.push({ operation, prepare, reader: await loggedIn(stage) })
    await stage.grownOld()
    await endPause(stage, opener.browser)
    const since = Date.now()
    const problems: string[] = []
    for (const { operation, prepare, reader } of rounds) {
      const others = await prepareOthers(stage, reader)
      const { sid, act } = await prepare(stage, slow)
      const end = stage.platform.fault([operation], { kind: 'slow', ms: SLOW_MS }, { sid })
      stage.tried(`${operation} of one user takes ${SLOW_MS / 1000} s. Meanwhile:`)
      const acted = act()
      await pause(200)
      const late = await others()
      await acted
      end()
      if (late.length > 0) problems.push(`while ${operation} of one user takes ${SLOW_MS / 1000} s, ${late.join(', ')}`)
    }
    const isChecked = rounds.some(
      ({ reader: { sid } }) => stage.platform.calls(since, { operation: 'sessionstatus', sid }).length > 0,
    )
    need(problems.length > 0 || isChecked, 'the site made no status check, so nothing had to wait')
    return noneOf(problems)
  },
}

export const outageSiteChecks: readonly Check[] = [
  oneSlowUser,
  newVisitors,
  fewCalls,
  gracePeriod,
  recovery,
  healthPage,
]
