/** Group `rest`: pages of `examine.json` that call the REST API. */
import type { Browser, Page } from '../browser'
import { type Check, LIKE_ANOTHER, need, noneOf, notTold, problemsIn } from '../check'
import { isLoginOrLogout } from '../facts'
import { isServerError, responseOf } from '../outcome'
import type { Fault, SiteCall } from '../platform'
import { type Stage, waitUntil } from '../stage'
import { logInAtOnce } from './logins-at-once'
import { READ_WHOLE } from './outage'
import { redirectProblem } from './redirects'

type RestPage = keyof typeof OPERATIONS
/** The operation of each page of `rest` in `examine.json`. */
const OPERATIONS = { marketplace: 'marketplace', gift: 'gift', administrators: 'administrators', user: 'me' } as const
export const ALL_PAGES: readonly RestPage[] = ['administrators', 'gift', 'user', 'marketplace']
/** Pages whose calls need a user. */
const USER_PAGES: readonly RestPage[] = ['gift', 'administrators', 'user']
export const keysOf = (names: readonly RestPage[]) => names.map((name) => `rest.${name}`)

export type ToldPage = ReturnType<typeof toldPages>[number]

/** Returns those of the pages that `examine.json` names, or that were found. */
export function toldPages({ run, site }: Stage, names: readonly RestPage[]) {
  return names.flatMap((name) => {
    const path = run.settings.rest[name] ?? (name === 'user' ? site.restUserPage : undefined)
    return path === undefined
      ? []
      : [{ name, operation: OPERATIONS[name], path, address: new URL(path, site.url).href }]
  })
}

/** Opens a page that calls the REST API. Sends the page's form first if the call needs the form. */
export async function open(stage: Stage, { operation, address }: ToldPage, browser: Browser): Promise<Page> {
  const since = Date.now()
  const page = await stage.visit(browser, address)
  const form = page.forms.find(({ method, action }) => method === 'POST' && !isLoginOrLogout(action, ''))
  if (!form || stage.platform.calls(since, { operation }).length > 0) return page
  const typed = form.fields.filter(({ type, value }) => type !== 'hidden' && type !== 'submit' && value === '')
  return browser.submit(form, Object.fromEntries(typed.map((field) => [field.name, exampleOf(field.name)])))
}

const secondsOf = ({ hops }: Page) => Math.max(...hops.map(({ ms }) => ms)) / 1000

/**
 * Opens a page while the REST API works.
 * @throws {Undecided} if the page comes late: the machine may be busy
 */
async function use(stage: Stage, told: ToldPage, browser: Browser): Promise<Page> {
  const page = await open(stage, told, browser)
  needInTime(told, page)
  return page
}

function needInTime({ path }: ToldPage, page: Page): void {
  const seconds = secondsOf(page)
  need(
    page.status >= 500 || seconds <= MAX_SECONDS,
    `while the REST API works, the page ${path} takes ${seconds.toFixed(1)} s: the machine is busy, or the page is slow for another reason`,
  )
}

/** Opens a page while the REST API fails. A page that comes late is opened again, because the machine may be busy for a moment. */
async function openWhileFailing(stage: Stage, told: ToldPage, browser: Browser, fault: Fault): Promise<Page> {
  const openFailing = async () => {
    // the landing page calls for the user too, and must work
    const end = stage.platform.fault([told.operation], fault, told.name === 'user' ? { times: 1 } : {})
    const page = await open(stage, told, browser)
    end()
    return page
  }
  const first = await openFailing()
  return secondsOf(first) > MAX_SECONDS ? openFailing() : first
}

/** Returns a value that fits the name of a field. */
function exampleOf(name: string): string {
  if (/country/i.test(name)) return 'FI'
  if (/zip|post/i.test(name)) return '00100'
  return /number/i.test(name) ? '1' : 'Harbour'
}

const notCalled = (path: string) =>
  `the page ${path} did not call the REST API: if the site caches its answers for longer than a minute, switch the cache off for the examination`

const isOk = ({ call }: SiteCall) => call.outcome === 'ok'

/** Time after which a site has forgotten the responses that it keeps for a minute. */
const KEPT_MS = 65_000

/** Waits until the site has forgotten what it keeps. Returns false in a quick run, which does not wait. */
export async function isForgotten({ run }: Stage): Promise<boolean> {
  if (run.patience.leftMs < KEPT_MS) return false
  await run.wait(KEPT_MS)
  return true
}

