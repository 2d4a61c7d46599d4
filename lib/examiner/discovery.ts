/** Finds a site's pages and forms, as a user would: opens the first page, finds the login form, logs in, logs out. */
import { Browser, type Page } from './browser'
import type { Chromium } from './chromium'
import {
  isLogin,
  isLogout,
  isLogoutAll,
  isSentTo,
  type LogoutWay,
  loginFields,
  loginFormOf,
  type SiteFacts,
  showsUser,
} from './facts'
import type { Form } from './html'
import type { Account, Platform } from './platform'
import type { Settings } from './settings'

/** The examination could not be made. The message names the first problem to solve. */
export class CannotExamine extends Error {}

/** Facts about the site, with notes about their discovery. */
export interface Discovery {
  readonly facts: SiteFacts
  readonly notes: readonly string[]
  /** Does the site use this package? */
  readonly hasPackage: boolean
}

const loginPaths = [
  '/login',
  '/signin',
  '/sign-in',
  '/account/login',
  '/user/login',
  '/users/sign_in',
  '/auth/login',
  '/log-in',
]
const userPaths = ['/account', '/profile', '/me', '/user', '/my', '/']
/** Links of a page that are followed. */
const MAX_LINKS = 15
const logoutPaths = ['/logout', '/signout', '/account/logout', '/log-out']

/**
 * Discovers a site.
 * @throws {CannotExamine} if a page or a form is not found
 */
export function discover(
  platform: Platform,
  settings: Settings,
  account: Account,
  chromium?: Chromium,
): Promise<Discovery> {
  return new Discoverer(platform, settings, account, chromium).run()
}

class Discoverer {
  readonly #browser: Browser
  readonly #notes: string[] = []

  constructor(
    private readonly platform: Platform,
    private readonly settings: Settings,
    private readonly account: Account,
    chromium: Chromium | undefined,
  ) {
    this.#browser = new Browser('Discovery', () => {}, settings.headers, chromium)
  }

  async run(): Promise<Discovery> {
    const { siteUrl, landing } = this.platform
    const first = await this.#first()
    const isIdentifiedAlways = first.hops.some(({ url }) => this.platform.isIdentify(url))
    const { page: loginPage, form } = await this.#loginForm(first)
    const found = loginFields(form)
    const { login } = this.settings
    const usernameField = login.usernameField ?? found.username
    const passwordField = login.passwordField ?? found.password
    if (usernameField === undefined || passwordField === undefined)
      throw new CannotExamine(
        'the login form has no field for the username: name it as login.usernameField in examine.json',
      )
    const fields = { [usernameField]: this.account.username, [passwordField]: this.account.password }
    const landed = await this.#browser.submit(form, fields)
    const userPage = await this.#userPage(landed, first)
    const restUserPage = await this.#restUserPage(userPage)
    const facts = {
      url: siteUrl,
      publicPage: this.#at(this.settings.pages.public),
      userPage,
      restUserPage,
      loginPage,
      usernameField,
      passwordField,
      returnField: login.returnField ?? found.back,
      landing: siteUrl + landing,
      isIdentifiedAlways,
      ...(await this.#logout([landed, await this.#browser.open(userPage), await this.#browser.open(this.#at('/'))])),
    }
    this.#notes.push(`fields of the login form: ${usernameField}, ${passwordField}`)
    this.#checkLanding()
    return { facts, notes: this.#notes, hasPackage: this.#hasPackage }
  }

  /** Looks for the cookies of this package. A session cookie with a name of its own has helper cookies, such as `shop.b`. */
  get #hasPackage(): boolean {
    const names = this.#browser.cookies.all().map(({ name }) => name.replace(/^__Host-/, ''))
    return names.some((name) => /^sso2\.|^[\w-]+\.b$/.test(name))
  }

  #at(path: string): string {
    return new URL(path, `${this.platform.siteUrl}/`).href
  }

