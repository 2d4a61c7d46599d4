/** Group `login`: the form, its security, and traces of the password. */
import { type Check, failed, failedIf, failedIfAny, need, noneOf, type Problem, passed, problemsIn } from '../check'
import type { Cookie } from '../cookies'
import { loginFormOf } from '../facts'
import { firstStatus, isAnyError, isServerError, outcomeOf } from '../outcome'
import { holds, linesWith, tokensIn } from '../secrets'
import { ignoreUndecided, pause, type Stage } from '../stage'
import { newName, withoutEmail } from './accounts'
import { foreignForms, formsOfAttacker, hiddenFieldsOf } from './foreign'
import { guessesAtOnce, otherVisitors, sameUsername, twoUsers } from './logins-at-once'
import { anyPassword, escapedInput, logInjection } from './passwords'
import { returnAddress } from './return-address'
import { staleChecks } from './stale'

const right: Check = {
  name: 'login/right-password',
  run: async (stage) => {
    await stage.login(stage.browser(), stage.platform.accounts[0]).catch(ignoreUndecided) // somebody has logged in before
    const browser = stage.browser()
    const since = Date.now()
    const account = stage.account()
    const { form } = await stage.loginForm(browser)
    const page = await stage.submit(browser, form, account)
    const calls = stage.platform.calls(since, { operation: 'authenticate' })
    const status = firstStatus(page)
    if (status === 307 || status === 308)
      return failed(`the form is answered with ${status}: the browser sends the password once more, to the next page`)
    if (isAnyError(page)) return failed(`the login ends with ${outcomeOf(page)}`)
    const shown = await stage.visit(browser, stage.site.userPage)
    const other = stage.otherThan(account, shown)
    if (other)
      return failed(
        `the page after the login shows ${other.name}, who has logged in before in another browser: the site keeps an access token or a user response for all users, under a key that names no user`,
      )
    if (!stage.shows(shown, account)) return failed('the user is not shown after the login')
    const uas = calls[0]?.call.claims['uas']
    const bare = await withoutUserAgent(stage)
    if (bare !== undefined) return failed(bare)
    return failedIfAny([
      [calls.length !== 1, `one login causes ${calls.length} Authenticate calls`],
      [!String(uas).includes('Chrome/150'), "uas is not the browser's User-Agent"],
      ...(['token', 'me'] as const).map((operation): Problem => {
        const isCalled = stage.platform.calls(since, { operation }).length > 0
        return [!isCalled, `the site shows the user without a call of ${CALLED[operation]}: it believes what was typed`]
      }),
    ])
  },
}

/** Logs in with a browser that sends no User-Agent. Returns the problem if the platform refuses the call of the site. */
async function withoutUserAgent(stage: Stage): Promise<string | undefined> {
  const [browser, account] = [stage.browser(), stage.account()]
  const options = { headers: { 'user-agent': '' } }
  const { forms } = await browser.open(stage.site.loginPage, options)
  const form = loginFormOf(forms, stage.site.passwordField)
  if (form === undefined) return undefined // a site may refuse such browsers
  const since = Date.now()
  const page = await stage.submit(browser, form, account, options)
  const isRefused = stage.platform
    .calls(since, { operation: 'authenticate' })
    .some(({ call }) => call.outcome === 'invalid_token')
  return isRefused || isServerError(page)
    ? `a browser that sends no User-Agent cannot log in (${outcomeOf(page)}): the claim uas must be a string, also then`
    : undefined
}

const CALLED = { token: 'the token endpoint', me: 'the REST API' }

const cookieText = ({ name, value }: Cookie) => `${name}=${value}`

const newSession: Check = {
  name: 'login/new-session-id',
  run: async (stage) => {
    const browser = stage.browser()
    await stage.loginForm(browser)
    const thief = browser.copy('Browser with the cookies of before')
    const site = new URL(stage.site.url)
    const before = new Set(browser.cookies.of(site).map(cookieText))
    const account = await stage.login(browser)
    need(await stage.isKnown(browser, account), 'the user is not shown after the login')
    const isNew = browser.cookies.of(site).some((cookie) => !before.has(cookieText(cookie)))
    if (!(await stage.isKnown(thief, account))) return passed()
    const cause = isNew ? 'the site sets a new cookie, and the old one still works' : 'no cookie changes at the login'
    return failed(`the cookies of before the login are logged in too (${cause}): who planted them is now the user`)
  },
}

