/** Group `identify`: requests that are redirected to Identify, the number of redirects, and the request token. */
import { oldBrowser, type Page } from '../browser'
import { type Check, failed, failedIf, failedIfAny, need, noneOf, notApplicable, passed, warning } from '../check'
import { isAnyError, outcomeOf, responseOf } from '../outcome'
import { isLoopbackHost } from '../request'
import { pause, type Stage } from '../stage'
import { decodeToken, isSignedWith } from '../tokens'
import { redirectProblem } from './redirects'

/** Runs a check only against a site whose first page load goes through Identify. */
export function onFirstLoad(run: Check['run']): Check['run'] {
  const onDemand = notApplicable('the first page load of this site does not go through Identify')
  return async (stage) => (stage.site.isIdentifiedAlways ? run(stage) : onDemand)
}

const firstVisit: Check = {
  name: 'identify/first-visit',
  run: onFirstLoad(async (stage) => {
    const address = `${stage.site.publicPage}?examined=a%20b&list=1&list=2&sign=%2B%26&mark=%C3%B8`
    const page = await stage.visit(stage.browser(), address)
    const redirects = stage.identifies(page)
    need(redirects > 0, 'the first page load was not redirected to Identify this time')
    if (isAnyError(page)) return failed(`the visit ends with ${outcomeOf(page)}`)
    const problem = redirectProblem(stage, page, 1)
    if (problem !== undefined) return failed(`the first page load ${problem}`)
    const [asked, end] = [new URL(address), page.url].map(({ pathname, search }) => pathname + search)
    return failedIf(page.url.href !== address, `the visit asks for ${asked} and ends at ${end}`)
  }),
}

const claimNames = ['aud', 'cid', 'exp', 'iat', 'iss', 'nbf']

const requestToken: Check = {
  name: 'identify/request-token',
  run: async (stage) => {
    const { t } = await identifyRequest(stage)
    const token = decodeToken(t)
    if (!token) return failed('t is not a JWT')
    const { header, claims } = token
    const { organisationId, ssoIdentifier, clientId, clientSecret } = stage.platform.addresses
    const [nbf, iat] = [Number(claims['nbf']), Number(claims['iat'])]
    const lifetime = Number(claims['exp']) - iat
    const extra = Object.keys(claims).filter((name) => !claimNames.includes(name))
    return failedIfAny([
      [header['alg'] !== 'HS256' || header['typ'] !== 'JWT', 'the header is not HS256 and JWT'],
      [!isSignedWith(t, clientSecret), "the signature is not made with the client's secret"],
      [claims['cid'] !== clientId, 'cid is not the client ID'],
      [claims['iss'] !== organisationId, 'iss is not the organisation ID'],
      [claims['aud'] !== ssoIdentifier, 'aud is not the SSO system'],
      [!Number.isSafeInteger(iat) || nbf !== iat, 'nbf and iat are not the same whole second'],
      [lifetime !== 10, `exp is ${lifetime} s after iat, not 10`],
      [extra.length > 0, `extra claims: ${extra.join(', ')}`],
    ])
  },
}

const VISITS_APART_MS = 3000
const MAX_AGE_SECONDS = 2
/** Part of the second at which the second browser comes: a time that is rounded up then lies in the future. */
const LATE_IN_SECOND_MS = 650

/** Finds a link or form to Identify on a page, whose token was made with the page. */
async function linkProblem(stage: Stage): Promise<string | undefined> {
  const browser = stage.browser()
  for (const address of new Set([stage.site.publicPage, stage.site.loginPage])) {
    const { status, links, forms, url } = await stage.visit(browser, address)
    const targets = [...links.map(({ href }) => href), ...forms.map(({ action }) => action)]
    if (status === 200 && targets.some((target) => stage.platform.isIdentify(new URL(target))))
      return `the page ${url.pathname} has a link to Identify, whose request token was made with the page: a reader who clicks more than 10 s later sends an expired token. Link to an address of the site, which makes the token when it redirects`
  }
  return undefined
}

