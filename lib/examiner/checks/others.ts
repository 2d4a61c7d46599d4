/** Groups `clock` and `headers`. */
import { type Check, failed, failedIf, need, noneOf, passed, warning } from '../check'
import { matchesOf } from '../html'
import { isServerError, outcomeOf } from '../outcome'
import type { Stage } from '../stage'
import { endpointsOf } from './endpoints'
import { loginAttempts } from './login-attempts'
import { redirectProblem } from './redirects'

/** Creates a check with another clock at the platform. The site must work, or refuse the token and show a page. */
const clockCheck = (name: string, seconds: number): Check => ({
  name: `clock/${name}`,
  isRough: true,
  run: async (stage) => {
    const browser = stage.browser()
    const { account } = await stage.loginElsewhere(browser)
    stage.platform.fault(['identify', 'authenticate', 'sessionstatus', 'logout'], { kind: 'skew', seconds })
    const page = await stage.visit(browser, stage.identifiedPage)
    const redirects = stage.identifies(page)
    need(redirects > 0, 'the page load was not redirected to Identify')
    if (isServerError(page)) return failed(`the visit ends with ${outcomeOf(page)}`)
    const problem = redirectProblem(stage, page, page.next === undefined ? 4 : 0)
    if (problem !== undefined) return failed(`the visit ${problem}`)
    const isKnown = await stage.isKnown(browser, account)
    if (Math.abs(seconds) > 60 && isKnown)
      return failed(`a token was accepted whose time is ${Math.abs(seconds) / 60} minutes off`)
    if (Math.abs(seconds) <= stage.run.settings.clockToleranceSeconds && !isKnown)
      return failed('a few seconds of difference keep the user out')
    return passed()
  },
})

const framing: Check = {
  name: 'headers/login-framing',
  run: async (stage) => {
    const { page } = await stage.loginForm(stage.browser())
    const [, ancestors] = /frame-ancestors([^;]*)/i.exec(page.headers['content-security-policy'] ?? '') ?? []
    // browsers ignore X-Frame-Options if there is frame-ancestors
    const isDenied =
      ancestors === undefined
        ? /deny|sameorigin/i.test(page.headers['x-frame-options'] ?? '')
        : !/(?:^|\s)(?:\*|https?:)(?:\s|$)/.test(ancestors)
    return failedIf(!isDenied, 'the login page can be shown inside a page of another site')
  },
}

/** Loads the user's page, and what its scripts load, as a script of another site does. It must not be able to read them. */
const crossOrigin: Check = {
  name: 'headers/cross-origin',
  run: async (stage) => {
    const browser = stage.browser()
    const account = await stage.login(browser)
    const problems: string[] = []
    const { origin: own, host } = new URL(stage.site.url)
    const addresses = (await endpointsOf(stage, browser, account)).map(({ address }) => address)
    for (const address of [stage.site.userPage, ...addresses])
      for (const origin of ['https://attacker.invalid', 'null', `${own}.attacker.invalid`, `http://attacker-${host}`]) {
        const headers = { origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }
        const page = await stage.openHere(browser, address, { headers })
        const { 'access-control-allow-origin': allowed, 'access-control-allow-credentials': isWithCookies } =
          page.headers
        if (allowed === origin && isWithCookies === 'true')
          problems.push(
            `a script with Origin: ${origin} can read ${new URL(address).pathname}: it has Access-Control-Allow-Credentials: true`,
          )
      }
    need(await stage.isKnown(browser, account), 'the user is not shown after the login')
    return noneOf(problems)
  },
}

const STRICT = /^(?:no-referrer|origin|strict-origin|same-origin|strict-origin-when-cross-origin)$/i

const referrer: Check = {
  name: 'headers/referrer-policy',
  run: async (stage) => {
    const browser = stage.browser()
    const address = await stage.landing(browser)
    const identify = stage.hops.find(
      ({ location }) => location !== undefined && stage.platform.isIdentify(new URL(location)),
    )
    need(identify, 'no redirect to Identify was seen')
    const landing = await stage.openHere(browser, address.href)
    const [landed] = landing.hops
    const responses: readonly [string, string | undefined][] = [
      ['the redirect to Identify', identify.headers['referrer-policy']],
      ['the landing page', landed?.headers['referrer-policy']],
    ]
    return noneOf(
      responses
        .filter(([, policy]) => !STRICT.test(policy?.split(',').pop()?.trim() ?? ''))
        .map(([name]) => `${name} has no strict Referrer-Policy`),
    )
  },
}

const image = { accept: 'image/avif,image/webp,*/*', 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' }
const MAX_ASSETS = 8

/** Returns the addresses of scripts, styles and images of a page, and of those that each browser asks for. */
function assetsOf(text: string, page: string): string[] {
  const found = matchesOf(text, /(?:src|href)="?([^"\s>]+\.(?:js|css|png|jpe?g|gif|svg|webp|ico))/g)
  return ['/favicon.ico', '/robots.txt', ...found]
    .filter((path) => URL.canParse(path, page))
    .map((path) => new URL(path, page))
    .filter(({ origin }) => origin === new URL(page).origin)
    .map(({ href }) => href)
    .slice(0, MAX_ASSETS)
}

