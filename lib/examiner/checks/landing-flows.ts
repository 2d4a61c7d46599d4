/**
 * Group `landing`, flows at the landing page (the callback URL).
 * Checks foreign tokens, reused tokens, open redirects, prefetches, and traces of the token.
 */
import { type Browser, crossSite, type Page } from '../browser'
import { type Check, failed, failedIf, failedIfAny, need, noneOf, type Problem, passed, warning } from '../check'
import { isServerError, outcomeOf } from '../outcome'
import { holds } from '../secrets'
import { ignoreUndecided, pause, type Stage } from '../stage'
import { decodeToken } from '../tokens'
import { hostileAddresses, hostileLink, isHostile } from './hostile'
import { type Arrival, arrive, needGenuine } from './landing'
import { loggedIn } from './logged-in'
import { staleChecks } from './stale'

/** A victim of a link: the browser's description, and its visit before. */
type Victim = readonly [name: string, visit: (stage: Stage, browser: Browser) => Promise<unknown>]

const victims: readonly Victim[] = [
  ['that was never here', async () => undefined],
  ['that has visited the site', visitBefore],
]

/** Visits the site, so that the browser has all cookies that the site sets before a login. */
async function visitBefore(stage: Stage, browser: Browser): Promise<void> {
  await stage.visit(browser)
  await stage.visit(browser, stage.site.loginPage)
}

/** A forgery: its description, and the forged form of the attacker's landing address. */
type Forgery = readonly [name: string, forge: (attacker: Arrival) => string]

const unchanged: Forgery = ['', ({ address }) => address.href]

/** Creates a forgery that changes the parameters of the return address. */
const changedReturn = (name: string, change: (parameters: URLSearchParams) => void): Forgery => [
  `, ${name} in r`,
  ({ address, back }) => {
    const [forged, forgedBack] = [new URL(address), new URL(back)]
    change(forgedBack.searchParams)
    forged.searchParams.set('r', forgedBack.href)
    return forged.href
  },
]

/** Returns forgeries, because a site may check its own parameter of `r` only if the parameter is there. */
function forgeriesOf({ back }: Arrival): Forgery[] {
  const names = [...new Set(back.searchParams.keys())]
  const all = changedReturn('without any parameter', (parameters) => {
    for (const name of names) parameters.delete(name)
  })
  return [
    ...names.flatMap((name) => [
      changedReturn(`without ${name}`, (parameters) => parameters.delete(name)),
      changedReturn(`with an empty ${name}`, (parameters) => parameters.set(name, '')),
    ]),
    ...(names.length > 1 ? [all] : []),
  ]
}

/** Sends a victim to the attacker's address. */
type Send = (stage: Stage, victim: Browser, address: string) => Promise<unknown>

const asLink: Send = (stage, victim, address) => stage.openHere(victim, address)

/** Sends the parameters as the fields of a form on the attacker's page. */
const asForm: Send = (stage, victim, address) => {
  const { origin, pathname, searchParams } = new URL(address)
  const fields = Object.fromEntries(searchParams)
  return stage.openHere(victim, origin + pathname, { method: 'POST', fields, headers: crossSite })
}

const loginCsrf: Check = {
  name: 'landing/login-csrf',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    const attack = async ([forgeryName, forge]: Forgery, send = asLink) => {
      for (const [victimName, visit] of victims) {
        const attacker = await arrive(stage)
        const victim = stage.browser()
        await visit(stage, victim)
        await send(stage, victim, forge(attacker))
        const isCaught = await stage.isKnown(victim, attacker.account)
        const attempt = `a browser ${victimName}, the attacker's landing address${forgeryName}`
        stage.tried(`${attempt}: ${isCaught ? 'logged in as the attacker' : 'not logged in'}`)
        if (isCaught)
          problems.push(
            `a browser ${victimName} is logged in as the attacker by the attacker's landing address${forgeryName}`,
          )
      }
    }
    await attack(unchanged)
    await attack([', sent as a form', unchanged[1]], asForm)
    const own = await loggedIn(stage)
    await stage.openHere(own.browser, (await arrive(stage)).address.href)
    if (!(await stage.isKnown(own.browser, own.account)))
      problems.push("a user who is logged in here loses the login by the attacker's landing address")
    for (const forgery of forgeriesOf(await arrive(stage))) await attack(forgery)
    return noneOf(problems)
  },
}

