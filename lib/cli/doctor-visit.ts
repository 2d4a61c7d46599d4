/** Checks the first visit of a browser: the redirect to Identify, the binding cookie, and changes that a proxy makes to both. */
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Config } from '../config'
import { operationUrl } from '../protocol/requests'
import { about, errorCode, type Finding } from './doctor-finding'

const ANSWER_MS = 5000
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const MOUNT = 'app.use(sso)   before the pages that the site serves'

/** The response to a browser without cookies. */
interface RequestContext {
  /** Request and status as text for a finding. */
  readonly says: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Target of the redirect, if the target is Identify. */
  readonly identify: URL | undefined
}

/** Visits the front page, and the login page if the front page does not redirect to Identify. */
export async function* visitFindings(config: Config): AsyncGenerator<Finding> {
  const { ok, note, wrong } = about('first visit')
  const { login } = config.routes
  try {
    if (config.identify === 'on-demand' && login === false)
      return yield note(
        "identify is 'on-demand' and the login page is the site's own: open a guarded page in a browser",
      )
    const front = config.identify === 'always' ? await requestPage(config, '/') : undefined
    // where the login page is the site's own, only the front page is requested
    const last = front && (front.identify || login === false) ? front : await requestPage(config, String(login))
    if (!last.identify)
      return yield wrong(`${last.says} and does not redirect to Identify`, last.status === 503 ? 'see site' : MOUNT)
    yield front && front !== last
      ? note(`${front.says} and does not redirect to Identify. The login page does`, MOUNT)
      : ok(`${last.says} and redirects to Identify`)
    yield returnFinding(config, last.identify)
    yield cookieFinding(config, last.headers['set-cookie'] ?? [])
    yield cacheFinding(String(last.headers['cache-control']))
  } catch (error) {
    yield wrong(`the site does not answer: ${errorCode(error)}`, 'see site')
  }
}

/**
 * Requests a page of the site.
 * @param path below siteUrl
 */
export async function requestPage({ siteUrl, ssoUrl }: Config, path: string): Promise<RequestContext> {
  const url = siteUrl + path
  const browser = {
    accept: 'text/html',
    'sec-fetch-dest': 'document',
    'sec-fetch-mode': 'navigate',
    'user-agent': AGENT,
  }
  const { statusCode, headers } = await getPage(url, browser)
  const status = Number(statusCode) // each response has one
  const location = String(headers.location)
  const isIdentify = location.startsWith(`${operationUrl(ssoUrl, 'identify')}?`) && URL.canParse(location)
  const identify = isIdentify ? new URL(location) : undefined
  return { says: `GET ${url} answers HTTP ${status}`, status, headers, identify }
}

/** Not by `fetch`, which sends `Sec-Fetch-Mode: cors` in place of the given value. */
function getPage(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const { get } = url.startsWith('https:') ? https : http
  const signal = AbortSignal.timeout(ANSWER_MS)
  return new Promise((resolve, reject) => {
    get(url, { headers, signal, agent: false }, (response) => resolve(response.resume())).on('error', reject)
  })
}

function returnFinding({ siteUrl }: Config, identify: URL): Finding {
  const { ok, wrong } = about('return address')
  const returnTo = String(identify.searchParams.get('r'))
  if (returnTo.startsWith(`${siteUrl}/`)) return ok('Identify redirects back to siteUrl')
  const origin = URL.canParse(returnTo) ? new URL(returnTo).origin : 'no address'
  return wrong(
    `the return address is ${origin} and not siteUrl`,
    'give doctor and site the same siteUrl (SSO2_SITE_URL)',
  )
}

function cookieFinding({ cookies, isSecure }: Config, lines: readonly string[]): Finding {
  const { ok, note, wrong } = about('cookies')
  const nameOf = (line: string) => line.slice(0, line.indexOf('='))
  const isOurs = (name: string) => name.endsWith('.b') && name.startsWith('__Host-') === isSecure
  const line = lines.find((text) => nameOf(text) === cookies.binding) ?? lines.find((text) => isOurs(nameOf(text)))
  if (!line) return wrong(`the cookie ${cookies.binding} does not arrive`, 'the proxy must pass Set-Cookie on')
  const name = nameOf(line)
  const wanted = ['HttpOnly', 'SameSite=Lax', 'Path=/', ...(isSecure ? ['Secure'] : [])]
  const parts = line.split(';').map((part) => part.trim().toLowerCase())
  const missing = wanted.filter((flag) => !parts.includes(flag.toLowerCase()))
  if (missing.length > 0 || parts.some((part) => part.startsWith('domain=')))
    return wrong(
      `a proxy changes the cookie ${name} (${missing.join(', ') || 'Domain'})`,
      'remove the rules of the proxy that rewrite cookies, such as proxy_cookie_domain or proxy_cookie_flags',
    )
  const says = `${name}: ${wanted.join(', ')}`
  return name === cookies.binding
    ? ok(says)
    : note(
        `${says}. The expected name is ${cookies.binding}`,
        'if session.cookieName is set in code: --module ./sso.js',
      )
}

function cacheFinding(cacheControl: string): Finding {
  const { ok, wrong } = about('caches')
  return cacheControl.includes('no-store')
    ? ok('Cache-Control: no-store arrives')
    : wrong(
        'Cache-Control: no-store does not arrive: a cache would give the redirect of one visitor to all',
        'the proxy or CDN must not change Cache-Control',
      )
}
