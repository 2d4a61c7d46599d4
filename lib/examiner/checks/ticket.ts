/** Group `ticket`: a site exchanges a ticket only once, and a failed exchange must not break the page. */
import type { Browser, Page } from '../browser'
import {
  type AdvisedProblem,
  advised,
  type Check,
  failed,
  failedIf,
  LIKE_ANOTHER,
  need,
  noneOf,
  type Problem,
  passed,
  problemsIn,
} from '../check'
import { isSentTo } from '../facts'
import { isAnyError, isServerError, outcomeOf } from '../outcome'
import type { Fault } from '../platform'
import { pause, type Stage, waitUntil } from '../stage'
import { respell } from '../tokens'
import { arrive, withToken } from './landing'
import { redirectProblem } from './redirects'
import { othersAfterRefusals } from './refusals'

/** Opens the landing page, and then the public page as the visitor does. Stops before another Identify redirect. */
export async function landAndLook(stage: Stage, browser: Browser, address: URL): Promise<Page[]> {
  return [await stage.openHere(browser, address.href), await stage.look(browser, stage.site.publicPage)]
}

/** Returns the problems of a visitor whose login failed at the platform: the pages must work and show no user. */
export function anonymousVisitProblems(pages: readonly Page[], isKnown: boolean): string[] {
  return problemsIn([
    ...pages.map((page): Problem => [isAnyError(page), `the visitor gets ${outcomeOf(page)}`]),
    [isKnown, 'a user is shown whom the platform did not name'],
  ])
}

/** Pause after which a used landing address is opened again. */
const AGAIN_MS = 1200
const AGAIN = 'a used ticket is exchanged again if the landing address is opened'
const AT_ONCE =
  '5 times at once: the site notes the token as used after the login, or reads and writes the note in two steps'
const LATER =
  'again a second later: the site does not note the token as used, or drops the note too early, as if seconds were milliseconds'
const LATER_IN_SESSION =
  'again a second later, by a browser whose cookie is the same after the login: the session of before the login goes on'
const RESPELT =
  'in another spelling of its token (a sign = or a space at its end, other unused bits): the site notes the text of the token, and its decoder ignores the difference'

/** A value of the program on a page. */
const RAW_VALUE = /\bundefined\b|\bNaN\b|\[object \w+\]|\bnull\b/

/** Compares the page of a user who could not be loaded with that of a visitor. Returns what only a logged-in user may see. */
export async function halfLoginProblems(stage: Stage, browser: Browser): Promise<AdvisedProblem[]> {
  const { userPage, logout } = stage.site
  const [usual, page] = [await stage.visit(stage.browser(), userPage), await stage.look(browser, userPage)]
  if (usual.status === 0 || page.status !== 200 || page.next !== undefined) return []
  const hasLogout = ({ forms, links }: Page) =>
    forms.some((form) => isSentTo(form, logout.action)) ||
    links.some(({ href }) => isSentTo({ action: href }, logout.action))
  const [value] = RAW_VALUE.exec(page.words) ?? []
  const problems = problemsIn([
    [value !== undefined && !RAW_VALUE.test(usual.words), `${PAGE_OF_NOBODY} shows ${value} as the name`],
    [hasLogout(page) && !hasLogout(usual), `${PAGE_OF_NOBODY} has the form to log out: ${HALF}`],
  ])
  return advised(problems, halfLoginAdvice)
}

const HALF = 'the session counts as logged in before its user is known'
const PAGE_OF_NOBODY = 'the page of a visitor whose user could not be loaded'
const halfLoginAdvice = {
  effect: 'Such users are logged in as nobody: they see pages of users, and may share the data of one account.',
}