const replaySame: Check = {
  name: 'landing/replay-after-logout',
  run: async (stage) => {
    const { browser, account, address } = await arrive(stage)
    await stage.openHere(browser, address.href)
    need(await stage.isKnown(browser, account), 'the genuine token did not log its user in')
    const again = await stage.openHere(browser, address.href)
    if (isServerError(again)) return failed(`a reload of the landing address ends with ${outcomeOf(again)}`)
    if (!(await stage.isKnown(browser, account))) return failed('a reload of the landing address logs the user out')
    await stage.logout(browser)
    need(!(await stage.isKnown(browser, account)), 'the logout did not work')
    await stage.openHere(browser, address.href)
    return failedIf(
      await stage.isKnown(browser, account),
      'after the logout, the old landing address logs the user in again',
    )
  },
}

const replayOther: Check = {
  name: 'landing/replay-elsewhere',
  run: async (stage) => {
    const { browser, account, address } = await arrive(stage)
    await stage.openHere(browser, address.href)
    need(await stage.isKnown(browser, account), 'the genuine token did not log its user in')
    const thief = stage.browser()
    await stage.openHere(thief, address.href)
    return failedIf(await stage.isKnown(thief, account), 'a used landing address logs in a second browser')
  },
}

const openRedirect: Check = {
  name: 'landing/open-redirect',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    for (const target of hostileAddresses(stage.site.url)) {
      const browser = stage.browser()
      const address = await stage.landing(browser)
      address.searchParams.set('r', target)
      const page = await browser.open(address.href, {
        stopAt: (url) => isHostile(url) || stage.platform.isIdentify(url),
      })
      const { href, origin, pathname } = page.next === undefined ? page.url : new URL(page.next)
      stage.tried(`r=${JSON.stringify(target)}: ${origin}${pathname}`)
      const reached = isHostile(new URL(href)) ? href : hostileLink(page)
      if (reached !== undefined) problems.push(`r=${JSON.stringify(target)} leads to ${reached}`)
      else if (page.status >= 500) problems.push(`r=${JSON.stringify(target)} responds ${page.status}`)
    }
    const formPage = await sendReturnAsForm(stage)
    if (formPage.next !== undefined)
      problems.push(
        `a form with r in its body leads to ${formPage.next}: the landing page checks r of the address and follows r of the body`,
      )
    return noneOf(problems)
  },
}

/** Sends a form to the landing page, with the right r in the address and another one in the body. */
async function sendReturnAsForm(stage: Stage): Promise<Page> {
  const browser = stage.browser()
  const address = await stage.landing(browser)
  const fields = { t: String(address.searchParams.get('t')), r: 'https://attacker.invalid/' }
  address.searchParams.delete('t')
  return browser.open(address.href, { method: 'POST', fields, stopAt: isHostile })
}

const consumesNothing: Check = {
  name: 'landing/prefetch',
  run: async (stage) => {
    const variants: readonly [string, Record<string, string>, string][] = [
      ['a HEAD request', {}, 'HEAD'],
      ['a prefetch', { 'sec-purpose': 'prefetch', purpose: 'prefetch' }, 'GET'],
      ['a prerender', { 'sec-purpose': 'prefetch;prerender' }, 'GET'],
    ]
    await needGenuine(stage)
    const problems: string[] = []
    for (const [name, headers, method] of variants) {
      const { browser, account, address } = await arrive(stage)
      // the response and its cookies are dropped, as a link scanner or a prefetch drops them
      await stage.openHere(browser.copy('Browser A, thrown away'), address.href, { method, headers })
      await stage.openHere(browser, address.href)
      if (!(await stage.isKnown(browser, account)))
        problems.push(`after ${name} of the landing address, its user cannot land`)
    }
    return problems.length === 0 ? passed() : warning(problems.join('; ')) // rare: the scanner needs the cookies
  },
}

/** Orders in which tabs land that are opened at the same time. A browser may open many tabs when it starts. */
const ORDERS = [
  ['first', 'second'],
  ['second', 'first'],
  ['first', 'second', 'third', 'fourth', 'fifth'],
]

