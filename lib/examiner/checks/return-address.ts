/** Check `login/return-address`: the attacker's addresses as the return address of the login and of the logout. */
import type { Page } from '../browser'
import { type Check, noneOf, notApplicable } from '../check'
import { isBackField, type LogoutWay } from '../facts'
import { outcomeOf } from '../outcome'
import type { Account } from '../platform'
import type { Stage } from '../stage'
import { hostileAddresses, hostileLink, isHostile } from './hostile'

/** A page or form that takes a return address: its description, and an attempt with an address of the attacker. */
type Place = readonly [name: string, attempt: (target: string) => Promise<Page>]

const stopAtAttacker = { stopAt: isHostile }

/** Returns the parameters of the return address, as the site's own links and redirects to the login page have them. */
export async function loginParameters(stage: Stage): Promise<string[]> {
  const { loginPage, publicPage, userPage, returnField } = stage.site
  const visitor = stage.browser()
  const pages = [await stage.visit(visitor, publicPage), await stage.visit(visitor, userPage)]
  const addresses = pages.flatMap(({ links, hops }) => [
    ...links.map(({ href }) => href),
    ...hops.flatMap(({ location }) => location ?? []),
  ])
  const { origin, pathname } = new URL(loginPage)
  const own = addresses
    .filter((address) => URL.canParse(address))
    .map((address) => new URL(address))
    .filter((url) => url.origin === origin && url.pathname === pathname)
  const names = own.flatMap(({ searchParams }) =>
    [...searchParams].filter(([, value]) => /^(?:\/|https?:)/.test(value)).map(([name]) => name),
  )
  return [...new Set([...names, ...(returnField === undefined ? [] : [returnField])])]
}

export function withParameter(page: string, name: string, target: string): string {
  const url = new URL(page)
  url.searchParams.set(name, target)
  return url.href
}

/** Opens the login page with the attacker's address as a visitor, and logs in. */
async function logInAt(stage: Stage, address: string, account: Account): Promise<Page> {
  const browser = stage.browser()
  const opened = await browser.open(address, stopAtAttacker)
  if (opened.next !== undefined || hostileLink(opened) !== undefined) return opened
  return stage.submit(browser, await stage.formAfter(browser, opened), account, stopAtAttacker)
}

/** Returns the pages and forms of the login that take a return address. */
async function returnPlacesOfLogin(stage: Stage): Promise<Place[]> {
  const { loginPage, returnField } = stage.site
  const parameters = await loginParameters(stage)
  const { pathname } = new URL(loginPage)
  const user = stage.browser()
  const [forForm, forPage] = [stage.account(), stage.account()]
  if (parameters.length > 0) await stage.login(user)
  const form: Place[] =
    returnField === undefined
      ? []
      : [
          [
            `the login form with ${returnField}`,
            async (target) => {
              const browser = stage.browser()
              const { form: shown } = await stage.loginForm(browser)
              return stage.submit(browser, shown, forForm, { fields: { [returnField]: target }, ...stopAtAttacker })
            },
          ],
        ]
  const pages = parameters.flatMap((name): Place[] => [
    [
      `GET ${pathname}?${name}=, then a login,`,
      (target) => logInAt(stage, withParameter(loginPage, name, target), forPage),
    ],
    [
      `GET ${pathname}?${name}= of a logged-in user`,
      (target) => user.open(withParameter(loginPage, name, target), stopAtAttacker),
    ],
  ])
  return [...form, ...pages]
}

/** Returns the forms of the logout that take a return address. */
async function returnPlacesOfLogout(stage: Stage): Promise<Place[]> {
  const account = stage.account()
  const logIn = async () => {
    const browser = stage.browser()
    await stage.login(browser, account)
    return browser
  }
  const { logout, logoutAll } = stage.site
  const browser = await logIn()
  const places = async (way: LogoutWay): Promise<Place[]> => {
    const { action, fields } = await stage.logoutForm(browser, way)
    const field = fields.find(isBackField)?.name
    if (field === undefined) return []
    const attempt = async (target: string) => {
      const user = await logIn()
      return user.submit(await stage.logoutForm(user, way), { [field]: target }, stopAtAttacker)
    }
    return [[`the form ${new URL(action).pathname} with ${field}`, attempt]]
  }
  return [...(await places(logout)), ...(logoutAll === undefined ? [] : await places(logoutAll))]
}

/** Logs in with a return address of the site. Returns the problem if the user gets another page. */
async function lostAddress(stage: Stage): Promise<string | undefined> {
  const { returnField, userPage } = stage.site
  if (returnField === undefined) return undefined
  const { pathname } = new URL(userPage)
  const target = `${pathname}?examined=back`
  const browser = stage.browser()
  const { form } = await stage.loginForm(browser)
  const page = await stage.submit(browser, form, stage.account(), { fields: { [returnField]: target } })
  if (page.url.searchParams.get('examined') === 'back') return undefined
  return `the login form with ${returnField} ${JSON.stringify(target)} leads to ${page.url.pathname}: the return address is lost`
}

export const returnAddress: Check = {
  name: 'login/return-address',
  run: async (stage) => {
    await stage.login(stage.browser())
    const places = [...(await returnPlacesOfLogin(stage)), ...(await returnPlacesOfLogout(stage))]
    if (places.length === 0) return notApplicable('neither the login nor the logout has a return address')
    const problems: string[] = []
    for (const [name, attempt] of places) {
      for (const target of hostileAddresses(stage.site.url)) {
        const page = await attempt(target)
        const reached = page.next === undefined ? hostileLink(page) : new URL(page.next).href
        stage.tried(`${name} ${JSON.stringify(target)}: ${reached ?? `${outcomeOf(page)} ${page.url.pathname}`}`)
        if (reached !== undefined) problems.push(`${name} ${JSON.stringify(target)} leads to ${reached}`)
      }
    }
    const lost = await lostAddress(stage)
    if (lost !== undefined) problems.push(lost)
    return noneOf(problems)
  },
}