/** Loads pages while logins fail, because a site may then answer with an error page. */
async function lookInOutage(stage: Stage): Promise<void> {
  const { publicPage, loginPage, userPage } = stage.site
  const browser = stage.browser()
  const tryLogin = await loginAttempts(stage)
  const end = stage.platform.fault(['authenticate', 'sessionstatus', 'token', 'me'], { kind: 'status', code: 503 })
  for (let count = 0; count < 3; count += 1) await tryLogin()
  for (const page of new Set([publicPage, loginPage, userPage])) await stage.look(browser, page)
  end()
}

const cacheControl: Check = {
  name: 'headers/cache-control',
  isLast: true,
  isRough: true,
  run: async (stage) => {
    const browser = stage.browser()
    await stage.login(browser)
    const { text } = await stage.visit(browser, stage.site.publicPage)
    for (const address of assetsOf(text, stage.site.publicPage))
      await stage.openHere(browser, address, { headers: image })
    const site = new URL(stage.site.url).origin
    const setting = stage.hops.filter(({ setCookie, url }) => setCookie.length > 0 && url.origin === site)
    need(setting.length > 0, 'no response of the site sets a cookie')
    const open = setting.filter(({ headers }) => !/no-store|private|no-cache/i.test(headers['cache-control'] ?? ''))
    const places = new Set(open.map(({ method, url }) => `${method} ${url.pathname}`))
    await stage.logout(browser)
    const kept = stage.hops.filter(({ url, location, status, headers }) => {
      const isStored = /public|s-maxage|max-age=[1-9]/i.test(headers['cache-control'] ?? '')
      return location !== undefined && url.origin === site && (status === 301 || status === 308 || isStored)
    })
    await lookInOutage(stage)
    return noneOf([
      ...stage.run.seen.keptErrors,
      ...[...places].map((place) => `${place} sets a cookie and may be kept by a shared cache`),
      ...kept.map(
        ({ method, url, status }) =>
          `${method} ${url.pathname} responds ${status}, a redirect that browsers keep and follow again without asking the site`,
      ),
    ])
  },
}

const banner: Check = {
  name: 'headers/version-banner',
  run: async (stage) => {
    const browser = stage.browser()
    await stage.login(browser)
    const page = await stage.look(browser)
    const names = ['server', 'x-powered-by', 'x-aspnet-version'].filter((name) => {
      const value = page.hops[0]?.headers[name] ?? ''
      return name === 'x-powered-by' ? value !== '' : /\d/.test(value)
    })
    return names.length === 0 ? passed() : warning(`the responses name their software: ${names.join(', ')}`)
  },
}

/** Sends requests that break careless sites, and judges all pages that other checks have seen. */
const stackTrace: Check = {
  name: 'headers/stack-trace',
  isLast: true,
  run: async (stage) => {
    const browser = stage.browser()
    const { landing, loginPage, url } = stage.site
    const pages = [
      await stage.openHere(browser, `${landing}?t=x&r=%00`),
      await stage.openHere(browser, `${url}/%E0%A4%A`),
      await stage.openHere(browser, loginPage, { method: 'POST', fields: { examined: '%' } }),
    ]
    need(await stage.login(browser), 'a login did not work')
    need(
      pages.some(({ status }) => status !== 0),
      'the site does not respond',
    )
    return noneOf(stage.run.seen.stackTraces.slice(0, 5))
  },
}

/** Loads pages as browsers do that send few headers. Then judges all responses that other checks have got. */
const serverErrors: Check = {
  name: 'headers/server-errors',
  isLast: true,
  run: async (stage) => {
    const bare = { 'user-agent': '', accept: '', 'accept-language': '', 'sec-fetch-dest': '', 'sec-fetch-mode': '' }
    const browser = stage.browser()
    for (const page of [stage.site.publicPage, stage.site.loginPage]) await browser.open(page, { headers: bare })
    const { form } = await stage.loginForm(browser)
    const account = stage.account()
    await stage.submit(browser, form, account, { headers: { 'user-agent': '', accept: '', 'accept-language': '' } })
    need(await stage.login(stage.browser()), 'a login did not work')
    return noneOf(stage.run.seen.serverErrors.slice(0, 5))
  },
}

export const clockChecks: readonly Check[] = [
  clockCheck('ahead-3-s', 3),
  clockCheck('behind-3-s', -3),
  clockCheck('ahead-30-s', 30),
  clockCheck('behind-30-s', -30),
  clockCheck('ahead-10-min', 600),
  clockCheck('behind-10-min', -600),
]

export const headerChecks: readonly Check[] = [
  framing,
  crossOrigin,
  referrer,
  cacheControl,
  banner,
  stackTrace,
  serverErrors,
]