const isBroken = (page: Page) => isServerError(page) && page.status !== 502 && page.status !== 503

const MAX_SECONDS = 5.5
/** Ways in which the REST API fails: the description, and the fault. */
const failures: readonly (readonly [string, Fault])[] = [
  ...[401, 403, 429, 500].map((code) => [String(code), { kind: 'status', code }] as const),
  ['a broken connection', { kind: 'down' }],
  ['text that is no JSON', { kind: 'garbage' }],
  ['a body that comes byte by byte', { kind: 'drip' }],
  ['20 MB', { kind: 'huge' }],
]

/** Opens the page as a visitor. The REST API must not be called with the access token of a user. */
async function visitorProblems(stage: Stage, told: ToldPage): Promise<string[]> {
  const { operation, path, address } = told
  const since = Date.now()
  const page = await stage.visit(stage.browser(), address)
  needInTime(told, page)
  const calls = stage.platform.calls(since, { operation })
  return problemsIn([
    [isBroken(page), `the page ${path} ${responseOf(page)} to a visitor`],
    [
      calls.some(({ call }) => call.claims['aid'] !== undefined),
      `the page ${path} of a visitor calls the REST API with the access token of a user`,
    ],
  ])
}

/**
 * Creates a check for the page of an endpoint.
 * The page must work. If the REST API refuses or fails, the page must respond without a server error.
 */
const restPage = (name: RestPage): Check => ({
  name: `rest/${name}`,
  isRough: true,
  run: async (stage) => {
    const [told] = toldPages(stage, [name])
    if (!told) return notTold(keysOf([name]), 'a page that calls the REST API')
    const browser = stage.browser()
    await stage.login(browser)
    const since = Date.now()
    const callsSoFar = () => stage.platform.calls(since, { operation: told.operation })
    let works = await use(stage, told, browser)
    if (callsSoFar().length === 0 && (await isForgotten(stage))) works = await use(stage, told, browser)
    // rest/expired-token may have taken the access token away while this check waited
    if (callsSoFar().length > 0 && !callsSoFar().some(isOk)) works = await use(stage, told, browser)
    const call = callsSoFar().find(isOk) ?? callsSoFar()[0]
    need(call, notCalled(told.path))
    const { outcome, detail = outcome } = call.call
    const problems = problemsIn([
      [isServerError(works), `the page ${responseOf(works)}`],
      [outcome !== 'ok', `the REST API refuses the call of ${told.path}: ${detail}`],
    ])
    for (const [what, fault] of failures) {
      const found = await failureProblems(stage, told, browser, fault)
      problems.push(...found.map((problem) => `with ${what} from the REST API, ${problem}`))
    }
    problems.push(...(await visitorProblems(stage, told)))
    return noneOf(problems)
  },
})

/** Opens the page of a user while the REST API fails. Returns what is wrong. */
async function failureProblems(stage: Stage, told: ToldPage, browser: Browser, fault: Fault): Promise<string[]> {
  const { readWhole } = stage.platform
  const page = await openWhileFailing(stage, told, browser, fault)
  const [loop, seconds] = [redirectProblem(stage, page, 3), secondsOf(page)]
  if (seconds > MAX_SECONDS) await use(stage, told, browser) // undecided if the page is late without the failure too
  return problemsIn([
    [loop !== undefined, `the page ${loop}`],
    [isBroken(page), `the page ${responseOf(page)}`],
    [seconds > MAX_SECONDS, `the page takes ${seconds.toFixed(1)} s`],
    [stage.platform.readWhole > readWhole, READ_WHOLE],
  ])
}

/** Seconds in which a page must have got a new access token. */
const RENEWAL_SECONDS = 40

/** Time after which a site that takes the life of an access token (3,600 s) for milliseconds has lost it. */
const EARLY_MS = 5000

/** Opens the pages of a user again some seconds later: the access token lives for an hour. */
async function earlyProblems(stage: Stage, pages: readonly ToldPage[]): Promise<string[]> {
  if (pages.length === 0) return []
  const browser = stage.browser()
  await stage.login(browser)
  for (const told of pages) await use(stage, told, browser)
  await stage.run.wait(EARLY_MS)
  const problems: string[] = []
  for (const told of pages) {
    const { operation, path } = told
    const since = Date.now()
    const page = await use(stage, told, browser)
    const isCalled = stage.platform.calls(since, { operation }).length > 0
    problems.push(
      ...problemsIn([
        [!isCalled && isServerError(page), `${EARLY_MS / 1000} s later, the page ${path} ${responseOf(page)}`],
        [
          stage.identifies(page) > 0,
          `${EARLY_MS / 1000} s later, the page ${path} goes through Identify: the site takes the access token for expired (expires_in is in seconds)`,
        ],
      ]),
    )
  }
  return problems
}

