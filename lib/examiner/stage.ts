/** Gives a check its tools: browsers, made-up users, the platform, and the addresses of the site's pages. */
import type { EmulatedOperation } from '../emulator/faults/rules'
import { Browser, type Hop, type OpenOptions, type Page } from './browser'
import type { Chromium } from './chromium'
import { isSentTo, type LogoutWay, loginFormOf, type SiteFacts, showsUser } from './facts'
import { need, Undecided } from './finding'
import type { Form } from './html'
import { responseOf } from './outcome'
import type { Account, Platform } from './platform'
import { SecondSite } from './second-site'
import type { Seen } from './seen'
import type { Settings } from './settings'

/** Waits without ending the turn. */
export const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** Times of a wait, in milliseconds. */
interface WaitOptions {
  readonly withinMs: number
  /** Pause before the condition is asked again. */
  readonly everyMs: number
}

/**
 * Waits in the turn of the check until a condition is true.
 * @returns false if the condition is not true in time. With a time of 0, the condition is not asked
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { withinMs, everyMs }: WaitOptions,
): Promise<boolean> {
  const end = Date.now() + withinMs
  while (Date.now() < end) {
    if (await condition()) return true
    await pause(everyMs)
  }
  return false
}

/** Maximum time that a site may stop calling after failures, for the checks that need a call. */
const MAX_SITE_PAUSE_MS = 45_000

/**
 * Acts again and again until the site calls the operation, because a site may pause its calls after failures.
 * @returns false if the site does not call in time
 */
export async function called(
  stage: Stage,
  operation: EmulatedOperation,
  act: () => Promise<unknown>,
): Promise<boolean> {
  const { patience } = stage.run
  const since = Date.now()
  const isCalledNow = async () => {
    await act().catch(ignoreUndecided)
    return stage.platform.calls(since, { operation }).some(({ call }) => call.fault === undefined)
  }
  const withinMs = Math.min(MAX_SITE_PAUSE_MS, patience.leftMs)
  const isCalled = await waitUntil(isCalledNow, { withinMs, everyMs: 1000 })
  patience.leftMs -= Date.now() - since
  return isCalled
}

/**
 * Waits until the site calls Authenticate and Logout, because a site may pause its calls after the failures of earlier checks.
 * @returns false if the site does not call, so that a check need not be tried again
 */
export function isAwake(stage: Stage): Promise<boolean> {
  stage.platform.runtime.faults.clear()
  return called(stage, 'logout', async () => {
    const browser = stage.browser()
    await stage.login(browser, stage.platform.accounts[0]) // the accounts of checks would run out
    await stage.logout(browser)
  })
}

/** A site that pauses its calls may refuse the steps before a call too. */
export function ignoreUndecided(error: unknown): void {
  if (!(error instanceof Undecided)) throw error
}

/** The parts that all checks of a run share. */
export interface Run {
  /** Name of the check. */
  readonly check: string
  readonly platform: Platform
  readonly settings: Settings
  /** Returns the output of the site. Only if the examiner has started the site. */
  readonly siteOutput: (() => string) | undefined
  /** What all checks have seen of the site. */
  readonly seen: Seen
  /** Time that the run may still wait for a site that pauses its calls after failures, in milliseconds. */
  readonly patience: { leftMs: number }
  /** The real browser of `--browser`. */
  readonly chromium: Chromium | undefined
  /** Returns the next unused account. */
  nextAccount(): Account
  /** Ends the turn of a check, waits, and takes the next turn. */
  wait(milliseconds: number): Promise<void>
}

const MAX_LOGIN_WAIT_SECONDS = 61
/** Pages that a user loads before the session is old: about one a minute. */
const PAGES_WHILE_YOUNG = 5
/** Longest time that a check waits in its turn for a session to grow old. */
export const MAX_WAIT_IN_TURN_SECONDS = 10

/** The tools of a check. */
export class Stage {
  readonly hops: Hop[] = []
  /** Attempts of a check that tries many addresses, a line each. */
  readonly attempts: string[] = []
  readonly second: SecondSite
  #browsers = 0

