/** Classifies requests: document navigations, which can follow a redirect through Identify, and same-origin POSTs. Pure. Threats F1, R9. */

/** Method and headers of a request, as Node gives them. */
export interface RequestShape {
  readonly method: string
  readonly accept: string | undefined
  readonly secFetchDest: string | undefined
  /** `Sec-Purpose`, or the older `Purpose` and `X-Moz`. */
  readonly purpose: string | undefined
}

/** Is the request a prefetch or prerender, which must consume nothing? */
export function isPrefetch({ purpose }: Pick<RequestShape, 'purpose'>): boolean {
  return purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)
}

/**
 * Is the request a navigation of a top-level document, but not a prefetch?
 * A navigation is a GET with `Sec-Fetch-Dest: document`. Without the header, `Accept` must begin with `text/html`.
 */
export function isDocumentNavigation(shape: RequestShape): boolean {
  if (shape.method !== 'GET' || isPrefetch(shape)) return false
  if (shape.secFetchDest !== undefined) return shape.secFetchDest === 'document'
  return /^\s*text\/html/i.test(shape.accept ?? '')
}

/**
 * Does a page of the site send the POST? `Sec-Fetch-Site` must be `same-origin`.
 * Without the header, `Origin` must be the site's. A request without both headers is refused.
 * @param siteOrigin from configuration, never from the Host header
 */
export function isSameOriginPost(
  headers: { readonly secFetchSite: string | undefined; readonly origin: string | undefined },
  siteOrigin: string,
): boolean {
  if (headers.secFetchSite !== undefined) return headers.secFetchSite === 'same-origin'
  return headers.origin === siteOrigin
}
