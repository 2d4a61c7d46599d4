/** Checks `session/spellings` and `session/revalidation`: pages under other addresses, and pages that a browser has kept. */
import type { Page } from '../browser'
import { type Check, need, noneOf } from '../check'
import { loginFormOf } from '../facts'
import type { Stage } from '../stage'
import { lookAround } from './session'

/** Returns other addresses that many routers take for the same page. */
export function spellingsOf(address: string): string[] {
  const { origin, pathname } = new URL(address)
  const path = pathname.replace(/\/$/, '')
  if (path === '') return []
  const coded = path.replace(/\w$/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return [`${path}/`, path.toUpperCase(), `/${path}`, `${path};x=1`, coded].map((spelling) => origin + spelling)
}

const MAX_PAGES = 8
const isPrivate = (page: Page) => /private|no-store/i.test(page.headers['cache-control'] ?? '')

/** Opens the pages of users under other spellings, as a user and as a visitor. */
export const spellings: Check = {
  name: 'session/spellings',
  isLast: true,
  run: async (stage) => {
    const [browser, visitor] = [stage.browser(), stage.browser()]
    const account = await stage.login(browser)
    const { url } = stage.site
    const seen = (await lookAround(stage, browser)).map((page) => page.url.href)
    const known = stage.run.seen.userPages.map(({ path }) => new URL(path, url).href)
    await stage.visit(visitor)
    const missing = await stage.look(visitor, new URL('/examined-page-that-does-not-exist', url).href)
    const problems: string[] = []
    for (const address of [...new Set([...seen, ...known])].slice(0, MAX_PAGES)) {
      const [own, foreign] = [await stage.look(browser, address), await stage.look(visitor, address)]
      const isGuarded = !isServed(stage, foreign) && missing.status >= 400
      for (const spelling of spellingsOf(address)) {
        const [asUser, asVisitor] = [await stage.look(browser, spelling), await stage.look(visitor, spelling)]
        const what = `${spelling.slice(new URL(url).origin.length)} is taken for ${own.url.pathname}`
        if (isPrivate(own) && stage.shows(asUser, account) && !isPrivate(asUser))
          problems.push(`${what}, and shows the user without its Cache-Control`)
        if (isGuarded && isServed(stage, asVisitor))
          problems.push(`${what}, and is served to a visitor without a login`)
      }
    }
    return noneOf(problems)
  },
}

/** Is the page itself served, and no form to log in? */
const isServed = ({ site }: Stage, { status, hops, next, forms }: Page) =>
  status === 200 && hops.length === 1 && next === undefined && !loginFormOf(forms, site.passwordField)

/** Returns the headers with which a browser asks whether a page that it has kept is still the same. */
function conditions({ headers }: Page): Record<string, string> | undefined {
  const { etag = '', 'last-modified': date = '', 'cache-control': cache = '' } = headers
  if (/no-store/i.test(cache) || (etag === '' && date === '')) return undefined
  return { 'if-none-match': etag, 'if-modified-since': date }
}

/** Asks for the pages again after a login, and after the logout, as a browser does that has kept them. */
export const revalidation: Check = {
  name: 'session/revalidation',
  run: async (stage) => {
    const problems: string[] = []
    let isShown = false
    for (const address of new Set([stage.site.publicPage, stage.site.userPage])) {
      const browser = stage.browser()
      await stage.visit(browser, address)
      const before = conditions(await stage.look(browser, address))
      const account = await stage.login(browser)
      const page = await stage.look(browser, address)
      if (!stage.shows(page, account)) continue
      isShown = true
      const isKept = async (headers = conditions(page)) =>
        headers !== undefined && (await stage.openHere(browser, address, { headers })).status === 304
      const { pathname } = new URL(address)
      if (before && (await isKept(before)))
        problems.push(`after the login, ${pathname} responds 304: the browser goes on showing the page of a visitor`)
      await stage.logout(browser)
      if (await isKept())
        problems.push(`after the logout, ${pathname} responds 304: the browser goes on showing the page with the user`)
    }
    need(isShown, 'no page shows the user after the login')
    return noneOf(problems)
  },
}