  constructor(
    readonly run: Run,
    readonly site: SiteFacts,
  ) {
    this.second = new SecondSite(run.platform)
  }

  get platform(): Platform {
    return this.run.platform
  }

  /** Returns a browser that has not visited the site before. */
  browser(): Browser {
    const name = `Browser ${String.fromCharCode(65 + (this.#browsers++ % 26))}`
    const record = (hop: Hop) => {
      this.hops.push(hop)
      this.run.seen.add(hop, this.run.check)
      this.run.seen.addOutput(this.output, hop, this.run.check)
    }
    return new Browser(name, record, this.run.settings.headers, this.run.chromium)
  }

  account(): Account {
    return this.run.nextAccount()
  }

  /** What the site has printed, if the examiner has started the site. */
  get output(): string {
    return this.run.siteOutput?.() ?? ''
  }

  /** Notes an attempt for the report. */
  tried(attempt: string): void {
    this.attempts.push(attempt)
  }

  /** Opens a page and follows every redirect. */
  visit(browser: Browser, page = this.site.publicPage): Promise<Page> {
    return browser.open(page)
  }

  /** Opens the page that shows the user, and stops before a redirect to Identify. */
  look(browser: Browser, page = this.site.userPage): Promise<Page> {
    return browser.open(page, { stopAt: (url) => this.platform.isIdentify(url) })
  }

  /** Opens an address of the site, and stops before a redirect to Identify. */
  openHere(browser: Browser, address: string, options: OpenOptions = {}): Promise<Page> {
    return browser.open(address, { ...options, stopAt: (url) => this.platform.isIdentify(url) })
  }

  /** Does the page show the user? */
  shows(page: Pick<Page, 'text' | 'status'>, account: Account): boolean {
    return showsUser(page, account, this.run.settings)
  }

  /** Do pages name the user? If `loggedIn` or `loggedOut` describes the pages, their texts do not identify a user. */
  get namesUsers(): boolean {
    const { loggedIn, loggedOut } = this.run.settings
    return loggedIn === undefined && loggedOut === undefined
  }

  /** Does the page show an account that is not logged in here? */
  showsOther(page: Page, account: Account): boolean {
    return this.namesUsers && this.shows(page, account)
  }

  /** Returns the account that a page shows instead of the account that is logged in. */
  otherThan(account: Account, page: Page): Account | undefined {
    return this.platform.accounts.find((other) => other !== account && this.showsOther(page, other))
  }

  /** Does the site show the user without a new Identify redirect? */
  async isKnown(browser: Browser, account: Account): Promise<boolean> {
    return this.shows(await this.look(browser), account)
  }

  /** Does the site show the user after every redirect? */
  async isShown(browser: Browser, account: Account): Promise<boolean> {
    return this.shows(await this.visit(browser, this.site.userPage), account)
  }

  /** Returns the number of Identify redirects before a page. */
  identifies({ hops }: Pick<Page, 'hops'>): number {
    return hops.filter(({ url }) => this.platform.isIdentify(url)).length
  }

  /** Returns the page that redirects a new browser to Identify. */
  get identifiedPage(): string {
    const { isIdentifiedAlways, publicPage, userPage } = this.site
    return isIdentifiedAlways ? publicPage : userPage
  }

  /**
   * Opens the login page.
   * @returns the page and its form
   * @throws {Undecided} if the form is missing
   */
  async loginForm(browser: Browser): Promise<{ page: Page; form: Form }> {
    const page = await this.visit(browser, this.site.loginPage)
    const form = loginFormOf(page.forms, this.site.passwordField)
    need(form, `the login form was not there: ${page.url.pathname} ${responseOf(page)}`)
    return { page, form }
  }

  /** Returns the login form of a page that has the form, and otherwise opens the login page. */
  async formAfter(browser: Browser, { forms }: Page): Promise<Form> {
    return loginFormOf(forms, this.site.passwordField) ?? (await this.loginForm(browser)).form
  }

