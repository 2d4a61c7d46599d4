/** Group `login`, errors: after each documented error, the user must get a helpful page and must not be logged in. */
import type { Sso2ServiceErrorCode } from '../../protocol/claims'
import type { Browser, Page } from '../browser'
import { type Check, type Finding, failed, failedIf, need, passed, warning } from '../check'
import { isLogout, loginFormOf } from '../facts'
import { isServerError, outcomeOf } from '../outcome'
import type { Account } from '../platform'
import { splitText } from '../split'
import type { Stage } from '../stage'
import { wayBack } from './way-back'

interface Refusal {
  readonly browser: Browser
  readonly account: Account
  readonly page: Page
  /** Text of the page that the form does not have. A number of every page says nothing about the refusal. */
  readonly added: string
}

/** Tries a login that the platform refuses. */
async function causeRefusal(stage: Stage, prepare: (account: Account) => void, password?: string): Promise<Refusal> {
  const browser = stage.browser()
  const account = stage.account()
  const { form, page: before } = await stage.loginForm(browser)
  prepare(account)
  const since = Date.now()
  const page = await stage.submit(browser, form, password === undefined ? account : { ...account, password })
  need(stage.platform.calls(since, { operation: 'authenticate' }).length > 0, 'the site did not call Authenticate')
  return { browser, account, page, added: addedWords(page, before) }
}

/** Returns the words of a page without those of another one, as often as that has them. */
function addedWords(page: Page, other: Page): string {
  const left = splitText(other.words, ' ')
  const isAdded = (word: string) => {
    const index = left.indexOf(word)
    return index < 0 || left.splice(index, 1).length === 0
  }
  return splitText(page.words, ' ').filter(isAdded).join(' ')
}

/** Fails if the user gets a server error or an empty page, or is logged in. */
async function refusalPageFinding(stage: Stage, { browser, account, page }: Omit<Refusal, 'added'>): Promise<Finding> {
  if (isServerError(page)) return failed(`the user gets ${outcomeOf(page)}`)
  if (await stage.isKnown(browser, account))
    return failed('the user is logged in, though the platform refused the login')
  if (page.words === '') return failed('the user gets an empty page')
  const [value] = RAW_VALUE.exec(page.words) ?? []
  return failedIf(value !== undefined, `the page shows a value of the program: ${value}`)
}

/** Values that a message shows if the claim that it needs is missing. */
const RAW_VALUE =
  /undefined|\bNaN\b|\[object \w+\]|\bnull\b|(?<![\w-])-1\b|\bNone (?:attempt|hour|minute|second)\w*|\{\w+\}/

const wrongPassword: Check = {
  name: 'login/wrong-password',
  run: async (stage) => {
    const refusal = await causeRefusal(stage, () => {}, 'not-the-password')
    const { page, account, added } = refusal
    const finding = await refusalPageFinding(stage, refusal)
    if (finding.verdict !== 'passed') return finding
    const { usernameField, passwordField } = stage.site
    const form = loginFormOf(page.forms, passwordField)
    if (!form) return failed('the form is gone after a wrong password')
    const values = new Map(form.fields.map(({ name, value }) => [name, value]))
    if (values.get(passwordField) !== '') return failed('the page keeps the password in the form')
    const afterwards = await afterWrongFinding(stage, refusal)
    if (afterwards.verdict !== 'passed') return afterwards
    if (values.get(usernameField) !== account.username) return warning('the form forgets the username')
    // a site whose own limits leave fewer attempts tells that number
    return /\b[1-4]\b/.test(added) ? passed() : warning('the page does not say that 4 attempts are left, or fewer')
  },
}

/** Types the right password after the wrong one. Wrong passwords of others must change nothing for visitors. */
async function afterWrongFinding(stage: Stage, { browser, account, page }: Refusal): Promise<Finding> {
  await stage.submit(browser, await stage.formAfter(browser, page), account)
  if (!(await stage.isShown(browser, account)))
    return failed('after a wrong password, the right one does not log in in the same browser')
  for (let count = 0; count < 3; count += 1) await causeRefusal(stage, () => {}, 'not-the-password')
  const visit = await stage.visit(stage.browser(), stage.identifiedPage)
  return failedIf(
    stage.identifies(visit) === 0,
    'after three wrong passwords, new visitors are not redirected to Identify: the site counts them as failures of the platform',
  )
}

const frozen: Check = {
  name: 'login/frozen-account',
  run: async (stage) => {
    const { page: wrong } = await causeRefusal(stage, () => {}, 'not-the-password')
    const refusal = await causeRefusal(stage, (account) => stage.platform.control(account).freeze())
    const finding = await refusalPageFinding(stage, refusal)
    if (finding.verdict !== 'passed') return finding
    const { page, added } = refusal
    if (page.words === wrong.words) return warning('the page says the same as for a wrong password')
    return /\b(?:1[0-2]|7[12]\d(?!\s*(?:h|Std|Stunden|tim|tun))|43[\s.,\u202f]?[12]\d\d)\b|\d\d[:.]\d\d/.test(added)
      ? passed()
      : warning('the page does not say when the account can be used again: 12 hours, 720 minutes or a time of day')
  },
}