const once: Check = {
  name: 'ticket/once',
  run: async (stage) => {
    const { browser, account, address, token, claims } = await arrive(stage)
    const since = Date.now()
    const refused = () =>
      stage.platform.calls(since, { operation: 'token' }).filter(({ call }) => call.outcome === 'invalid_grant').length
    const tab = browser.copy('Browser A, again')
    const open = (href = address.href) => stage.openHere(browser.copy(tab.name), href)
    const end = stage.platform.fault(['token'], { kind: 'slow', ms: 200 })
    await Promise.all([stage.openHere(tab, address.href), ...[2, 3, 4, 5].map(() => open())])
    end()
    if (refused() > 0) return failed(`${AGAIN} ${AT_ONCE}`)
    await pause(AGAIN_MS)
    await open()
    const [before, after] = [browser, tab].map(({ cookies }) => cookies.header(address))
    if (refused() > 0) return failed(`${AGAIN} ${before === after ? LATER_IN_SESSION : LATER}`)
    for (const spelling of [`${token}=`, `${token} `, respell(token)]) await open(withToken(address, spelling))
    if (refused() > 0) return failed(`${AGAIN} ${RESPELT}`)
    const page = await stage.visit(browser, stage.site.userPage)
    need(
      stage.platform.calls(since, { operation: 'token', sid: String(claims['sid']) }).length > 0,
      'no ticket was exchanged',
    )
    return failedIf(
      !stage.shows(page, account),
      'a user whose browser has lost the response of a landing is not logged in by the next landing of the same SSO session',
    )
  },
}

/** Refuses the ticket. The visitor must get a page and be anonymous. */
const refused: Check = {
  name: 'ticket/refused',
  isRough: true,
  run: async (stage) => {
    const { browser, account, address } = await arrive(stage)
    const since = Date.now()
    const end = stage.platform.fault(['token'], { kind: 'status', code: 400 })
    const pages = await landAndLook(stage, browser, address)
    const isKnown = await stage.isKnown(browser, account)
    const half = await halfLoginProblems(stage, browser)
    const problem = redirectProblem(stage, await stage.visit(browser, stage.site.publicPage), 3)
    end()
    need(stage.platform.calls(since, { operation: 'token' }).length > 0, 'the site did not exchange the ticket')
    if (problem !== undefined) return failed(`the page of the visitor ${problem}, because each ticket is refused`)
    return noneOf([...anonymousVisitProblems(pages, isKnown), ...half])
  },
}

const back: Check = {
  name: 'ticket/login-afterwards',
  isRough: true,
  run: async (stage) => {
    const { browser, account, address, claims } = await arrive(stage)
    const end = stage.platform.fault(['token'], { kind: 'status', code: 503 })
    await stage.openHere(browser, address.href)
    need(!(await stage.isKnown(browser, account)), 'the user was logged in without a ticket exchange')
    end()
    const since = Date.now()
    const isIn = await waitUntil(() => stage.isShown(browser, account), { withinMs: 60_000, everyMs: 3000 })
    const calls = stage.platform.calls(since).length
    const isWrong = stage.platform
      .calls(since, { operation: 'sessionstatus', sid: String(claims['sid']) })
      .some(({ call }) => call.claims['lks'] === 'loggedin')
    const lks = isWrong ? ' with lks loggedin, though nobody is logged in here: a ticket comes for lks anon only' : ''
    const asked = calls === 0 ? 'has not asked the platform' : `has called the platform ${calls} times${lks}`
    return failedIf(
      !isIn,
      `the site ${asked} since the token endpoint works again: 60 s later, with a page every 3 s, the user is still not logged in`,
    )
  },
  isSlow: true,
}

/** Rounds of logins at once, because two users are mixed up by chance only. */
const ROUNDS = 3
const USERS = 8

/**
 * Lets many users land at once, while some calls are slow.
 * @returns the number of users who are shown, and whether one is shown another user
 */
async function landTogether(stage: Stage): Promise<{ known: number; isMixedUp: boolean }> {
  const arrivals = await Promise.all(Array.from({ length: USERS }, () => arrive(stage)))
  const ends = [
    stage.platform.fault(['token'], { kind: 'slow', ms: 120 }, { times: USERS / 2 }),
    stage.platform.fault(['me'], { kind: 'slow', ms: 60 }, { times: USERS / 2 }),
  ]
  await Promise.all(arrivals.map(({ browser, address }) => stage.openHere(browser, address.href)))
  for (const end of ends) end()
  let known = 0
  let isMixedUp = false
  for (const { browser, account } of arrivals) {
    const page = await stage.visit(browser, stage.site.userPage)
    if (stage.shows(page, account)) known += 1
    const others = arrivals.filter((other) => other.account !== account)
    isMixedUp ||= others.some((other) => stage.showsOther(page, other.account))
  }
  return { known, isMixedUp }
}