/** Submits the form from a page of the attacker, with hidden fields and without. An old browser sends the cookies too. */
const foreignForm: Check = {
  name: 'login/foreign-form',
  run: async (stage) => {
    const problems: string[] = []
    const tries = foreignForms(stage.site.url)
    for (const [index, [name, headers]] of [...tries.slice(0, 1), ...tries].entries())
      for (const own of formsOfAttacker((await stage.loginForm(stage.browser())).form)) {
        const [browser, account] = [stage.browser(), stage.account()]
        if (index > 0) await stage.loginForm(browser)
        const fields = { [stage.site.usernameField]: account.username, [stage.site.passwordField]: account.password }
        await browser.submit(own, fields, { headers, stopAt: (url) => stage.platform.isIdentify(url) })
        const isIn = await stage.isKnown(browser, account)
        const how = `${name}${hiddenFieldsOf(own)} logs in ${index === 0 ? 'without' : 'with'} the cookies of the site`
        stage.tried(`${how}: ${isIn ? 'yes' : 'no'}`)
        if (isIn) problems.push(how)
      }
    const linked = stage.browser()
    const { form } = await stage.loginForm(linked)
    const user = stage.account()
    const link = new URL(form.action)
    link.searchParams.set(stage.site.usernameField, user.username)
    link.searchParams.set(stage.site.passwordField, user.password)
    await stage.openHere(linked, link.href, { headers: { 'sec-fetch-site': 'cross-site' } })
    if (await stage.isKnown(linked, user)) problems.push('a link with username and password in its address logs in')
    const control = stage.browser()
    const account = await stage.login(control)
    need(await stage.isKnown(control, account), 'the user is not shown after the login')
    return noneOf(problems)
  },
}

/** Time of Authenticate while the button is clicked again, and the longest time of another page meanwhile. */
const [PASSWORD_MS, MAX_TAB_MS] = [1600, 1000]
const WRONG_PASSWORD_MS = 600

/** Clicks twice on the button with a wrong password. Returns how often the site sends the password. */
async function wrongPasswordCalls(stage: Stage): Promise<number> {
  const browser = stage.browser()
  const { form } = await stage.loginForm(browser)
  const twin = browser.copy('Browser C, second click')
  const account = { ...stage.account(), password: 'wrong' }
  const since = Date.now()
  const end = stage.platform.fault(['authenticate'], { kind: 'slow', ms: WRONG_PASSWORD_MS })
  const first = stage.submit(browser, form, account)
  await pause(60)
  await Promise.all([first, stage.submit(twin, form, account)])
  end()
  return stage.platform.calls(since, { operation: 'authenticate' }).length
}

const doubleSubmit: Check = {
  name: 'login/double-submit',
  run: async (stage) => {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const account = stage.account()
    const since = Date.now()
    const end = stage.platform.fault(['authenticate'], { kind: 'slow', ms: PASSWORD_MS })
    const [tab, stranger] = [browser.copy('Browser A, another tab'), stage.browser()]
    const twin = browser.copy('Browser A, second click')
    const first = stage.submit(browser, form, account)
    await pause(60)
    const others = Promise.all([
      stage.openHere(tab, stage.site.publicPage),
      stage.openHere(stranger, stage.site.publicPage),
    ])
    const second = await stage.submit(twin, form, account)
    const page = await first
    const [ofTab, ofStranger] = await others
    end()
    const calls = stage.platform.calls(since, { operation: 'authenticate' }).length
    need(calls > 0, 'the site did not call Authenticate')
    if ([page, second].some(isServerError)) return failed('one of the two clicks gets a server error')
    const wrongCalls = await wrongPasswordCalls(stage)
    return failedIfAny([
      [calls > 1, `two clicks on the button send the password ${calls} times`],
      // if strangers wait too, outage/one-slow-user tells it
      [
        ofTab.ms > MAX_TAB_MS && ofStranger.ms < MAX_TAB_MS,
        `while the platform takes ${PASSWORD_MS / 1000} s to check a password, a page in another tab of the same browser takes ${(ofTab.ms / 1000).toFixed(1)} s: the session is locked during the call`,
      ],
      [wrongCalls > 1, `two clicks with a wrong password send it ${wrongCalls} times: each counts as an attempt`],
    ])
  },
}

