/** Group `outage`, cells: each operation of the platform fails in each of the usual ways, and the site must keep working. */
import type { EmulatedOperation } from '../../emulator/faults/rules'
import type { Browser, Page } from '../browser'
import { type AdvisedProblem, advised, type Check, LIKE_ANOTHER, need, noneOf, problemsIn } from '../check'
import { isAnyError, isServerError, isUnanswered, outcomeOf } from '../outcome'
import type { Account, Fault } from '../platform'
import { called, pause, type Stage, waitUntil } from '../stage'
import { arrive } from './landing'
import { loggedIn } from './logged-in'
import { anonymousVisitProblems, halfLoginProblems, landAndLook } from './ticket'

const SLOW_MS = 6000
const MAX_PAGE_MS = 5500
const MAX_LOGIN_MS = 12_000
/** Time that the examiner itself may need for responses of 20 MB. */
const HUGE_MS = 5000

/** A failure: the fault of an operation, or `refused` if the platform accepts no connection at all. */
type Failure = 'refused' | Fault

/** The failures of each operation that `--quick` includes. A call that hangs lasts as long as the time limit of the site, so one operation must do. */
const quick = ['refused', 'down', 'status-500', 'garbage']
const isInQuick = (name: string, failureName: string) =>
  quick.includes(failureName) || (name === 'login' && failureName === 'hang')

/** Failures of every HTTP call. */
const httpFailures: readonly (readonly [name: string, failure: Failure])[] = [
  ['refused', 'refused'],
  ['down', { kind: 'down' }],
  ['hang', { kind: 'hang' }],
  ['slow', { kind: 'slow', ms: SLOW_MS }],
  ['status-500', { kind: 'status', code: 500 }],
  ['status-503', { kind: 'status', code: 503, retryAfter: 1 }],
  ['garbage', { kind: 'garbage' }],
  ['null', { kind: 'null' }],
  ['empty', { kind: 'empty' }],
  ['huge', { kind: 'huge' }],
  ['redirect', { kind: 'status', code: 302 }],
  ['drip', { kind: 'drip' }],
]

/** Failures of calls whose response is a Session Token. */
const tokenFailures: typeof httpFailures = [...httpFailures, ['wrong-signature', { kind: 'wrong_signature' }]]

/** Failures of Authenticate. Its response can also be about another session. */
const loginFailures: typeof httpFailures = [...tokenFailures, ['wrong-session', { kind: 'wrong_session' }]]

/** A refusal for a while. Its `Retry-After` is a date, as the standard allows. */
const TOO_MANY: (typeof httpFailures)[number] = ['status-429', { kind: 'status', code: 429, retryAfter: 'date' }]
const BAD_GATEWAY: typeof TOO_MANY = ['status-502', { kind: 'status', code: 502 }]

/** Calls for one page that a site may make if it is told to wait. */
const MAX_CALLS = 3

/** The failure of a check. */
interface Outage {
  /** Begins the failure, which lasts until the end of the check. */
  fail(): Promise<void>
  /** Longest time of a page, in milliseconds. */
  readonly maxPageMs: number
  /** Is the failure a late response, which may be used? */
  readonly isLate: boolean
  /** Does the failure tell the site to wait? */
  readonly hasRetryAfter: boolean
  /** Ends the failure early. */
  end(): Promise<void>
  /** Has the site called the failing operation? */
  failed(): Promise<boolean>
  /** Number of calls of the failing operation so far, about the same session. */
  calls(): number
  /** Accepts connections again if the failure refuses them, because a check needs Identify to see the user's state. */
  reach(): Promise<void>
}

/**
 * Acts while an operation fails.
 * @returns the problems, the most important first
 */
type Act = (stage: Stage, outage: Outage) => Promise<(string | AdvisedProblem)[]>

/** Advice for a call without a time limit. */
const lateAdvice = {
  fix: 'Give each call of the platform, the token endpoint and the REST API a time limit of 2 seconds in total: from the connection to the last byte of the body. A time limit of the socket holds for each read only, so a body that comes byte by byte never ends. A call that is sent again has this time for all its tries together.',
}

/** The problem of a site that reads all of a response of 20 MB. */
export const READ_WHOLE = 'the site reads a response of 20 MB to its end, and keeps it in memory'
const readWholeAdvice = {
  effect: 'A few such responses at once fill the memory of the server, and the whole site is down.',
  fix: 'Count the bytes while the body arrives, and close the connection at 64 kB: no response of the platform is larger. In Node.js: for await (const chunk of response.body). In axios: maxContentLength. In Python: stream=True, then iter_content or read(64_000). In PHP: CURLOPT_WRITEFUNCTION that returns 0.',
}