/** Judges a refusal that has nothing to do with the password. The page must say another thing than for a wrong password. */
async function otherReasonFinding(stage: Stage, prepare: (account: Account) => void): Promise<Finding> {
  const { page: wrong } = await causeRefusal(stage, () => {}, 'not-the-password')
  const refusal = await causeRefusal(stage, prepare)
  const finding = await refusalPageFinding(stage, refusal)
  if (finding.verdict !== 'passed' || refusal.page.words !== wrong.words) return finding
  return warning('the page says the same as for a wrong password')
}

const inactive: Check = {
  name: 'login/inactive-account',
  run: (stage) => otherReasonFinding(stage, (account) => void stage.platform.control(account).set({ active: false })),
}

/** Creates a check whose error comes from a fault, because the real situation is hard to arrange. */
function byFault(name: string, code: Sso2ServiceErrorCode): Check {
  return {
    name: `login/${name}`,
    run: (stage) =>
      otherReasonFinding(
        stage,
        () => void stage.platform.fault(['authenticate'], { kind: 'error', code }, { times: 1 }),
      ),
  }
}

const oneTimePassword: Check = {
  name: 'login/one-time-password',
  run: async (stage) => {
    const browser = stage.browser()
    const account = stage.account()
    const { otp } = stage.platform.control(account).issueOtp()
    const { form } = await stage.loginForm(browser)
    await stage.submit(browser, form, { ...account, password: otp })
    if (!(await stage.isShown(browser, account))) return failed('a one-time password does not log in')
    const other = stage.browser()
    const { form: again } = await stage.loginForm(other)
    const page = await stage.submit(other, again, { ...account, password: otp })
    return refusalPageFinding(stage, { browser: other, account, page })
  },
}

/**
 * Creates a check that ends the SSO session after the form was opened.
 * The user must get the form again, and the second attempt must work.
 */
function ended(name: string, end: (stage: Stage, sid: string) => void): Check {
  return {
    name: `login/${name}`,
    run: async (stage) => {
      const browser = stage.browser()
      const { form } = await stage.loginForm(browser)
      const account = stage.account()
      end(stage, await stage.sid(browser))
      const page = await stage.submit(browser, form, account)
      if (isServerError(page)) return failed(`the user gets ${outcomeOf(page)}`)
      if (!(await stage.isShown(browser, account)))
        await stage.submit(browser, await stage.formAfter(browser, page), account)
      if (!(await stage.isShown(browser, account)))
        return failed('the second try fails too: the user cannot log in in this browser')
      const isLoggedIn = stage.platform.accountOf(await stage.sid(browser)) === account.accountId
      if (isLoggedIn) return passed()
      const effect = 'The site logs a user in whose password the platform has not checked.'
      return { ...failed('the user is logged in here, and not at the platform'), effect }
    },
  }
}

/** Logs out by the link or form of a page, if there is one. */
async function logOutBy(browser: Browser, { links, forms }: Page): Promise<void> {
  const link = links.find(({ href, text }) => isLogout(href, text))
  const shown = link === undefined ? forms : (await browser.open(link.href)).forms
  const form = shown.find(({ action, text }) => isLogout(action, text))
  if (form) await browser.submit(form, {})
}

const otherAccount: Check = {
  name: 'login/other-account',
  run: async (stage) => {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const { account: other, sid } = await stage.loginElsewhere(browser)
    const account = stage.account()
    const since = Date.now()
    const page = await stage.submit(browser, form, account)
    need(stage.platform.calls(since).length > 0, 'the site did not call the platform')
    if (isServerError(page)) return failed(`the user gets ${outcomeOf(page)}`)
    const shown = await stage.visit(browser, stage.site.userPage)
    const isOther = stage.platform.accountOf(sid) === other.accountId
    if (isOther && stage.showsOther(shown, account))
      return failed('the site shows a user whom the platform did not log in')
    const isSettled = ({ text, status }: Page) => [account, other].some((one) => stage.shows({ text, status }, one))
    if (isSettled(shown)) return passed()
    for (const prepare of [async () => {}, () => logOutBy(browser, page)]) {
      await prepare()
      const { forms } = await stage.visit(browser, stage.site.loginPage)
      const again = loginFormOf(forms, stage.site.passwordField)
      if (again) await stage.submit(browser, again, account)
      if (isSettled(await stage.visit(browser, stage.site.userPage))) return passed()
    }
    return failed(
      'the second try fails too, the site shows neither of the two users, and its message offers no logout: as long as the browser keeps its cookies, nobody can log in',
    )
  },
}

export const loginErrorChecks: readonly Check[] = [
  wrongPassword,
  wayBack,
  frozen,
  inactive,
  byFault('session-limit', 'session_limit_reached'),
  byFault('expired-one-time-password', 'otp_consumed_or_expired'),
  oneTimePassword,
  ended('session-terminated', (stage, sid) => stage.platform.terminate(sid)),
  ended('session-not-found', (stage, sid) => stage.platform.prune(sid)),
  otherAccount,
]