const rightUser: Check = {
  name: 'ticket/right-user',
  run: async (stage) => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { known, isMixedUp } = await landTogether(stage)
      if (isMixedUp) return failed('a user is shown the name of another user')
      need(known >= USERS / 2, `only ${known} of ${USERS} users were logged in at all`)
    }
    return passed()
  },
}

/** Lets the REST API name no account. The visitor must be anonymous, because such users would share one account. */
const withoutId: Check = {
  name: 'ticket/user-without-id',
  run: async (stage) => {
    const problems: (string | AdvisedProblem)[] = []
    for (const [name, id] of [
      ['no account_id', undefined],
      ['account_id null', null],
    ] as const) {
      const { browser, account, address } = await arrive(stage)
      const end = stage.platform.replaceUser(account, { accountId: id })
      const since = Date.now()
      const pages = await landAndLook(stage, browser, address)
      const isKnown = await stage.isKnown(browser, account)
      end()
      need(
        stage.platform.calls(since, { operation: 'me' }).length > 0,
        'the site did not ask the REST API for the user',
      )
      if (isKnown) problems.push(`a user whose data has ${name} is logged in: the site takes the ID as it is`)
      problems.push(...anonymousVisitProblems(pages, false))
      const other = stage.browser()
      const { form } = await stage.loginForm(other)
      const typed = stage.account()
      const endOfForm = stage.platform.replaceUser(typed, { accountId: id })
      const page = await stage.submit(other, form, typed)
      const isIn = await stage.isKnown(other, typed)
      problems.push(...(await halfLoginProblems(stage, other)))
      endOfForm()
      if (isIn) problems.push(`a user whose data has ${name} is logged in by the form: the site takes the ID as it is`)
      if (isServerError(page) && page.status !== 503)
        problems.push(`a login of a user whose data has ${name} ends with ${outcomeOf(page)}`)
    }
    return noneOf(problems)
  },
}

const formFailures: readonly (readonly [name: string, operation: 'token' | 'me', fault: Fault])[] = [
  ['the token endpoint responds 503', 'token', { kind: 'status', code: 503 }],
  ['the token endpoint responds with text that is no JSON', 'token', { kind: 'garbage' }],
  ['the REST API responds 500', 'me', { kind: 'status', code: 500 }],
  ['the REST API breaks off the connection', 'me', { kind: 'down' }],
]

/** Sends the login form while the user cannot be loaded. Authenticate has accepted the password then. */
const formLogin: Check = {
  name: 'ticket/login-form',
  isRough: true,
  notInQuick: LIKE_ANOTHER,
  run: async (stage) => {
    const problems: string[] = []
    const half: AdvisedProblem[] = []
    for (const [name, operation, fault] of formFailures) {
      const browser = stage.browser()
      const { form } = await stage.loginForm(browser)
      const account = stage.account()
      const end = stage.platform.fault([operation], fault, { sid: await stage.sid(browser) })
      const page = await stage.submit(browser, form, account)
      if (isServerError(page) && page.status !== 503)
        problems.push(`while ${name}, a login ends with ${outcomeOf(page)}`)
      if (await stage.isKnown(browser, account)) problems.push(`while ${name}, a user is shown whom nobody has named`)
      half.push(...(await halfLoginProblems(stage, browser)))
      end()
      const canLogIn = async () => {
        if (await stage.isShown(browser, account)) return true
        const { form: again } = await stage.loginForm(browser)
        await stage.submit(browser, again, account)
        return stage.isShown(browser, account)
      }
      if (!(await waitUntil(canLogIn, { withinMs: 8000, everyMs: 1000 })))
        problems.push(`after a login while ${name}, the same user cannot log in in this browser`)
    }
    return noneOf([...problems, ...half])
  },
}

export const ticketChecks: readonly Check[] = [
  once,
  refused,
  othersAfterRefusals,
  back,
  rightUser,
  withoutId,
  formLogin,
]