/** Redirects two new browsers to Identify, some seconds apart. Each must get a token that was made for it. */
const freshToken: Check = {
  name: 'identify/fresh-token',
  run: async (stage) => {
    const first = await identifyRequest(stage)
    await pause(VISITS_APART_MS)
    await pause((1000 + LATE_IN_SECOND_MS - (Date.now() % 1000)) % 1000)
    const second = await identifyRequest(stage)
    const apart = ((second.at - first.at) / 1000).toFixed(1)
    if (first.t === second.t) return failed(`two visitors, ${apart} s apart, get the same request token`)
    const ages = [first, second].map(({ t, at }) => at / 1000 - Number(decodeToken(t)?.claims['iat']))
    const age = Math.max(...ages)
    need(Number.isFinite(age), 't is not a JWT with iat')
    if (age > MAX_AGE_SECONDS)
      return failed(
        `iat of the request token is ${age.toFixed(1)} s before the redirect: the token was made for an earlier one, or the clock of the site is behind`,
      )
    const ahead = Number(decodeToken(second.t)?.claims['iat']) - second.until / 1000
    if (ahead > 0 && isLoopbackHost(new URL(stage.site.url).hostname))
      return failed(
        `iat of the request token is ${ahead.toFixed(1)} s after the redirect, so the platform takes it as not yet valid: the site rounds the time (round, ceil) instead of cutting it (floor), or its clock is ahead`,
      )
    const link = await linkProblem(stage)
    return link === undefined ? passed() : failed(link)
  },
}

/** Returns the parameters with which a new browser is redirected to Identify, and the time of its request. */
async function identifyRequest(
  stage: Stage,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ t: string; r: string; page: string; at: number; until: number }> {
  const page = `${stage.identifiedPage}?examined=return`
  const opened = await stage.openHere(stage.browser(), page, { headers })
  need(opened.next, 'a new browser was not redirected to Identify')
  const query = new URL(opened.next).searchParams
  return { t: String(query.get('t')), r: String(query.get('r')), page, at: opened.at, until: opened.at + opened.ms }
}

const ATTACKER = 'attacker.invalid'
/** Headers that a site behind no proxy gets from anybody. */
const forgedHosts: readonly (readonly [string, Record<string, string>])[] = [
  ['X-Forwarded-Host', { 'x-forwarded-host': ATTACKER, forwarded: `host=${ATTACKER}` }],
  ['Host', { host: ATTACKER }],
]

/** Opens pages with odd paths as a new browser. The visit must end where it began. */
async function oddPathProblem(stage: Stage): Promise<string | undefined> {
  for (const path of ['//attacker.invalid/examined', '/examined%2Fa%20b%C3%A4?sign=%26&debug_url=%2F']) {
    const address = stage.site.url + path
    const isAway = ({ hostname }: URL) => hostname === ATTACKER
    const page = await stage.browser().open(address, { stopAt: isAway })
    if (page.next !== undefined) return `a visit of ${path} ends at ${page.next}`
    const [identify] = page.hops.filter(({ url }) => stage.platform.isIdentify(url))
    if (!identify) continue
    const names = [...identify.url.searchParams.keys()].filter((name) => name !== 't' && name !== 'r')
    if (names.length > 0) return `the redirect to Identify has the parameters ${names.join(', ')} of the visitor`
    if (page.url.href !== address && !path.startsWith('//'))
      return `a visit of ${path} ends at ${page.url.pathname}${page.url.search}`
  }
  return undefined
}

/** Opens the site by another name of the same machine, as a visitor who leaves out www. A site need not respond to it. */
async function otherNameProblem(stage: Stage): Promise<string | undefined> {
  const url = new URL(stage.identifiedPage)
  const other = { localhost: '127.0.0.1', '127.0.0.1': 'localhost' }[url.hostname]
  if (other === undefined) return undefined
  url.hostname = other
  const page = await stage.visit(stage.browser(), url.href)
  if (stage.identifies(page) === 0) return undefined
  const loop = redirectProblem(stage, page, 4)
  const problem = loop ?? (isAnyError(page) ? `ends with ${outcomeOf(page)}` : undefined)
  return problem === undefined
    ? undefined
    : `a visit of ${url.origin}, another name of the site, ${problem}: the browser returns to ${stage.site.url} without the cookies of the name that was asked for. Redirect to the name of the site first`
}