  async #first(): Promise<Page> {
    const address = this.#at(this.settings.pages.public)
    const once = await this.#browser.open(address)
    const page = once.status >= 500 ? await this.#browser.open(address) : once // the first call of the REST API fails
    const where = `${page.url.origin}${page.url.pathname}`
    if (page.status === 0)
      throw new CannotExamine(`${where} does not respond (${page.error}): does the site run there?`)
    const refused = this.#refusals()
    if (refused !== undefined) throw new CannotExamine(refused)
    if (page.status >= 500)
      throw new CannotExamine(`${where} responds ${page.status}: look at the log of the site first`)
    if (page.status >= 400)
      throw new CannotExamine(`${where} responds ${page.status}: name a page as pages.public in examine.json`)
    return page
  }

  /** Returns the first refusal of the platform, because a refusal means that the settings of the site are wrong. */
  #refusals(): string | undefined {
    for (const { call } of this.platform.calls(0)) {
      const { detail } = call
      if (detail !== undefined)
        return `the platform refuses ${call.operation}: ${detail.replace(/\.$/, '')}. ${adviceFor(detail)}`
    }
    return undefined
  }

  async #loginForm(first: Page) {
    const given = this.settings.login.page
    const links = first.links
      .filter(({ href, text }) => isLogin(href, text) && this.#isOurs(href))
      .map(({ href }) => href)
    const candidates =
      given === undefined ? [first.url.href, ...links, ...loginPaths.map((path) => this.#at(path))] : [this.#at(given)]
    for (const address of new Set(candidates)) {
      const page = await this.#browser.open(address)
      const form = loginFormOf(page.forms, this.settings.login.passwordField)
      if (!form) continue
      this.#notes.push(`login page: ${new URL(address).pathname}${given === undefined ? ' (found)' : ''}`)
      return { page: address, form }
    }
    throw new CannotExamine(
      this.#refusals() ?? 'no page with a password field was found: name it as login.page in examine.json',
    )
  }

  async #userPage(landed: Page, first: Page): Promise<string> {
    const given = this.settings.pages.account
    const candidates =
      given === undefined
        ? [landed.url.href, first.url.href, ...this.#linksOf(landed), ...userPaths.map((path) => this.#at(path))]
        : [this.#at(given)]
    for (const address of new Set(candidates)) {
      const page = await this.#browser.open(address)
      if (page.status >= 400 || !showsUser(page, this.account, this.settings)) continue
      this.#notes.push(`page that shows the user: ${page.url.pathname}${given === undefined ? ' (found)' : ''}`)
      return address
    }
    throw new CannotExamine(this.#whyNotShown(landed))
  }

  /** Looks for a page that asks the REST API for the user at each request. */
  async #restUserPage(userPage: string): Promise<string | undefined> {
    const { sensitive } = this.settings.pages
    for (const address of [userPage, ...(sensitive === undefined ? [] : [this.#at(sensitive)])]) {
      await this.#browser.open(address)
      const since = Date.now()
      await this.#browser.open(address)
      if (this.platform.calls(since, { operation: 'me' }).length === 0) continue
      const { pathname } = new URL(address)
      this.#notes.push(`page that asks the REST API for the user: ${pathname} (found)`)
      return pathname
    }
    return undefined
  }

  #whyNotShown(landed: Page): string {
    const calls = this.platform.calls(0)
    const refused = this.#refusals()
    if (refused !== undefined) return refused
    const login = calls.find(({ call }) => call?.operation === 'authenticate')?.call
    if (!login)
      return `the login form led to ${landed.status} ${landed.url.pathname}, and Authenticate was never called`
    if (login.outcome !== 'loggedin')
      return `Authenticate responded ${login.outcome}: are the username and the password sent as typed?`
    const user = calls.find(({ call }) => call?.operation === 'me')
    if (!user) return 'the login succeeded at the platform, but the site did not ask the REST API for the user'
    return 'no page shows the user after the login: name one as pages.account, or a text as loggedIn, in examine.json'
  }

  /** Fails if the site has never redirected to Identify. */
  #checkLanding(): void {
    if (this.platform.calls(0, { operation: 'identify' }).length === 0)
      throw new CannotExamine(
        'the site never redirects to Identify: is SSO2_URL set to the address that --settings shows?',
      )
  }

  async #logout(pages: readonly Page[]): Promise<{ logout: LogoutWay; logoutAll: LogoutWay | undefined }> {
    const logoutAll = await this.#findLogoutAll(pages)
    const told = await this.#givenLogout(pages)
    const logout = told ?? (await this.#findLogout(pages))
    this.#notes.push(`logout: ${logout.method} ${new URL(logout.action).pathname}${told ? '' : ' (found)'}`)
    if (logoutAll) {
      const [form, page] = [logoutAll.action, logoutAll.page].map((address) => new URL(address).pathname)
      this.#notes.push(`logout of all sessions: POST ${form} on ${page}`)
    }
    return { logout, logoutAll }
  }

  /** Returns the way to log out that `examine.json` gives. Searches its form if no page is given. */
  async #givenLogout(pages: readonly Page[]): Promise<LogoutWay | undefined> {
    const { page, form = page, method = 'POST' } = this.settings.logout
    if (form === undefined) return undefined
    const action = this.#at(form)
    if (page !== undefined) return { page: this.#at(page), action, method }
    const shown = method === 'POST' ? await this.#findForm(pages, (one) => isSentTo(one, action), [action]) : undefined
    return { page: shown?.page ?? action, action, method }
  }

  /** Returns the way to end all sessions: the one that `examine.json` gives, or the one that is found. */
  async #findLogoutAll(pages: readonly Page[]): Promise<LogoutWay | undefined> {
    const given = this.settings.logoutAll === undefined ? undefined : this.#at(this.settings.logoutAll)
    const link = pages.flatMap(controls).find(({ address, text }) => isLogoutAll(address, text))?.address
    const isWanted = (form: Form) => (given === undefined ? isLogoutAll(form.action, form.text) : isSentTo(form, given))
    const form = await this.#findForm(pages, isWanted, [given ?? link ?? this.#at('/logout-all')])
    const action = form?.action ?? given ?? link
    return action === undefined ? undefined : { page: form?.page ?? action, action, method: 'POST' }
  }

  /** Searches pages, the pages behind their links, usual addresses and then further ones for a POST form. */
  async #findForm(
    pages: readonly Page[],
    isWanted: (form: Form) => boolean,
    further: readonly string[],
  ): Promise<Form | undefined> {
    const formOf = ({ forms }: Page) => forms.find((form) => form.method === 'POST' && isWanted(form))
    const shown = pages.map(formOf).find((form) => form !== undefined)
    if (shown) return shown
    const links = pages.flatMap((page) => this.#linksOf(page))
    for (const address of new Set([...links, ...userPaths.map((path) => this.#at(path)), ...further])) {
      const form = formOf(await this.#browser.open(address))
      if (form) return form
    }
    return undefined
  }

  /** Returns the first links of a page within the site, without links that may log out. */
  #linksOf({ links }: Page): string[] {
    const others = links.filter(
      ({ href, text }) => this.#isOurs(href) && !isLogout(href, text) && !isLogoutAll(href, text),
    )
    return others.map(({ href }) => href).slice(0, MAX_LINKS)
  }

  async #findLogout(pages: readonly Page[]): Promise<LogoutWay> {
    const found = pages
      .flatMap(controls)
      .filter(({ address, text }) => isLogout(address, text) && this.#isOurs(address))
    const form = found.find(({ method }) => method === 'POST')
    if (form) return { page: form.page, action: form.address, method: 'POST' }
    for (const address of [...found.map((link) => link.address), ...logoutPaths.map((path) => this.#at(path))]) {
      // if the site logs out by GET, the user is logged out here, and a check reports the fault
      const page = await this.#browser.open(address)
      const confirmation = page.forms.find(({ method, action, text }) => method === 'POST' && isLogout(action, text))
      if (confirmation) return { page: address, action: confirmation.action, method: 'POST' }
      if (page.hops[0]?.status !== 404 && page.hops[0]?.status !== 405)
        return { page: address, action: address, method: 'GET' }
    }
    throw new CannotExamine('no way to log out was found: name the form as logout.form in examine.json')
  }

  #isOurs(address: string): boolean {
    return new URL(address).origin === new URL(this.platform.siteUrl).origin
  }
}

/** Returns all links and forms of a page, which a user can click. */
function controls({ forms, links, url }: Page) {
  return [
    ...forms.map(({ action, method, text }) => ({ page: url.href, address: action, method, text })),
    ...links.map(({ href, text }) => ({ page: url.href, address: href, method: 'GET' as const, text })),
  ]
}

/** What to look at if the platform refuses the first request tokens. */
const adviceFor = (detail: string) =>
  /in the future/.test(detail)
    ? 'The clock of the site is ahead, or the site rounds its time up: cut it, as Math.floor(Date.now() / 1000) does'
    : "Compare the site's settings with --settings"