/**
 * Opens a page after its access token has expired, and then again and again.
 * @returns what is wrong if the REST API does not serve the page again
 */
async function renewalProblems(stage: Stage, told: ToldPage): Promise<string[]> {
  const { operation, path } = told
  const browser = stage.browser()
  await stage.login(browser)
  await use(stage, told, browser)
  stage.platform.expireAccessTokens()
  const since = Date.now()
  const isServed = () => stage.platform.calls(since, { operation }).some(isOk)
  const isCalled = (from: number) =>
    stage.platform.calls(from).some(({ call }) => call.operation === operation || call.operation === 'token')
  let page = await use(stage, told, browser)
  if (!isCalled(since) && (await isForgotten(stage))) {
    const from = Date.now()
    page = await use(stage, told, browser)
    need(isServed() || isCalled(from), notCalled(path)) // rest/marketplace may have opened the page meanwhile
  }
  need(isCalled(since), notCalled(path))
  const isServedAgain = async () => {
    if (!isServed()) await use(stage, told, browser)
    return isServed()
  }
  await waitUntil(isServedAgain, { withinMs: RENEWAL_SECONDS * 1000, everyMs: 2000 })
  const isRenewed = isServed()
  const again = await use(stage, told, browser)
  const loop = redirectProblem(stage, page, 3)
  return problemsIn([
    [isBroken(page), `the page ${path} ${responseOf(page)}`],
    [
      isRenewed && isServerError(again), // the landing page has loaded the user, and the page has kept the old token
      `after the access token was renewed, the page ${path} still ${responseOf(again)}`,
    ],
    [loop !== undefined, `the page ${path} ${loop}`],
    [!isRenewed, `the page ${path} has no new token ${RENEWAL_SECONDS} s later: it works again after a new login only`],
  ])
}

/** Opens pages after their access tokens have expired, the user's and the site's own. */
const expiredToken: Check = {
  name: 'rest/expired-token',
  notInQuick: 'the check waits',
  run: async (stage) => {
    const told = toldPages(stage, ALL_PAGES)
    if (told.length === 0) return notTold(keysOf(ALL_PAGES), 'a page that calls the REST API')
    const problems = await earlyProblems(
      stage,
      told.filter(({ name }) => USER_PAGES.includes(name)),
    )
    for (const page of told) problems.push(...(await renewalProblems(stage, page)))
    return noneOf(problems)
  },
}

/** Logs two users in at once. A call of the REST API must have the access token of its own user. */
const ownToken: Check = {
  name: 'rest/own-token',
  run: async (stage) => {
    const told = toldPages(stage, USER_PAGES)
    if (told.length === 0) return notTold(keysOf(USER_PAGES), 'a page that calls the REST API for a user')
    const readers = await logInAtOnce(stage)
    const problems: string[] = []
    let isCalled = false
    for (const rest of told)
      for (const [browser, account] of readers) {
        const { name, operation, path } = rest
        const since = Date.now()
        const page = await use(stage, rest, browser)
        const calls = stage.platform.calls(since, { operation }) // one of the page before may come late
        const hasCall = calls.length > 0
        isCalled ||= hasCall
        if (!hasCall && name === 'user') continue // the landing has called too, so the site may keep the response
        const isForOther = page.status === 200 && stage.platform.calls(0, { operation }).length > 0
        need(hasCall || isForOther, notCalled(path))
        if (!hasCall)
          problems.push(
            `the page ${path} of a user who has just logged in does not call the REST API: it shows what the platform has answered to another user's access token`,
          )
        else if (!calls.some(({ call }) => call.claims['aid'] === account.accountId))
          problems.push(
            'after two users have logged in at once, a page of one calls the REST API with the access token of the other',
          )
      }
    need(isCalled || problems.length > 0, notCalled(told.map(({ path }) => path).join(', ')))
    return noneOf(problems)
  },
}

export const restChecks: readonly Check[] = [
  { ...restPage('marketplace'), notInQuick: 'the check waits if the site keeps responses for a minute' },
  restPage('gift'),
  restPage('administrators'),
  { ...restPage('user'), notInQuick: LIKE_ANOTHER },
  expiredToken,
  ownToken,
]