/** Sends the form of a tab that was opened before the user logged in in another tab. */
const secondTab: Check = {
  name: 'login/second-tab',
  run: async (stage) => {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const { form: other } = await stage.loginForm(browser)
    const account = stage.account()
    await stage.submit(browser, form, account)
    need(await stage.isShown(browser, account), 'a login with the right password did not work')
    const page = await stage.submit(browser, other, account)
    if (isServerError(page)) return failed(`the second form ends with ${outcomeOf(page)}`)
    return failedIf(
      !(await stage.isShown(browser, account)),
      'a user who sends the login form of a second tab too is logged in no more',
    )
  },
}

const SO_IS_LOGOUT = ' (so is a Logout whose response is lost: the site repeats each call that fails)'

/** Loses the response of a Logout. Is it sent again while the browser waits? */
async function isLogoutRepeated(stage: Stage): Promise<boolean> {
  const browser = stage.browser()
  await stage.login(browser)
  const since = Date.now()
  stage.platform.fault(['logout'], { kind: 'drop_after_commit' }, { times: 1 })
  await stage.logout(browser, { stopAt: (url) => stage.platform.isIdentify(url) })
  return stage.platform.calls(since, { operation: 'logout' }).length > 1
}

const lostResponse: Check = {
  name: 'login/lost-response',
  isRough: true,
  run: async (stage) => {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const since = Date.now()
    stage.platform.fault(['authenticate'], { kind: 'drop_after_commit' }, { times: 1 })
    const page = await stage.submit(browser, form, stage.account())
    const calls = stage.platform.calls(since, { operation: 'authenticate' }).length
    need(calls > 0, 'the site did not call Authenticate')
    const others = calls > 1 && (await isLogoutRepeated(stage).catch(() => false)) ? SO_IS_LOGOUT : ''
    if (calls > 1) return failed(`the password was sent ${calls} times${others}, though the first call may have worked`)
    return failedIf(isServerError(page) && page.status !== 503, `the user gets ${outcomeOf(page)}`)
  },
}

async function passwordTraces(stage: Stage): Promise<string[]> {
  const browser = stage.browser()
  const account = stage.account()
  const wrong = { ...account, password: `${account.password}-wrong` }
  const { form } = await stage.loginForm(browser)
  const refused = await stage.submit(browser, form, wrong)
  await stage.submit(browser, await stage.formAfter(browser, refused), account)
  need(await stage.isShown(browser, account), 'a login with the right password did not work')
  const hops = stage.hops.filter(({ browser: name }) => name === browser.name)
  const places: readonly [string, (hop: (typeof hops)[number]) => string][] = [
    ['an address', ({ url, location = '' }) => `${decodeURIComponent(url.search)} ${location}`],
    ['a cookie', ({ setCookie }) => setCookie.join(' ')],
    ['a page', ({ text }) => text],
  ]
  const { output } = stage
  const lines = linesWith(output, account.password).map((line) => `the password is in the site's output: ${line}`)
  const tokens = tokensIn(output)
    .filter(({ claims }) => 'pwd' in claims)
    .map(
      ({ line }) =>
        `the request token of Authenticate is in the site's output, and anybody can read the password in its claim pwd: ${line}`,
    )
  const inPages = problemsIn([
    ...places.map(([name, read]): Problem => {
      return [hops.some((hop) => holds(read(hop), account.password)), `the password is in ${name}`]
    }),
  ])
  return [...inPages, ...lines.slice(0, 1), ...tokens.slice(0, 1)]
}

const passwordNowhere: Check = {
  name: 'login/password-stays-nowhere',
  run: async (stage) => noneOf(await passwordTraces(stage)),
}

export const loginChecks: readonly Check[] = [
  right,
  newSession,
  returnAddress,
  escapedInput,
  anyPassword,
  newName,
  withoutEmail,
  logInjection,
  foreignForm,
  staleChecks.staleLogin,
  doubleSubmit,
  secondTab,
  sameUsername,
  twoUsers,
  otherVisitors,
  guessesAtOnce,
  lostResponse,
  passwordNowhere,
]