/** Opens a page as a new browser. @returns the return address of the redirect to Identify, '' without a redirect */
async function returnAddressOf(
  stage: Stage,
  page: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { next } = await stage.openHere(stage.browser(), page, { headers })
  return next === undefined ? '' : (new URL(next).searchParams.get('r') ?? '')
}

/** Says if a return address leads to the page that was asked for, without its query. */
function lostQuery(r: string, page: string): string | undefined {
  if (!URL.canParse(r)) return undefined
  const [back, asked] = [new URL(r), new URL(page)]
  if (back.pathname !== asked.pathname || back.searchParams.has('examined')) return undefined
  return `the redirect to Identify has lost the query of ${asked.pathname}${asked.search}: r is ${r}`
}

const returnAddress: Check = {
  name: 'identify/return-address',
  run: async (stage) => {
    const { r, page } = await identifyRequest(stage)
    if (!URL.canParse(r)) return failed('r is not an absolute address')
    const [back, asked] = [new URL(r), new URL(page)]
    if (back.origin !== asked.origin) return failed(`r leads to ${back.origin}`)
    const userPage = `${stage.site.userPage}?examined=return`
    const ofUserPage = userPage === page ? r : await returnAddressOf(stage, userPage)
    const lost = lostQuery(r, page) ?? lostQuery(ofUserPage, userPage)
    if (lost !== undefined) return failed(lost)
    for (const [name, headers] of forgedHosts) {
      const forged = await returnAddressOf(stage, page, headers)
      if (URL.canParse(forged) && new URL(forged).hostname === ATTACKER)
        return failed(`with ${name}: ${ATTACKER} in the request, r leads to ${new URL(forged).origin}`)
    }
    const odd = (await oddPathProblem(stage)) ?? (await otherNameProblem(stage))
    if (odd !== undefined) return failed(odd)
    const isSame = back.pathname === asked.pathname && back.searchParams.get('examined') === 'return'
    return failedIf(
      stage.site.isIdentifiedAlways && !isSame,
      `r leads to ${back.pathname}${back.search} instead of ${asked.pathname}${asked.search}`,
    )
  },
}

const fetchMetadata = (dest: string, mode: string) => ({
  'sec-fetch-dest': dest,
  'sec-fetch-mode': mode,
  'sec-fetch-site': 'same-origin',
})

type OtherRequest = readonly [name: string, method: string, headers: Record<string, string>]
const otherRequests: readonly OtherRequest[] = [
  ['a script', 'GET', { ...fetchMetadata('script', 'no-cors'), accept: '*/*' }],
  ['an image', 'GET', { ...fetchMetadata('image', 'no-cors'), accept: 'image/avif,image/webp,*/*' }],
  ['a fetch', 'GET', { ...fetchMetadata('empty', 'cors'), accept: 'application/json' }],
  ['a fetch of a browser without Fetch Metadata', 'GET', { ...oldBrowser, accept: '*/*' }],
  ['a POST', 'POST', {}],
  ['a HEAD', 'HEAD', {}],
  ['a prefetch', 'GET', { 'sec-purpose': 'prefetch', purpose: 'prefetch' }],
  ['a prerender', 'GET', { 'sec-purpose': 'prefetch;prerender' }],
]
const bots: readonly OtherRequest[] = [
  ['a known bot', 'GET', { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }],
  [
    'another known bot',
    'GET',
    { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)' },
  ],
]

/** A phone whose name has the word bot. */
const PHONE =
  'Mozilla/5.0 (Linux; Android 11; CUBOT X50) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36'

/** Is the prefetched page of a visitor one that the browser keeps, and shows to a user later? */
const isKept = ({ status, headers }: Page) =>
  status === 200 &&
  /max-age=[1-9]/i.test(headers['cache-control'] ?? '') &&
  !/no-store|no-cache/i.test(headers['cache-control'] ?? '')

