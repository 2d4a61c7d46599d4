/** Group `session`: the site's own cookie, caches, and parallel requests. */
import { inflateSync } from 'node:zlib'
import type { Browser, Page } from '../browser'
import {
  advised,
  type Check,
  type Finding,
  failed,
  failedIf,
  need,
  noneOf,
  type Problem,
  passed,
  problemsIn,
  warning,
} from '../check'
import type { Cookie } from '../cookies'
import { isLogout, isLogoutAll } from '../facts'
import { isServerError, outcomeOf, responseOf } from '../outcome'
import { tokensIn } from '../secrets'
import type { UserPage } from '../seen'
import { pause, type Stage } from '../stage'
import { equalNames } from './equal-names'
import { formerForm } from './former-form'
import { sessionOf } from './logged-in'
import { randomId } from './random-id'
import { sharedConnection } from './shared-connection'

/** Opens the site with two new browsers. Returns the cookies that differ, which bind a browser to its Identify redirect. */
async function bindingCookies(stage: Stage): Promise<Cookie[]> {
  const [one, other] = [stage.browser(), stage.browser()]
  for (const browser of [one, other]) await stage.openHere(browser, stage.identifiedPage)
  const others = new Set(other.cookies.all().map(({ name, value }) => `${name}=${value}`))
  return one.cookies.all().filter(({ name, value }) => value.length >= 8 && !others.has(`${name}=${value}`))
}

const flags: Check = {
  name: 'session/cookie-flags',
  run: async (stage) => {
    const { keys } = await sessionOf(stage)
    const isSecure = new URL(stage.site.url).protocol === 'https:'
    const cookies = [...keys, ...(await bindingCookies(stage))]
    const late = cookies
      .filter(({ attributes }) => attributes.includes('samesite=strict'))
      .map(
        ({ name }) =>
          `the cookie ${name} is SameSite=Strict: a browser that comes from another site, such as back from Identify, does not send it`,
      )
    const open = problemsIn(
      cookies.flatMap(({ name, attributes }): Problem[] => [
        [!attributes.includes('httponly'), `the cookie ${name} is not HttpOnly`],
        [!attributes.some((one) => /^samesite=(?:lax|strict)$/.test(one)), `the cookie ${name} has no SameSite=Lax`],
        [isSecure && !attributes.includes('secure'), `the cookie ${name} is not Secure`],
        [!attributes.some((one) => one.startsWith('path=')), `the cookie ${name} has no Path`],
        [
          attributes.some((one) => one.startsWith('domain=')),
          `the cookie ${name} has a Domain, so every subdomain gets it`,
        ],
      ]),
    )
    const effect = 'A user who follows a link to the site is not logged in there, or lands for nothing.'
    return noneOf([...open, ...advised(late, { effect })])
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
        .filter(({ value }) =>
          valueSpellings(value).some((text) => tokensIn(text).length > 0 || words.some((word) => text.includes(word))),
        )
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
  return parts.flatMap((part) => {
    const bytes = Buffer.from(part, 'base64')
    return [decoded(part), bytes.toString('latin1'), inflated(bytes)]
  })
}

/** Returns the text of compressed bytes, as Flask writes large sessions into its cookie. */
function inflated(bytes: Buffer): string {
  try {
    return inflateSync(bytes).toString('latin1')
  } catch {
    return ''
  }
}

/** Values that decoders of percent signs, JSON and signatures refuse. */
const ODD_VALUES = ['%E0%A4%A', '%', '%7B', 'j:[1]', 's:x.y', 'a.b.c']
/** Usual names of cookies that scripts set and sites read. */
const USUAL_NAMES = ['prefs', 'preferences', 'settings', 'consent', 'theme', 'lang', 'reader', 'user', 'cart', 'basket']

const fixed: Check = {
  name: 'session/not-fixed-by-attacker',
  run: async (stage) => {
    const { keys } = await sessionOf(stage)
    const browser = stage.browser()
    for (const cookie of keys) browser.cookies.put({ ...cookie, value: 'planted-by-an-attacker-0123456789' })
    await stage.login(browser)
    const values = browser.cookies.of(new URL(stage.site.userPage))
    const kept = values.filter(({ value }) => value.includes('planted-by-an-attacker'))
    const broken: Problem[] = []
    for (const value of ODD_VALUES) {
      const odd = stage.browser()
      const [first] = values
      const usual = first ? USUAL_NAMES.map((name) => ({ ...first, name })) : []
      for (const cookie of [...usual, ...values]) odd.cookies.put({ ...cookie, value })
      const page = await stage.visit(odd)
      broken.push([
        isServerError(page),
        `a cookie that cannot be read (${value}, as the cookies of the site, prefs and other usual names) ends in ${outcomeOf(page)}`,
      ])
    }
    return noneOf([
      ...kept.map(({ name }) => `${name} keeps the value that an attacker planted`),
      ...problemsIn(broken),
    ])
  },
}

/** Adds cookies of others, as advertisements set them. They must not hide the session cookie. */
const foreignCookies: Check = {
  name: 'session/foreign-cookies',
  run: async (stage) => {
    const { browser, account, keys } = await sessionOf(stage)
    const others = keys.flatMap(({ name }): [string, string][] => [
      [`x-${name}`, 'examined'],
      [`${name}x`, 'examined'],
    ])
    const odd: [string, string][] = [
      ['odd', '{"a":"b,c"}'],
      ['percent', '%'],
      ['empty', ''],
      ['equal', 'a=b=='],
      ...others,
    ]
    const problems: string[] = []
    for (const [name, value] of odd) {
      const reader = stage.browser()
      reader.cookies.put({ name, value, host: new URL(stage.site.url).hostname, path: '/', attributes: [] })
      for (const cookie of browser.cookies.of(new URL(stage.site.userPage))) reader.cookies.put(cookie)
      const page = await stage.look(reader)
      const isLost = !stage.shows(page, account)
      stage.tried(`${name}=${value}: ${isLost ? 'the user is lost' : 'the user is shown'}`)
      if (!isLost) continue
      problems.push(
        `with the cookie ${name}=${value} before the session cookie, the page of a user ${responseOf(page)} without the user`,
      )
      if (!(await stage.isKnown(browser, account))) break // the cookie has ended the session
    }
    return noneOf(problems)
  },
}

const MAX_LINKS = 12

/** Opens the pages that show the user, the first pages of the site that these link to, and one that does not exist. */
export async function lookAround(stage: Stage, browser: Browser): Promise<Page[]> {
  const { url, userPage, publicPage } = stage.site
  const { sensitive } = stage.run.settings.pages
  const begin = [userPage, publicPage, ...(sensitive === undefined ? [] : [new URL(sensitive, url).href])]
  const pages: Page[] = []
  await stage.look(browser, new URL('/examined-page-that-does-not-exist', url).href)
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
      return noneOf(
        open.map(({ path, cache, setsCookie }) => {
          const what = setsCookie ? ', sets a cookie,' : ''
          return `${path} shows a user (its reader, or the author of a text)${what} and has ${cacheText(cache)}`
        }),
      )
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

export const sessionChecks: readonly Check[] = [
  flags,
  content,
  randomId,
  equalNames,
  formerForm,
  fixed,
  foreignCookies,
  sharedConnection,
  sharedCache,
  browserCache,
  parallel,
]
