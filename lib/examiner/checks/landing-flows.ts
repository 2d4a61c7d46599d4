/**
 * Group `landing`, flows at the landing page (the callback URL).
 * Checks foreign tokens, reused tokens, open redirects, prefetches, and traces of the token.
 */
import type { Browser } from '../browser'
import { type Check, failed, failedIf, failedIfAny, need, noneOf, type Problem } from '../check'
import { isServerError, outcomeOf } from '../outcome'
import { holds } from '../secrets'
import { pause, type Stage } from '../stage'
import { decodeToken } from '../tokens'
import { hostileAddresses, isHostile } from './hostile'
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

const loginCsrf: Check = {
  name: 'landing/login-csrf',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    const attack = async ([forgeryName, forge]: Forgery) => {
      for (const [victimName, visit] of victims) {
        const attacker = await arrive(stage)
        const victim = stage.browser()
        await visit(stage, victim)
        await stage.openHere(victim, forge(attacker))
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
    if (!(await stage.isShown(browser, account))) return failed('a reload of the landing address logs the user out')
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
      const { origin, pathname } = page.next === undefined ? page.url : new URL(page.next)
      stage.tried(`r=${JSON.stringify(target)}: ${origin}${pathname}`)
      if (page.next !== undefined && isHostile(new URL(page.next)))
        problems.push(`r=${JSON.stringify(target)} leads to ${new URL(page.next).href}`)
      else if (page.status >= 500) problems.push(`r=${JSON.stringify(target)} responds ${page.status}`)
    }
    return noneOf(problems)
  },
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
    return noneOf(problems)
  },
}

/** Opens two tabs before the site knows the browser. Each must land, whether the other one has landed or not. */
const twoTabs: Check = {
  name: 'landing/two-tabs',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    for (const order of [
      ['first', 'second'],
      ['second', 'first'],
    ]) {
      const browser = stage.browser()
      const { account } = await stage.loginElsewhere(browser)
      const page = (tab: string) => `${stage.identifiedPage}?tab=${tab}`
      const first = await stage.landing(browser, page('first'))
      const second = await stage.landing(browser, page('second'))
      for (const tab of order) {
        const landed = await stage.openHere(browser, (tab === 'first' ? first : second).href)
        const when = `two tabs are redirected to Identify, and the ${tab} one lands${tab === order[0] ? ' first' : ' after the other'}`
        if (isServerError(landed)) problems.push(`${when}: ${outcomeOf(landed)}`)
        else if (landed.next === undefined && landed.url.searchParams.get('tab') !== tab)
          problems.push(`${when}: it ends at ${landed.url.pathname}${landed.url.search}, and not at its own page`)
        if (!(await stage.isKnown(browser, account))) problems.push(`${when}: its user is not logged in`)
      }
    }
    return noneOf(problems)
  },
}

/** Logs in in a second tab while the first one, which is still anonymous, is on its way back from Identify. */
const anonymousTab: Check = {
  name: 'landing/anonymous-tab',
  run: async (stage) => {
    const browser = stage.browser()
    const first = await stage.landing(browser)
    const claims = decodeToken(first.searchParams.get('t') ?? '')?.claims
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
    const output = stage.run.siteOutput?.() ?? ''
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
