/**
 * Classifies requests: page loads, which can follow a redirect through Identify; readers of a refusal; crawlers; POSTs of other sites.
 * Pure. Threats F1, R9.
 */
import { createIsbotFromList, list } from 'isbot'

/** Method and headers of a request, as Node gives them. */
export interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Is the request a prefetch or prerender, which must consume nothing? */
export function isPrefetch({ headers }: Sent): boolean {
  const purposes = [headers['sec-purpose'], headers['purpose'], headers['x-moz']]
  return /prefetch|prerender|preview/i.test(purposes.join(' '))
}

const FRAMES: ReadonlySet<unknown> = new Set(['iframe', 'frame', 'embed', 'object'])

/**
 * Returns where the browser shows the answer. `undefined`: the request is no navigation. A service worker passes a navigation on as `empty`.
 * Without a destination `Accept` decides, because no browser of today leaves it out.
 */
function destinationOf(request: Sent): 'document' | 'frame' | undefined {
  const { 'sec-fetch-dest': destination, 'sec-fetch-mode': mode } = request.headers
  if (destination === undefined) return acceptsHtml(request) ? 'document' : undefined
  if (destination === 'document' || (destination === 'empty' && mode === 'navigate')) return 'document'
  return FRAMES.has(destination) ? 'frame' : undefined
}

/** Does `Accept` list HTML by name, and no JSON before it? `*` is what programs send. */
function acceptsHtml({ headers: { accept = '' } }: Sent): boolean {
  const html = String(accept).search(/(?:^|,)\s*text\/html\s*(?:[;,]|$)/i)
  const json = String(accept).search(/[/+]json\s*(?:[;,]|$)/i)
  return html >= 0 && (json < 0 || html < json)
}

/** Is the request the GET of a top-level page, or its prefetch? Chromium sends `<link rel="prefetch">` as no navigation, but accepts HTML. */
export function isForPage(request: Sent): boolean {
  if (request.method !== 'GET') return false
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = request.headers
  const isHint = mode === 'no-cors' && destination === 'empty' && isPrefetch(request)
  return destinationOf(request) === 'document' || (isHint && acceptsHtml(request))
}

/**
 * Who reads the answer to a request that is refused. `page`: a page load. `form`: a person has sent a form. `frame`: a page of the site in a
 * frame. `script`: everything else, as htmx and Turbo, which put an answer into the page.
 */
export type Reader = 'page' | 'form' | 'frame' | 'script'

/** Says who reads the answer. A form that Turbo sends is shown as a page. */
export function readerOf(request: Sent): Reader {
  const { method, headers } = request
  if (headers['hx-request'] === 'true' || headers['turbo-frame'] !== undefined) return 'script'
  const destination = destinationOf(request)
  if (destination === 'frame') return /^same-/.test(String(headers['sec-fetch-site'])) ? 'frame' : 'script'
  if (method === 'GET') return destination === 'document' && !isPrefetch(request) ? 'page' : 'script'
  const isForm = method === 'POST' && destination === 'document'
  return isForm || headers['accept']?.includes('text/vnd.turbo-stream.html') ? 'form' : 'script'
}

/**
 * User agents with words that newspapers give to their own apps, and the browsers of a site's own tests. isbot takes some of them for bots, so
 * its patterns for them are left out. It keeps the names of crawlers, and what they say of themselves.
 */
const APPS = [
  'News/3',
  'Reader/3.1 (Android 15)',
  'TrackerRSS/2 (Android 15)',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Cypress/15.0.0',
  `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MorningFeed Radar RSS/2
    NewsTools Archive Library Insight Monitor Search Check Checker Discovery Preview Scan Detect Capture Catch Download Audit Measure Advisor`,
]
const isCrawler = createIsbotFromList(
  list.filter((pattern) => {
    const expression = new RegExp(pattern, 'i')
    return !APPS.some((app) => expression.test(app))
  }),
)

/** The default of `shouldIdentify`: a request for a page, not by a crawler or program that announces itself. */
export const isForPageOfPerson = (request: Sent): boolean =>
  isForPage(request) && !isCrawler(request.headers['user-agent']?.toString())

/**
 * Does a page of the site send the POST? `Sec-Fetch-Site` must be `same-origin`.
 * Without the header, `Origin` must be the site's. A request without both headers is refused.
 * @param siteOrigin from configuration, never from the Host header
 */
export function isSameOriginPost({ headers: { 'sec-fetch-site': sender, origin } }: Sent, siteOrigin: string): boolean {
  return sender === undefined ? origin === siteOrigin : sender === 'same-origin'
}

/**
 * Does a browser send this POST for a page of another site? Then the browser keeps `SameSite=Lax` cookies back, so a request without our
 * cookie may come from a browser with a session. A request without both headers is of no browser.
 */
export function isCrossSitePost({ method, headers }: Sent, siteOrigin: string): boolean {
  const { 'sec-fetch-site': sender, origin } = headers
  if (method !== 'POST') return false
  return sender === undefined ? origin !== undefined && origin !== siteOrigin : sender === 'cross-site'
}
