/** Which requests can follow a redirect through Identify. Pure. Threat R9. */

/** The headers that tell, as Node gives them. */
export interface RequestShape {
  readonly method: string
  readonly accept: string | undefined
  readonly secFetchDest: string | undefined
  /** `Sec-Purpose`, or the older `Purpose` and `X-Moz`. */
  readonly purpose: string | undefined
}

/** Is this a prefetch or prerender, which must consume nothing? */
export function isPrefetch({ purpose }: Pick<RequestShape, 'purpose'>): boolean {
  return purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)
}

/**
 * Is this a navigation of a top-level document: GET, `Sec-Fetch-Dest: document`, or without that header an
 * `Accept` that begins with `text/html`; and no prefetch?
 */
export function isDocumentNavigation(shape: RequestShape): boolean {
  if (shape.method !== 'GET' || isPrefetch(shape)) return false
  if (shape.secFetchDest !== undefined) return shape.secFetchDest === 'document'
  return /^\s*text\/html/i.test(shape.accept ?? '')
}
