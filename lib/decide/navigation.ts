/**
 * Classifies requests: page loads, which can follow a redirect through Identify; readers of a refusal; crawlers; POSTs of other sites.
 * Pure. Threats F1, R9.
 */
import { createIsbotFromList, list } from 'isbot'

/** Method and headers of a request, as Node gives them. */
export interface RequestShape {
  readonly method: string
  readonly accept?: string | undefined
  readonly secFetchMode?: string | undefined
  readonly secFetchDest?: string | undefined
  readonly secFetchSite?: string | undefined
  /** `Sec-Purpose`, or the older `Purpose` and `X-Moz`. */
  readonly purpose?: string | undefined
  /** Has htmx sent the request (`HX-Request`)? */
  readonly isOfHtmx?: boolean
  /** Has a frame of Turbo sent the request (`Turbo-Frame`)? */
  readonly isOfTurboFrame?: boolean
}

/** Is the request a prefetch or prerender, which must consume nothing? */
export function isPrefetch({ purpose }: Pick<RequestShape, 'purpose'>): boolean {
  return purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)
}

const FRAMES: ReadonlySet<string | undefined> = new Set(['iframe', 'frame', 'embed', 'object'])

/**
 * Returns where the browser shows the answer. `undefined`: the request is no navigation. A service worker passes a navigation on as `empty`.
 * Without a destination `Accept` decides, because no browser of today leaves it out.
 */
function destinationOf({ secFetchMode, secFetchDest, accept }: RequestShape): 'document' | 'frame' | undefined {
  if (secFetchDest === undefined) return acceptsPage(accept) ? 'document' : undefined
  if (secFetchDest === 'document' || (secFetchDest === 'empty' && secFetchMode === 'navigate')) return 'document'
  return FRAMES.has(secFetchDest) ? 'frame' : undefined
}

/** Does `Accept` list HTML by name, and no JSON before it? `*` is what programs send. */
export function acceptsPage(accept = ''): boolean {
  const html = accept.search(/(?:^|,)\s*text\/html\s*(?:[;,]|$)/i)
  const json = accept.search(/[/+]json\s*(?:[;,]|$)/i)
  return html >= 0 && (json < 0 || html < json)
}

/** Is the request the GET of a top-level page, or its prefetch? Chromium sends `<link rel="prefetch">` as no navigation, but accepts HTML. */
export function isPageRequest(shape: RequestShape): boolean {
  if (shape.method !== 'GET') return false
  const isHint = isPrefetch(shape) && shape.secFetchMode === 'no-cors' && shape.secFetchDest === 'empty'
  return destinationOf(shape) === 'document' || (isHint && acceptsPage(shape.accept))
}

/**
 * Who reads the answer to a request that is refused. `page`: a page load. `form`: a person has sent a form. `frame`: a page of the site in a
 * frame. `htmx`, `turbo_frame`: a library puts the answer into the page. `script`: everything else.
 */
export type Reader = 'page' | 'form' | 'frame' | 'htmx' | 'turbo_frame' | 'script'

/** Says who reads the answer. A form that Turbo sends is shown as a page. */
export function readerOf(shape: RequestShape): Reader {
  if (shape.isOfHtmx) return 'htmx'
  if (shape.isOfTurboFrame) return 'turbo_frame'
  const destination = destinationOf(shape)
  if (destination === 'frame') return /^same-/.test(shape.secFetchSite ?? '') ? 'frame' : 'script'
  if (shape.method === 'GET') return destination === 'document' && !isPrefetch(shape) ? 'page' : 'script'
  const isForm = shape.method === 'POST' && destination === 'document'
  return isForm || shape.accept?.includes('text/vnd.turbo-stream.html') ? 'form' : 'script'
}

/**
 * User agents with words that newspapers give to their own apps, and the browsers of a site's own tests. isbot takes some of them for bots, so
 * its patterns for them are left out. It keeps the names of crawlers, and what they say of themselves.
 */
const APPS = [
  'News/3',
  'DailyNews/3.1',
  'Daily News 3.1 (iPhone; iOS 18.1)',
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

/** Does a crawler or program announce itself? */
export const isAnnouncedCrawler = (userAgent: string | undefined): boolean => isCrawler(userAgent)

interface Sender {
  readonly secFetchSite: string | undefined
  readonly origin: string | undefined
}

/**
 * Does a page of the site send the POST? `Sec-Fetch-Site` must be `same-origin`.
 * Without the header, `Origin` must be the site's. A request without both headers is refused.
 * @param siteOrigin from configuration, never from the Host header
 */
export function isSameOriginPost({ secFetchSite, origin }: Sender, siteOrigin: string): boolean {
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin'
  return origin === siteOrigin
}

/**
 * Does a browser send this POST for a page of another site? Then the browser keeps `SameSite=Lax` cookies back, so a request without our
 * cookie may come from a browser with a session. A request without both headers is of no browser.
 */
export function isCrossSitePost({ secFetchSite, origin, method }: Sender & { method: string }, siteOrigin: string) {
  if (method !== 'POST') return false
  if (secFetchSite !== undefined) return secFetchSite === 'cross-site'
  return origin !== undefined && origin !== siteOrigin
}
