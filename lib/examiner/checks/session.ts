/** Group `session`: the site's own cookie, caches, and parallel requests. */
import type { Browser } from '../browser'
import { type Check, failed, failedIf, failedIfAny, need, noneOf, type Problem, passed, warning } from '../check'
import type { Cookie } from '../cookies'
import type { Account } from '../platform'
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
        [!attributes.includes('httponly'), `${name} is not HttpOnly`],
        [!attributes.some((one) => /^samesite=(?:lax|strict)$/.test(one)), `${name} has no SameSite=Lax or Strict`],
        [isSecure && !attributes.includes('secure'), `${name} is not Secure`],
        [!attributes.some((one) => one.startsWith('path=')), `${name} has no Path`],
        [attributes.some((one) => one.startsWith('domain=')), `${name} is sent to other hosts (Domain)`],
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
    return noneOf(
      values
        .filter(({ value }) => value.includes('planted-by-an-attacker'))
        .map(({ name }) => `${name} keeps the value that an attacker planted`),
    )
  },
}

const sharedCache: Check = {
  name: 'session/shared-cache',
  run: async (stage) => {
    const { browser, account } = await sessionOf(stage)
    const problems: string[] = []
    for (const page of [await stage.look(browser), await stage.look(browser, stage.site.publicPage)]) {
      if (!stage.shows(page, account)) continue
      const cache = page.headers['cache-control'] ?? ''
      const isPrivate = /private|no-store/i.test(cache) && !/public|s-maxage/i.test(cache)
      if (!isPrivate)
        problems.push(
          `${page.url.pathname} shows a user and has ${cache === '' ? 'no Cache-Control' : `Cache-Control: ${cache}`}`,
        )
    }
    return noneOf(problems)
  },
}

const browserCache: Check = {
  name: 'session/browser-cache',
  run: async (stage) => {
    const { browser } = await sessionOf(stage)
    const page = await stage.look(browser)
    const cache = page.headers['cache-control'] ?? ''
    if (/no-store/i.test(cache)) return passed()
    return /no-cache|max-age=0/i.test(cache)
      ? warning(`${page.url.pathname} has Cache-Control: ${cache}: the back button may show it after a logout`)
      : failed(
          `${page.url.pathname} may be kept by the browser and shown after a logout (Cache-Control: ${cache || 'none'})`,
        )
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

export const sessionChecks: readonly Check[] = [flags, content, fixed, sharedCache, browserCache, parallel]