const navigationsOnly: Check = {
  name: 'identify/navigations-only',
  run: onFirstLoad(async (stage) => {
    const control = await stage.openHere(stage.browser(), stage.site.publicPage)
    need(control.next, 'a page load was not redirected to Identify this time')
    const problems: string[] = []
    const redirectedBots: string[] = []
    for (const request of [...otherRequests, ...bots]) {
      const [name, method, headers] = request
      const fields = method === 'POST' ? { fields: { examined: '1' } } : {}
      const page = await stage.openHere(stage.browser(), stage.site.publicPage, { method, headers, ...fields })
      need(page.status !== 0, `${name} got no response`)
      // a POST may redirect to a page, and the browser opens the page as usual
      const isRedirected = page.next !== undefined && (method !== 'POST' || page.hops.length === 1)
      if (isRedirected) (bots.includes(request) ? redirectedBots : problems).push(`${name} is redirected to Identify`)
      if (name === 'a prefetch' && isKept(page))
        problems.push(
          `a prefetch gets the page of a visitor with Cache-Control: ${page.headers['cache-control']}: the browser shows it to a user who is logged in on another site`,
        )
    }
    const phone = await stage.openHere(stage.browser(), stage.site.publicPage, { headers: { 'user-agent': PHONE } })
    if (phone.next === undefined)
      problems.push('a phone with CUBOT in its User-Agent is not redirected to Identify: the site takes it for a bot')
    if (problems.length > 0 || redirectedBots.length === 0) return noneOf([...problems, ...redirectedBots])
    return warning(redirectedBots.join('; '), 'Search engines see redirects instead of pages.')
  }),
}

const withoutCookies: Check = {
  name: 'identify/without-cookies',
  run: onFirstLoad(async (stage) => {
    const browser = stage.browser()
    browser.hasCookies = false
    const page = await stage.visit(browser)
    const redirects = stage.identifies(page)
    need(redirects > 0, 'the page load was not redirected to Identify this time')
    const problem = redirectProblem(stage, page, 3)
    if (problem !== undefined) return failed(`a browser without cookies ${problem}`)
    return failedIf(
      page.status !== 200,
      `a browser without cookies gets ${outcomeOf(page)} after ${redirects} Identify redirects`,
    )
  }),
}

/** Time after which a mark in the address, which stops redirects without end, must hold no more. */
const MARK_SECONDS = 65

/** Opens the address at which a browser without cookies has ended, as a reader who got it from a friend. */
const sharedAddress: Check = {
  name: 'identify/shared-address',
  isSlow: true,
  run: onFirstLoad(async (stage) => {
    const browser = stage.browser()
    browser.hasCookies = false
    const page = await stage.visit(browser)
    need(stage.identifies(page) > 0, 'the page load was not redirected to Identify this time')
    need(page.next === undefined && page.status === 200, 'a browser without cookies was not served')
    if (page.url.href === stage.site.publicPage) return passed()
    await stage.run.wait(MARK_SECONDS * 1000)
    const reader = stage.browser()
    const { account } = await stage.loginElsewhere(reader)
    const opened = await stage.visit(reader, page.url.href)
    if (stage.identifies(opened) > 0 || (await stage.isKnown(reader, account))) return passed()
    return warning(
      `a browser without cookies ends at ${page.url.pathname}${page.url.search}, an address that is shared and bookmarked: a reader who is logged in on another site and opens it ${MARK_SECONDS} s later is not redirected to Identify, and is shown as a visitor`,
    )
  }),
}

const once: Check = {
  name: 'identify/once',
  run: async (stage) => {
    const { isIdentifiedAlways, publicPage, loginPage } = stage.site
    const page = isIdentifiedAlways ? publicPage : loginPage
    const browser = stage.browser()
    need(stage.identifies(await stage.visit(browser, page)) > 0, 'the first page load was not redirected to Identify')
    for (let count = 2; count <= 6; count += 1) {
      const next = await stage.visit(browser, page)
      if (stage.identifies(next) > 0)
        return failed(`page load ${count} of the same browser goes through Identify again`)
      need(next.status === 200, `page load ${count} ${responseOf(next)}`)
    }
    return passed()
  },
}

export const identifyChecks: readonly Check[] = [
  firstVisit,
  requestToken,
  freshToken,
  returnAddress,
  navigationsOnly,
  withoutCookies,
  sharedAddress,
  once,
]