  /** Fills in the login form, with further fields of the options, and sends the form. */
  async submit(
    browser: Browser,
    form: Form,
    { username, password }: Pick<Account, 'username' | 'password'>,
    { fields: more, ...options }: OpenOptions = {},
  ): Promise<Page> {
    const fields = { [this.site.usernameField]: username, [this.site.passwordField]: password, ...more }
    const page = await browser.submit(form, fields, options)
    const pause = Number(page.headers['retry-after']) || MAX_LOGIN_WAIT_SECONDS
    if (page.hops[0]?.status !== 429 || pause > MAX_LOGIN_WAIT_SECONDS) return page // a frozen account may say 12 hours
    await this.run.wait(pause * 1000)
    return browser.submit(form, fields, options)
  }

  /**
   * Logs in with the form.
   * @throws {Undecided} if the site does not show the user afterwards
   */
  async login(browser: Browser, account = this.account()): Promise<Account> {
    const { form } = await this.loginForm(browser)
    const page = await this.submit(browser, form, account)
    const isForm = loginFormOf(page.forms, this.site.passwordField) !== undefined // the form may keep the username
    const isIn = (!isForm && this.shows(page, account)) || (await this.isShown(browser, account))
    const other = isIn ? undefined : this.otherThan(account, await this.visit(browser, this.site.userPage))
    const shown = other === undefined ? '' : `, and shows ${other.name}, who has logged in before in another browser`
    need(isIn, `a login with the right password did not work: ${page.url.pathname} ${responseOf(page)}${shown}`)
    return account
  }

  /** Returns a form to log out with its hidden fields, from the page that shows it, or its bare address without fields. */
  async logoutForm(browser: Browser, { page, action, method }: LogoutWay = this.site.logout): Promise<Form> {
    const { forms } = await this.look(browser, page)
    return forms.find((form) => isSentTo(form, action)) ?? { page, action, method, fields: [], text: '' }
  }

  /** Logs out, and follows every redirect unless the options say otherwise. */
  async logout(browser: Browser, options: OpenOptions = {}): Promise<Page> {
    return browser.submit(await this.logoutForm(browser), {}, options)
  }

  /** Logs an account in on the browser's SSO session from the second site. */
  loginElsewhere(browser: Browser, account = this.account()): Promise<{ account: Account; sid: string }> {
    return this.second.login(browser, account)
  }

  /** Returns the browser's SSO session ID, as the second site learns the ID. */
  sid(browser: Browser): Promise<string> {
    return this.second.identify(browser)
  }

  /**
   * Sends a browser through Identify, and does not open the landing page.
   * @returns the address of the landing page
   * @throws {Undecided} if the browser does not get there
   */
  async landing(browser: Browser, address = this.identifiedPage): Promise<URL> {
    const { landing } = this.site
    const stopAt = (url: URL) => url.href.split('?')[0] === landing
    const page = await browser.open(address, { stopAt })
    need(page.next?.split('?')[0] === landing, 'the site did not send this browser to its landing page')
    return new URL(page.next)
  }

  /** Waits until all existing sessions are old, so that the site has to check them again. */
  grownOld(): Promise<void> {
    return this.run.wait((this.run.settings.recheckSeconds + 3) * 1000)
  }

  /**
   * Loads a page again and again until the session is old, so that the session is never idle.
   * A short wait keeps the turn, because a wait for the turn would leave the session idle.
   */
  async grownOldReading(browser: Browser): Promise<void> {
    const { recheckSeconds } = this.run.settings
    const stepMs = (recheckSeconds * 1000) / (PAGES_WHILE_YOUNG + 1)
    const read = async (pages: number) => {
      for (let page = 1; page <= pages; page += 1) {
        await pause(stepMs)
        await this.look(browser)
      }
    }
    if (recheckSeconds <= MAX_WAIT_IN_TURN_SECONDS) return read(PAGES_WHILE_YOUNG + 3)
    await Promise.all([this.run.wait((recheckSeconds + 3) * 1000), read(PAGES_WHILE_YOUNG)])
  }
}
