/** The running site as a browser meets it: landing page, the redirect of a first visit, its cookies, the proxy in front. */
import type { Config } from '../config'
import { MAX_BODY_BYTES } from '../remote/http'
import { about, codeOf, type Finding } from './doctor-finding'

const ANSWER_MS = 5000
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

async function get(url: string): Promise<Response> {
  const headers = {
    accept: 'text/html',
    'sec-fetch-dest': 'document',
    'sec-fetch-mode': 'navigate',
    'user-agent': AGENT,
  }
  const answer = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
  if (Number(answer.headers.get('content-length') ?? 0) <= MAX_BODY_BYTES) await answer.body?.cancel()
  return answer
}

/** Landing page, first visit, cookies. */
export async function* siteFindings(config: Config): AsyncGenerator<Finding> {
  yield await landing(config)
  try {
    const page = config.identify === 'always' ? '/' : config.routes.login || '/'
    yield* firstVisit(config, await get(config.siteUrl + page))
  } catch (error) {
    yield about('first visit').wrong(`no answer from the site: ${codeOf(error)}`)
  }
}

/** Without a token the landing page answers 400 under our headers; anything else is not ours. */
async function landing({ siteUrl, routes }: Config): Promise<Finding> {
  const { ok, note, wrong } = about('landing page')
  if (routes.landing === false) return note('switched off by routes.landing')
  const url = siteUrl + routes.landing
  try {
    const { status, headers } = await get(url)
    const isOurs = status === 400 && headers.get('referrer-policy') === 'no-referrer'
    if (isOurs) return ok(`${url} is this package's; it must be the landing page of the API client in the admin portal`)
    return wrong(`${url} answers HTTP ${status}: is sso mounted there, and does the proxy pass it on?`)
  } catch (error) {
    return wrong(`${url} cannot be reached: ${codeOf(error)}`)
  }
}

function* firstVisit(config: Config, { status, headers }: Response): Generator<Finding> {
  const { ok, wrong } = about('first visit')
  const location = headers.get('location') ?? ''
  const address = URL.canParse(location) ? new URL(location) : undefined
  const isIdentify = address?.href.startsWith(`${config.ssoUrl.replace(/\/+$/, '')}/identify?`) === true
  if (!isIdentify) return yield wrong(`HTTP ${status}, and not the way to Identify: is sso mounted before the pages?`)
  yield ok(`HTTP ${status} to Identify`)
  yield returnFinding(config, address?.searchParams.get('r') ?? '')
  yield cookieFinding(config, headers.getSetCookie())
  yield cacheFinding(headers.get('cache-control') ?? '')
}

function returnFinding({ siteUrl }: Config, returnTo: string): Finding {
  const { ok, wrong } = about('return address')
  return returnTo.startsWith(`${siteUrl}/`) ? ok('leads back to siteUrl') : wrong('leads elsewhere than to siteUrl')
}

function cookieFinding({ cookies, isSecure }: Config, lines: readonly string[]): Finding {
  const { ok, wrong } = about('cookies')
  const line = lines.find((text) => text.startsWith(`${cookies.binding}=`))
  if (!line) return wrong(`no cookie ${cookies.binding}: does the proxy drop Set-Cookie?`)
  const wanted = ['HttpOnly', 'SameSite=Lax', 'Path=/', ...(isSecure ? ['Secure'] : [])]
  const parts = line.split(';').map((part) => part.trim().toLowerCase())
  const missing = wanted.filter((flag) => !parts.includes(flag.toLowerCase()))
  if (missing.length > 0 || parts.some((part) => part.startsWith('domain=')))
    return wrong(
      `${cookies.binding} came changed (${missing.join(', ') || 'Domain'}): what rewrites it in front of the site?`,
    )
  return ok(`${cookies.binding}: ${wanted.join(', ')}`)
}

function cacheFinding(cacheControl: string): Finding {
  const { ok, wrong } = about('proxy')
  return cacheControl.includes('no-store')
    ? ok("keeps Cache-Control: no-store; set Express' trust proxy to what stands in front of the site")
    : wrong(
        'our Cache-Control: no-store is gone: a cache in front of the site would share one visitor’s redirect with all',
      )
}
