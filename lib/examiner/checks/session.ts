/** Group `session`: the site's own cookie, caches, and parallel requests. */
import type { Browser, Page } from '../browser'
import {
  type Check,
  type Finding,
  failed,
  failedIf,
  failedIfAny,
  need,
  noneOf,
  type Problem,
  passed,
  problemsIn,
  warning,
} from '../check'
import type { Cookie } from '../cookies'
import { isLogout, isLogoutAll } from '../facts'
import { isServerError, outcomeOf } from '../outcome'
import type { Account } from '../platform'
import type { UserPage } from '../seen'
import { pause, type Stage } from '../stage'

interface Login {
  readonly browser: Browser
  readonly account: Account
  /** Cookies that the login needs. */
  readonly keys: readonly Cookie[]
}

/** Logs in and finds the session cookies. Without them, the site does not show the user. */
async function sessionOf(stage: Stage): Promise<Login> {
  const browser = stage.browser()
  const account = await stage.login(browser)
  need(await stage.isKnown(browser, account), 'the user is not shown after the login')
  const keys: Cookie[] = []
  for (const cookie of browser.cookies.of(new URL(stage.site.userPage))) {
    const without = browser.copy(`Browser A without ${cookie.name}`)
    without.cookies.forget(cookie.name)
    if (!(await stage.isKnown(without, account))) keys.push(cookie)
  }
  need(keys.length > 0, 'no cookie was found that the login depends on')
  return { browser, account, keys }
}

const flags: Check = {
  name: 'session/cookie-flags',
  run: async (stage) => {
    const { keys } = await sessionOf(stage)
    const isSecure = new URL(stage.site.url).protocol === 'https:'
    return failedIfAny(
      keys.flatMap(({ name, attributes }): Problem[] => [
        [!attributes.includes('httponly'), `the cookie ${name} is not HttpOnly`],
        [
          !attributes.some((one) => /^samesite=(?:lax|strict)$/.test(one)),
          `the cookie ${name} has no SameSite=Lax or Strict`,
        ],
        [isSecure && !attributes.includes('secure'), `the cookie ${name} is not Secure`],
        [!attributes.some((one) => one.startsWith('path=')), `the cookie ${name} has no Path`],
        [
          attributes.some((one) => one.startsWith('domain=')),
          `the cookie ${name} has a Domain, so every subdomain gets it`,
        ],
      ]),
    )
  },
}

const content: Check = {
  name: 'session/cookie-content',
  run: async (stage) => {
    const { browser, account } = await sessionOf(stage)
    const words = [account.name, account.username, account.accountId, await stage.sid(browser)]
    const cookies = browser.cookies.of(new URL(stage.site.url))
    return noneOf(
      cookies
        .filter(({ value }) => valueSpellings(value).some((text) => words.some((word) => text.includes(word))))
        .map(({ name }) => `${name} holds data of the user`),
    )
  },
}

/** Returns a cookie's value and its parts, also decoded in the usual ways. */
function valueSpellings(value: string): string[] {
  const parts = [value, ...value.split(/[.:|&=~%]/)]
  const decoded = (text: string) => {
    try {
      return decodeURIComponent(text)
    } catch {
      return text
    }
  }
  return parts.flatMap((part) => [decoded(part), Buffer.from(part, 'base64').toString('latin1')])
}

const fixed: Check = {
  name: 'session/not-fixed-by-attacker',
  run: async (stage) => {
    const { keys } = await sessionOf(stage)
    const browser = stage.browser()
    for (const cookie of keys) browser.cookies.put({ ...cookie, value: 'planted-by-an-attacker-0123456789' })
    await stage.login(browser)
    const values = browser.cookies.of(new URL(stage.site.userPage))
    const kept = values.filter(({ value }) => value.includes('planted-by-an-attacker'))
    const broken = stage.browser()
    for (const cookie of keys) broken.cookies.put({ ...cookie, value: '%E0%A4%A' })
    const page = await stage.look(broken)
    return noneOf([
      ...kept.map(({ name }) => `${name} keeps the value that an attacker planted`),
      ...problemsIn([[isServerError(page), `a cookie that cannot be decoded (%E0%A4%A) ends in ${outcomeOf(page)}`]]),
    ])
  },
}

const MAX_LINKS = 12

/** Opens the pages that show the user, and the first pages of the site that these link to. */
export async function lookAround(stage: Stage, browser: Browser): Promise<Page[]> {
  const { url, userPage, publicPage } = stage.site
  const { sensitive } = stage.run.settings.pages
  const begin = [userPage, publicPage, ...(sensitive === undefined ? [] : [new URL(sensitive, url).href])]
  const pages: Page[] = []
  for (const address of new Set(begin)) pages.push(await stage.look(browser, address))
  const links = pages.flatMap((page) => page.links).filter(({ href, text }) => isOfUser(stage, href, text))
  const others = [...new Set(links.map(({ href }) => href.split('#', 1).join('')))].filter(
    (href) => !begin.includes(href),
  )
  for (const address of others.slice(0, MAX_LINKS)) pages.push(await stage.look(browser, address))
  return pages
}

/** Is the link one of this site that does not log out? */
const isOfUser = ({ site }: Stage, href: string, text: string) =>
  new URL(href).origin === new URL(site.url).origin && !isLogout(href, text) && !isLogoutAll(href, text)

/** Returns all pages that show a user: pages of this check, and pages that other checks have seen. */
async function userPages(stage: Stage): Promise<readonly UserPage[]> {
  const { browser } = await sessionOf(stage)
  await lookAround(stage, browser)
  const pages = stage.run.seen.userPages
  need(pages.length > 0, 'no page shows the user after the login')
  return pages
}