const FOLLOWED = 'the site follows the redirect: it would send its tokens and secrets to any address'

/** Creates a check of an operation for each failure. */
function cells(name: string, operation: EmulatedOperation, failures: typeof httpFailures, act: Act): Check[] {
  return failures.map(([failureName, failure]) => ({
    name: `outage/${name}-${failureName}`,
    isRough: true,
    notInQuick: isInQuick(name, failureName) ? undefined : LIKE_ANOTHER,
    run: async (stage) => {
      let since = Date.now()
      let end = async () => {}
      const outage: Outage = {
        fail: async () => {
          since = Date.now()
          end = await begin(stage, operation, failure)
        },
        maxPageMs: failureName === 'huge' ? MAX_PAGE_MS + HUGE_MS : MAX_PAGE_MS,
        isLate: failureName === 'slow',
        hasRetryAfter: typeof failure === 'object' && 'retryAfter' in failure,
        end: () => end(),
        failed: () => wasCalled(stage, since, operation, failure),
        calls: () => {
          const sids = stage.platform.calls(since, { operation }).map(({ call }) => call.claims['sid'])
          return Math.max(0, ...sids.map((sid) => sids.filter((one) => one === sid).length))
        },
        reach: async () => {
          if (failure === 'refused') await end()
        },
      }
      try {
        const { followed, readWhole } = stage.platform
        const problems = await act(stage, outage)
        if (stage.platform.followed > followed) problems.push(FOLLOWED)
        if (stage.platform.readWhole > readWhole) problems.push({ sentence: READ_WHOLE, advice: readWholeAdvice })
        return noneOf(problems)
      } finally {
        await end()
      }
    },
  }))
}

/** Lets an operation fail until the returned function is called. */
async function begin(
  { platform }: Stage,
  operation: EmulatedOperation,
  failure: Failure,
): Promise<() => Promise<void>> {
  if (failure === 'refused') return platform.refuse()
  const end = platform.fault([operation], failure)
  return async () => end()
}

/** Has the site called the operation? The log gets a slow call at the end of the call, and never a refused call. */
async function wasCalled(
  stage: Stage,
  since: number,
  operation: EmulatedOperation,
  failure: Failure,
): Promise<boolean> {
  if (failure === 'refused') return true
  const withinMs = (failure.kind === 'slow' ? failure.ms : 0) + 500
  return waitUntil(() => stage.platform.calls(since, { operation }).length > 0, { withinMs, everyMs: 100 })
}

/** Returns the problems of a page that has made some calls during an outage. A 503 is right if the page needs the platform. */
function pageProblems(page: Page, limitMs: number, calls = 0): AdvisedProblem[] {
  const ms = Math.max(...page.hops.map((hop) => hop.ms))
  if (isServerError(page) && page.status !== 503)
    return advised([`the user gets ${outcomeOf(page)}`], isUnanswered(page) ? lateAdvice : {})
  const repeated = calls > 1 ? `the site sends the call that fails ${calls} times for one page, and ` : ''
  return advised(problemsIn([[ms > limitMs, `${repeated}a response took ${(ms / 1000).toFixed(1)} s`]]), lateAdvice)
}

/**
 * Opens a page of a known user with an old session while Session Status fails. The site must serve the page.
 * In a real outage Identify fails too, so a redirect to Identify shows the user an error page of the browser.
 */
const showPage: Act = async (stage, { fail, failed, end, calls, maxPageMs, hasRetryAfter }) => {
  const browser = stage.browser()
  const spare = stage.browser()
  await stage.login(browser)
  await stage.login(spare)
  await stage.grownOld()
  for (const user of [browser, spare]) {
    await fail()
    const page = await stage.look(user, stage.identifiedPage)
    const hasFailed = await failed()
    if (hasRetryAfter) await pause(400) // a site may repeat the call in the background
    const sent = calls()
    const problems = [
      ...pageProblems(page, maxPageMs, sent),
      ...problemsIn([
        [
          hasRetryAfter && sent > MAX_CALLS,
          `the site calls Session Status ${sent} times for one page, and is told to wait by Retry-After: it takes no notice, or reads a date there as a number`,
        ],
        [isAnyError(page), `the user gets ${outcomeOf(page)}`],
        [page.next !== undefined, 'the user is redirected to the platform that fails'],
      ]),
    ]
    if (hasFailed || problems.length > 0) return problems
    await end()
    await called(stage, 'sessionstatus', () => stage.look(user))
  }
  need(false, 'the site made no status check, so nothing failed')
}

