/** Check `login/way-back`: where a login ends that succeeds at the second try. */
import type { Browser, Page } from '../browser'
import { type Check, need, noneOf, notApplicable } from '../check'
import { loginFormOf } from '../facts'
import type { Form } from '../html'
import type { Account } from '../platform'
import type { Stage } from '../stage'
import { loginParameters, withParameter } from './return-address'

const MARK = 'way-back'

/** Returns the addresses from which a login may lead back to a page of the user. */
async function possibleWays(stage: Stage): Promise<string[]> {
  const { loginPage, userPage } = stage.site
  const wanted = new URL(userPage)
  wanted.searchParams.set('examined', MARK)
  const parameters = await loginParameters(stage)
  return [wanted.href, ...parameters.map((name) => withParameter(loginPage, name, wanted.pathname + wanted.search))]
}

const isBack = ({ url }: Page) => url.searchParams.get('examined') === MARK

const formOf = (stage: Stage, { forms }: Pick<Page, 'forms'>): Form | undefined =>
  loginFormOf(forms, stage.site.passwordField)

/** Finds a way on which a login at the first try leads back. */
async function findWay(stage: Stage): Promise<string | undefined> {
  for (const way of await possibleWays(stage)) {
    const browser = stage.browser()
    const form = formOf(stage, await stage.visit(browser, way))
    if (form && isBack(await stage.submit(browser, form, stage.account()))) return way
  }
  return undefined
}

/** A first try that does not log in. Returns the page with the form. */
type FirstTry = (stage: Stage, browser: Browser, form: Form, account: Account) => Promise<Pick<Page, 'forms'>>

const fetched = {
  accept: 'application/json',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
}

const firstTries: readonly (readonly [what: string, act: FirstTry])[] = [
  [
    'a wrong password',
    (stage, browser, form, account) => stage.submit(browser, form, { ...account, password: 'not-the-password' }),
  ],
  [
    'a login while the platform does not work',
    async (stage, browser, form, account) => {
      const end = stage.platform.fault(['authenticate'], { kind: 'status', code: 503 })
      const page = await stage.submit(browser, form, account)
      end()
      return page
    },
  ],
  [
    'a login whose SSO session has ended while the form was open',
    async (stage, browser, form, account) => {
      stage.platform.terminate(await stage.sid(browser))
      return stage.submit(browser, form, account)
    },
  ],
  [
    'a script of the page has fetched another address',
    async (stage, browser, form) => {
      for (const page of [stage.site.userPage, stage.site.publicPage])
        await stage.openHere(browser, `${page}?examined=script`, { headers: fetched })
      return { forms: [form] }
    },
  ],
]

/** Logs in at the second try, and looks where the login ends. */
export const wayBack: Check = {
  name: 'login/way-back',
  isRough: true,
  run: async (stage) => {
    await stage.login(stage.browser())
    const way = await findWay(stage)
    if (way === undefined) return notApplicable('the login does not lead back to the page where the user began')
    const problems: string[] = []
    let tries = 0
    for (const [what, act] of firstTries) {
      const [browser, account] = [stage.browser(), stage.account()]
      const form = formOf(stage, await stage.visit(browser, way))
      need(form, 'the login form was not there')
      const again = formOf(stage, await act(stage, browser, form, account))
      const page = again && (await stage.submit(browser, again, account))
      const isIn = page !== undefined && stage.shows(page, account) && formOf(stage, page) === undefined
      stage.tried(`after ${what}: ${page === undefined ? 'no form' : page.url.pathname + page.url.search}`)
      if (!isIn) continue
      tries += 1
      if (!isBack(page)) problems.push(`after ${what}, the next login leads to ${page.url.pathname}`)
    }
    need(tries > 0, 'no login succeeded at the second try')
    return noneOf(problems)
  },
}