const sharedCache: Check = {
  name: 'session/shared-cache',
  isLast: true,
  run: async (stage) => {
    const open = (await userPages(stage)).filter(
      ({ cache }) => !/private|no-store/i.test(cache) || /public|s-maxage/i.test(cache),
    )
    if (open.length > 0)
      return noneOf(open.map(({ path, cache }) => `${path} shows a user and has ${cacheText(cache)}`))
    return mixedPages(stage)
  },
}

const cacheText = (cache: string) => (cache === '' ? 'no Cache-Control' : `Cache-Control: ${cache}`)

/** Warns of pages that shared caches may keep for visitors and that show a user to users: the cache cannot tell them apart. */
async function mixedPages(stage: Stage): Promise<Finding> {
  const visitor = stage.browser()
  await stage.visit(visitor)
  const problems: string[] = []
  for (const path of new Set(stage.run.seen.userPages.map((page) => page.path))) {
    const page = await stage.look(visitor, new URL(path, stage.site.url).href)
    const { 'cache-control': cache = '', vary = '' } = page.headers
    const isKept = /public|s-maxage|max-age=[1-9]/i.test(cache) && !/private|no-store|no-cache/i.test(cache)
    if (page.status === 200 && isKept && !/cookie|\*/i.test(vary))
      problems.push(`${path} shows a user to users, and has Cache-Control: ${cache} without Vary: Cookie for visitors`)
  }
  return problems.length === 0
    ? passed()
    : warning(problems.join('; '), 'A shared cache serves the page of visitors to users, who seem to be logged out.')
}

const browserCache: Check = {
  name: 'session/browser-cache',
  isLast: true,
  run: async (stage) => {
    const pages = (await userPages(stage)).filter(({ cache }) => !/no-store/i.test(cache))
    const kept = pages.filter(({ cache }) => !/no-cache|max-age=0/i.test(cache))
    if (kept.length > 0)
      return noneOf(
        kept.map(
          ({ path, cache }) => `${path} may be kept by the browser and shown after a logout (${cacheText(cache)})`,
        ),
      )
    if (pages.length === 0) return passed()
    const paths = [...new Set(pages.map(({ path, cache }) => `${path} (${cacheText(cache)})`))]
    return warning(`the back button may show ${paths.join(', ')} after a logout`)
  },
}

/** Logins whose session IDs are compared. */
const LOGINS = 6
const MIN_BITS = 64

/** Returns the values of a cookie after some logins, two of them of the same account. */
async function valuesOf(stage: Stage, name: string): Promise<string[]> {
  const values: string[] = []
  const account = stage.account()
  for (let login = 0; login < LOGINS; login += 1) {
    const browser = stage.browser()
    await stage.login(browser, login < 2 ? account : stage.account())
    const cookie = browser.cookies.of(new URL(stage.site.userPage)).find((one) => one.name === name)
    if (cookie) values.push(cookie.value)
  }
  return values
}

/** Estimates the bits in which texts differ, from the parts that they do not share at both ends. */
function differingBits(texts: readonly string[]): number {
  const values = texts.map((text) => text.replaceAll('-', '')) // of a UUID
  const [first = ''] = values
  const shared = (at: (text: string, index: number) => string | undefined) => {
    let length = 0
    while (length < first.length && values.every((value) => at(value, length) === at(first, length))) length += 1
    return length
  }
  const [start, end] = [shared((text, index) => text[index]), shared((text, index) => text.at(-1 - index))]
  const parts = values.map((value) => value.slice(start, Math.max(start, value.length - end)))
  const bits = parts.every((part) => /^\d*$/.test(part)) ? 3.3 : parts.every((part) => /^[\da-f]*$/i.test(part)) ? 4 : 6
  return Math.min(...parts.map((part) => part.length)) * bits
}

const randomId: Check = {
  name: 'session/random-id',
  run: async (stage) => {
    const { keys } = await sessionOf(stage)
    const problems: string[] = []
    for (const { name } of keys) {
      const values = await valuesOf(stage, name)
      need(values.length === LOGINS, `a login has set no cookie ${name}`)
      const bits = Math.round(differingBits(values))
      if (new Set(values).size < values.length)
        problems.push(
          `two logins have the same value of ${name}: it is made of the user or of the time, and not random`,
        )
      else if (bits < MIN_BITS)
        problems.push(
          `the values of ${name} after ${LOGINS} logins differ in about ${bits} bits only: they can be guessed`,
        )
    }
    return failedIf(problems.length === keys.length, problems.join('; '))
  },
}

const parallel: Check = {
  name: 'session/parallel-requests',
  run: async (stage) => {
    const { browser, account } = await sessionOf(stage)
    const pages = await Promise.all(Array.from({ length: 12 }, () => stage.look(browser)))
    if (pages.some((page) => !stage.shows(page, account)))
      return failed('one of twelve requests at once loses the login')
    const form = await stage.logoutForm(browser)
    const during = Array.from({ length: 12 }, () => stage.look(browser.copy('Browser A, another tab')))
    await browser.submit(form, {}, { stopAt: (url) => stage.platform.isIdentify(url) })
    await Promise.all(during)
    await pause(150) // a site may write a session after its response
    return failedIf(await stage.isKnown(browser, account), 'requests during the logout bring the login back')
  },
}

export const sessionChecks: readonly Check[] = [flags, content, randomId, fixed, sharedCache, browserCache, parallel]