/** Tries to log in while Authenticate fails. The message must differ from the message for a wrong password. */
const tryLogin: Act = async (stage, { fail, failed, isLate, end }) => {
  const since = Date.now()
  const wrong = await submitPassword(stage, 'not-the-password')
  need(stage.platform.calls(since, { operation: 'authenticate' }).length > 0, 'the site did not call Authenticate')
  const browser = stage.browser()
  const { form } = await stage.loginForm(browser)
  await fail()
  const account = stage.account()
  const sentAt = Date.now()
  const page = await stage.submit(browser, form, account)
  need(page.status === 503 || (await failed()), 'the site did not call Authenticate')
  const isSame = page.words === wrong.words && page.status === wrong.status
  const isKnown = !isLate && (await stage.isKnown(browser, account))
  const sent = stage.platform.calls(sentAt, { operation: 'authenticate' }).length
  const isChecked = stage.platform.calls(sentAt, { operation: 'sessionstatus' }).length > 0
  await end()
  const isBack = await isLoggedInAgain(stage, browser, account)
  return [
    ...pageProblems(page, MAX_LOGIN_MS),
    ...problemsIn([
      [sent > 1, `one login sends the password ${sent} times: each may count as an attempt`],
      [isKnown && !isChecked, 'the user is logged in by a response that is not valid'],
      [!isBack, 'after the outage, the same user cannot log in with the same password in this browser'],
      [isSame, `the page says the same as for a wrong password: ${page.words.slice(0, 60)}`],
    ]),
  ]
}

/** Time in which a site has noticed that the platform is back. */
const BACK_MS = 15_000

/** Logs in after an outage. A site may pause its calls for a while. */
function isLoggedInAgain(stage: Stage, browser: Browser, account: Account): Promise<boolean> {
  const isIn = async () => {
    if (await stage.isKnown(browser, account)) return true
    const { form } = await stage.loginForm(browser).catch(() => ({ form: undefined }))
    if (form) await stage.submit(browser, form, account)
    return stage.isKnown(browser, account)
  }
  return waitUntil(isIn, { withinMs: BACK_MS, everyMs: 2000 })
}

async function submitPassword(stage: Stage, password: string): Promise<Page> {
  const browser = stage.browser()
  const { form } = await stage.loginForm(browser)
  return stage.submit(browser, form, { ...stage.account(), password })
}

/** Logs out while Logout fails. The local session must end, and Identify must not restore the login. */
const tryLogout: Act = async (stage, { fail, failed, calls, reach, maxPageMs }) => {
  const { browser, account } = await loggedIn(stage)
  await fail()
  const page = await stage.logout(browser, { stopAt: (url) => stage.platform.isIdentify(url) })
  const sent = calls()
  const isKnown = await stage.isKnown(browser, account)
  await reach()
  const isShown = !isKnown && (await stage.isShown(browser, account))
  need(isKnown || isShown || (await failed()), 'the site did not call Logout')
  return [
    ...pageProblems(page, maxPageMs, sent),
    ...problemsIn([
      [isKnown, 'the user is still logged in'],
      [isShown, 'the next Identify redirect logs the user in again'],
    ]),
  ]
}

/** Opens the landing page while a call of the login fails. The visitor must get the page and be anonymous. */
const tryLanding: Act = async (stage, { fail, failed }) => {
  const { browser, account, address } = await arrive(stage)
  await fail()
  const since = Date.now()
  const pages = await landAndLook(stage, browser, address)
  const isKnown = await stage.isKnown(browser, account)
  const half = await halfLoginProblems(stage, browser)
  need(await failed(), 'the site did not make the call')
  const sent = stage.platform.calls(since, { operation: 'token' }).length
  return [
    ...advised(anonymousVisitProblems(pages, isKnown), pages.some(isUnanswered) ? lateAdvice : {}),
    ...half,
    ...problemsIn([[sent > 1, `one landing sends its ticket ${sent} times, though a ticket is exchanged once`]]),
  ]
}

/** Lists all cells. Checks with old sessions wait. */
export const outageCells: readonly Check[] = [
  ...cells('page', 'sessionstatus', [...tokenFailures, TOO_MANY], showPage).map((check) => ({
    ...check,
    isSlow: true,
  })),
  ...cells('login', 'authenticate', [...loginFailures, TOO_MANY], tryLogin),
  ...cells('logout', 'logout', tokenFailures, tryLogout),
  ...cells('ticket', 'token', [...httpFailures, BAD_GATEWAY], tryLanding),
  ...cells('user', 'me', httpFailures, tryLanding),
]
