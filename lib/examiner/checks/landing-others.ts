/** Group `landing`, other requests: a newer token, a request token, anonymous visitors, and odd parameters. */
import type { Browser } from '../browser'
import { type Check, type Finding, failed, failedIf, failedIfAny, need, noneOf, passed, warning } from '../check'
import { isServerError, outcomeOf, responseOf } from '../outcome'
import { ignoreUndecided, pause, type Stage, waitUntil } from '../stage'
import { forge } from '../tokens'
import { arrive, needGenuine, withToken } from './landing'
import { loggedIn } from './logged-in'

/** Adds a claim to a genuine token. A later version of the platform may do so. */
const unknownClaim: Check = {
  name: 'landing/unknown-claim',
  run: async (stage) => {
    const { browser, account, address, claims } = await arrive(stage)
    const token = forge({ ...claims, added_later: { list: [1] } }, { secret: stage.platform.site.clientSecret })
    const page = await stage.openHere(browser, withToken(address, token))
    if (isServerError(page)) return failed(`the landing page ${responseOf(page)}`)
    return failedIf(!(await stage.isKnown(browser, account)), 'a token with one more claim is refused')
  },
}

const reflected: Check = {
  name: 'landing/request-token',
  run: async (stage) => {
    await needGenuine(stage)
    const { browser, account, address } = await arrive(stage)
    const page = await stage.openHere(browser, withToken(address, requestToken(stage, browser)))
    if (isServerError(page)) return failed(`the landing page ${responseOf(page)}`)
    if (await stage.isKnown(browser, account)) return failed('the request token was accepted as a Session Token')
    return keepsUserFinding(stage)
  },
}

/** Returns the request token of the browser's latest redirect to Identify. */
function requestToken(stage: Stage, { name }: Browser): string {
  const sent = stage.hops.filter(
    ({ url, browser }) =>
      browser === name && stage.platform.isIdentify(url) && url.searchParams.get('r') !== 'http://second.invalid/',
  )
  const token = sent.at(-1)?.url.searchParams.get('t')
  need(token, 'the request token of the site was not seen')
  return token
}

/** Lands with the request token in a second tab, after the first tab has logged the user in. */
async function keepsUserFinding(stage: Stage): Promise<Finding> {
  await pause(1000 - (Date.now() % 1000)) // request tokens of the same second are the same token, which a site takes once
  const browser = stage.browser()
  const { account } = await stage.loginElsewhere(browser)
  const [first, second] = [await stage.landing(browser), await stage.landing(browser)]
  await stage.openHere(browser, first.href)
  if (!(await stage.isKnown(browser, account))) return passed() // the check of two tabs finds this
  await stage.openHere(browser, withToken(second, requestToken(stage, browser)))
  return failedIf(
    !(await stage.isKnown(browser, account)),
    'the request token logs a logged-in user out: a token without sts and sid counts as that of a visitor',
  )
}

/** Lands in a second tab after the user has changed the account on another site. The first tab is logged in here. */
const otherAccount: Check = {
  name: 'landing/other-account',
  run: async (stage) => {
    const browser = stage.browser()
    const { account: first, sid } = await stage.loginElsewhere(browser)
    const landing = await stage.landing(browser)
    const { next } = await stage.openHere(browser, stage.identifiedPage)
    need(next, 'the second tab was not redirected to Identify')
    await stage.openHere(browser, landing.href)
    need(await stage.isKnown(browser, first), 'the first tab was not logged in')
    await stage.second.logout(sid)
    const { account: second } = await stage.loginElsewhere(browser)
    const page = await stage.openHere(browser, next)
    if (isServerError(page)) return failed(`the second tab gets ${outcomeOf(page)}`)
    const shown = await stage.look(browser)
    if (stage.showsOther(shown, first))
      return warning(
        `a second tab lands with a token of ${second.name}, and the page still shows ${first.name}, who has logged out on another site: the landing page ignores the token if somebody is logged in, or has dropped the binding of the second tab`,
      )
    return failedIf(!(await stage.isShown(browser, second)), 'the second account is not logged in here')
  },
}

const anonymous: Check = {
  name: 'landing/anonymous',
  run: async (stage) => {
    const browser = stage.browser()
    const address = await stage.landing(browser)
    const page = await browser.open(address.href)
    if (isServerError(page)) return failed(`the visit ends with ${outcomeOf(page)}`)
    const isShownUser = stage.platform.accounts.some((account) => stage.showsOther(page, account))
    if (isShownUser) return failed('an anonymous visitor is shown a user')
    return errorFinding(stage)
  },
}

/** Lets Identify send a token with `err`. The visitor must get a page, and the token must begin no session. */
async function errorFinding(stage: Stage): Promise<Finding> {
  const browser = stage.browser()
  const end = stage.platform.fault(['identify'], { kind: 'error', code: 'invalid_token' }, { times: 1 })
  const page = await stage.visit(browser, stage.identifiedPage)
  end()
  if (isServerError(page)) return failed(`a landing whose token has err ends with ${outcomeOf(page)}`)
  const [since, account] = [Date.now(), stage.account()]
  const isIn = async () => {
    await stage.login(browser, account).catch(ignoreUndecided)
    return stage.isKnown(browser, account)
  }
  const isInTime = await waitUntil(isIn, { withinMs: MAX_PAUSE_MS, everyMs: 1000 })
  const calls = stage.platform.calls(since, { operation: 'authenticate' })
  const outcome = calls.map(({ call }) => call.outcome).find((one) => one !== 'loggedin')
  return failedIfAny([
    [
      outcome !== undefined,
      `after a landing whose token has err, Authenticate has the session of this token: ${outcome}`,
    ],
    [!isInTime, 'after a landing whose token has err, its visitor cannot log in'],
  ])
}

/** Time that a site may pause after a refused token. */
const MAX_PAUSE_MS = 15_000

const parameters: Check = {
  name: 'landing/parameters',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    const { browser: user, account: own, sid } = await loggedIn(stage)
    await stage.openHere(user, `${stage.site.landing}?t=x`)
    if (!(await stage.isKnown(user, own))) problems.push('with a wrong t: a logged-in user is logged out')
    const past = Math.floor(Date.now() / 1000) - 3600
    const claims = { ...(await arrive(stage)).claims, sid, nbf: past, iat: past, exp: past + 10 }
    const expired = forge(claims, { secret: stage.platform.site.clientSecret })
    await stage.openHere(user, `${stage.site.landing}?t=${expired}`)
    if (!(await stage.isKnown(user, own)))
      problems.push('with a t of an hour ago, as in the history of the browser: a logged-in user is logged out')
    const variants: readonly [string, (query: URLSearchParams) => void][] = [
      ['without t', (query) => query.delete('t')],
      ['without r', (query) => query.delete('r')],
      ['with two different t', (query) => query.append('t', 'x.y.z')],
      ['with t as a list', (query) => query.set('t[]', 'x')],
      ['with two r', (query) => query.append('r', 'https://attacker.invalid/')],
      ['with an empty t', (query) => query.set('t', '')],
    ]
    for (const [name, change] of variants) {
      const { browser, address } = await arrive(stage)
      change(address.searchParams)
      const page = await stage.openHere(browser, address.href)
      if (isServerError(page)) problems.push(`${name}: ${outcomeOf(page)}`)
      if (page.hops.some(({ location }) => location?.includes('//attacker.invalid')))
        problems.push(`${name}: redirect to the attacker`)
    }
    return noneOf(problems)
  },
}

export const landingOtherChecks: readonly Check[] = [unknownClaim, reflected, otherAccount, anonymous, parameters]
