/** Check `login/way-back`: where a login ends that succeeds at the second try, or that begins at a link of the site. */
import { type Browser, ownScript, type Page } from '../browser'
import { type Check, failed, need, noneOf, notApplicable } from '../check'
import { loginFormOf } from '../facts'
import type { Form } from '../html'
import type { Account } from '../platform'
import type { Stage } from '../stage'
import { loginParameters, withParameter } from './return-address'

const MARK = 'way-back'
/** A value that changes if a link has the address of its page without encoding. */
const WORD = 'a+b&c=d ä'

/** A way to the login form: an address, and the page whose link leads there, if the browser names it in Referer. */
interface Way {
  readonly address: string
  readonly from?: string
}

/** Returns the ways from which a login may lead back to a page of the user. */
async function possibleWays(stage: Stage): Promise<Way[]> {
  const { loginPage, userPage } = stage.site
  const wanted = new URL(userPage)
  wanted.searchParams.set('examined', MARK)
  const parameters = await loginParameters(stage)
  const addresses = parameters.map((name) => withParameter(loginPage, name, wanted.pathname + wanted.search))
  return [...[wanted.href, ...addresses].map((address) => ({ address })), { address: loginPage, from: wanted.href }]
}

/** Opens the page with the form. */
async function openForm(stage: Stage, browser: Browser, { address, from }: Way): Promise<Form | undefined> {
  if (from === undefined) return formOf(stage, await stage.visit(browser, address))
  await stage.visit(browser)
  return formOf(stage, await browser.open(address, { headers: { referer: from } }))
}

/** Sends the form. A browser that names pages in Referer now names the page of the form. */
const send = (stage: Stage, browser: Browser, form: Form, account: Account, { from }: Way) =>
  stage.submit(browser, form, account, from === undefined ? {} : { headers: { referer: form.page } })

const isBack = ({ url }: Page) => url.searchParams.get('examined') === MARK

const formOf = (stage: Stage, { forms }: Pick<Page, 'forms'>): Form | undefined =>
  loginFormOf(forms, stage.site.passwordField)

/** Finds a way on which a login at the first try leads back. */
async function findWay(stage: Stage): Promise<Way | undefined> {
  for (const way of await possibleWays(stage)) {
    const browser = stage.browser()
    const form = await openForm(stage, browser, way)
    if (form && isBack(await send(stage, browser, form, stage.account(), way))) return way
  }
  return undefined
}

/** A first try that does not log in. Returns the page with the form. */
type FirstTry = (stage: Stage, browser: Browser, form: Form, account: Account, way: Way) => Promise<Pick<Page, 'forms'>>

const firstTries: readonly (readonly [what: string, act: FirstTry])[] = [
  [
    'a wrong password',
    (stage, browser, form, account, way) =>
      send(stage, browser, form, { ...account, password: 'not-the-password' }, way),
  ],
  [
    'a login while the platform does not work',
    async (stage, browser, form, account, way) => {
      const end = stage.platform.fault(['authenticate'], { kind: 'status', code: 503 })
      const page = await send(stage, browser, form, account, way)
      end()
      return page
    },
  ],
  [
    'a login whose SSO session has ended while the form was open',
    async (stage, browser, form, account, way) => {
      stage.platform.terminate(await stage.sid(browser))
      return send(stage, browser, form, account, way)
    },
  ],
  [
    'a script of the page has fetched another address',
    async (stage, browser, form) => {
      for (const page of [stage.site.userPage, stage.site.publicPage])
        await stage.openHere(browser, `${page}?examined=script`, { headers: ownScript })
      return { forms: [form] }
    },
  ],
]

/**
 * Logs in from a page with two parameters: by the page's own link, or by the form to which the page redirects.
 * @returns the problem if the login leads back without the whole query
 */
async function lostQuery(stage: Stage, from: string): Promise<string | undefined> {
  const wanted = new URL(from)
  wanted.searchParams.set('examined', MARK)
  wanted.searchParams.set('word', WORD)
  const browser = stage.browser()
  const opened = await stage.visit(browser, wanted.href)
  const { pathname } = new URL(stage.site.loginPage)
  const link = opened.links.find(({ href }) => new URL(href).pathname === pathname && href.includes(MARK))
  const form = formOf(stage, link === undefined ? opened : await stage.visit(browser, link.href))
  if (!form) return undefined
  const page = await stage.submit(browser, form, stage.account())
  const [begin, end] = [wanted, page.url].map((url) => url.pathname + url.search)
  stage.tried(`from ${begin}: ${end}`)
  if (!isBack(page) || page.url.searchParams.get('word') === WORD) return undefined
  return `a login that begins at ${begin} leads to ${end}: a part of the query is lost`
}

/** Logs in by the site's own links and at the second try, and looks where the login ends. */
export const wayBack: Check = {
  name: 'login/way-back',
  isRough: true,
  run: async (stage) => {
    await stage.login(stage.browser())
    const { publicPage, userPage } = stage.site
    for (const page of new Set([publicPage, userPage])) {
      const lost = await lostQuery(stage, page)
      if (lost !== undefined) return failed(lost)
    }
    const way = await findWay(stage)
    if (way === undefined) return notApplicable('the login does not lead back to the page where the user began')
    const problems: string[] = []
    let tries = 0
    for (const [what, act] of firstTries) {
      const [browser, account] = [stage.browser(), stage.account()]
      const form = await openForm(stage, browser, way)
      need(form, 'the login form was not there')
      const again = formOf(stage, await act(stage, browser, form, account, way))
      const page = again && (await send(stage, browser, again, account, way))
      const isIn = page !== undefined && (await stage.isKnown(browser, account))
      stage.tried(`after ${what}: ${page === undefined ? 'no form' : page.url.pathname + page.url.search}`)
      if (!isIn) continue
      tries += 1
      if (!isBack(page)) problems.push(`after ${what}, the next login leads to ${page.url.pathname}`)
    }
    need(tries > 0, 'no login succeeded at the second try')
    return noneOf(problems)
  },
}