/** Opens tabs of a browser. A site may redirect only some of them to Identify, but at least two. */
async function openTabs(stage: Stage, browser: Browser, tabs: readonly string[]): Promise<Map<string, URL>> {
  const landings = new Map<string, URL>()
  for (const tab of tabs) {
    const landing = stage.landing(browser, `${stage.identifiedPage}?tab=${tab}`)
    if (landings.size < 2) landings.set(tab, await landing)
    else await landing.then((address) => landings.set(tab, address)).catch(ignoreUndecided)
  }
  return landings
}

/** Opens tabs before the site knows the browser. Each must land, whether the others have landed or not. */
const twoTabs: Check = {
  name: 'landing/two-tabs',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    const ends: string[] = []
    for (const order of ORDERS) {
      const browser = stage.browser()
      const { account } = await stage.loginElsewhere(browser)
      const isPair = order.length === 2
      const landings = await openTabs(stage, browser, isPair ? ['first', 'second'] : order)
      for (const tab of order.filter((one) => landings.has(one))) {
        const landed = await stage.openHere(browser, String(landings.get(tab)))
        ends.push(landed.url.pathname + landed.url.search)
        const turn = tab === order[0] ? 'first' : `after the other${isPair ? '' : 's'}`
        const when = `${isPair ? 'two' : landings.size} tabs are redirected to Identify, and the ${tab} one lands ${turn}`
        if (isServerError(landed)) problems.push(`${when}: ${outcomeOf(landed)}`)
        else if (landed.next === undefined && landed.url.searchParams.get('tab') !== tab)
          problems.push(`${when}: it ends at ${landed.url.pathname}${landed.url.search}, and not at its own page`)
        if (!(await stage.isKnown(browser, account))) problems.push(`${when}: its user is not logged in`)
      }
    }
    const { pathname } = new URL(stage.identifiedPage)
    if (ends.every((end) => end === pathname))
      return failed(`each tab ends at ${pathname} without the query of its page: the redirect to Identify has lost it`)
    return noneOf(problems)
  },
}

/** Logs in in a second tab while the first one, which is still anonymous, is on its way back from Identify. */
const anonymousTab: Check = {
  name: 'landing/anonymous-tab',
  run: async (stage) => {
    const browser = stage.browser()
    const first = await stage.landing(browser)
    const claims = decodeToken(String(first.searchParams.get('t')))?.claims
    need(claims?.['sts'] === 'anon', 'the platform of the examiner sent no visitor to the landing page')
    await pause(1000 - (Date.now() % 1000)) // tokens of the same second are the same token, which a site takes once
    const account = await stage.login(browser)
    need(
      Date.now() < Number(claims['exp']) * 1000,
      'the login took so long that the token of the first tab has expired',
    )
    const page = await stage.openHere(browser, first.href)
    if (isServerError(page)) return failed(`the first tab gets ${outcomeOf(page)}`)
    return failedIf(
      !(await stage.isShown(browser, account)),
      'a user logs in in a second tab, then the first tab, which was redirected to Identify before the login, lands as a visitor: the user is logged out',
    )
  },
}

const SESSION_ID = 'the SSO session ID'

const leavesNothing: Check = {
  name: 'landing/leaves-nothing',
  run: async (stage) => {
    const { browser, account, address, token, claims } = await arrive(stage)
    const page = await browser.open(address.href)
    need(
      stage.shows(page, account) || (await stage.isKnown(browser, account)),
      'the genuine token did not log its user in',
    )
    const cookies = browser.cookies.of(new URL(stage.site.url)).map(({ value }) => decodeURIComponent(value))
    const secrets: readonly [string, string][] = [
      ['the token', token],
      ['the ticket', String(claims['at'])],
      [SESSION_ID, String(claims['sid'])],
    ]
    const { output } = stage
    const plain = (text: string) => `${text} ${Buffer.from(text, 'base64').toString('latin1')}`
    return failedIfAny(
      secrets.flatMap(([name, secret]): Problem[] => [
        [page.url.href.includes(secret), `${name} stays in the address`],
        [page.text.includes(secret), `${name} is in the page`],
        [cookies.some((value) => plain(value).includes(secret)), `${name} is in a cookie`],
        [name !== SESSION_ID && holds(output, secret), `${name} is in the site's output, such as an access log`],
      ]),
    )
  },
}

export const landingFlowChecks: readonly Check[] = [
  loginCsrf,
  staleChecks.newAtLanding,
  replaySame,
  replayOther,
  openRedirect,
  consumesNothing,
  twoTabs,
  anonymousTab,
  leavesNothing,
]
