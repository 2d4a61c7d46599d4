/** Which POSTs are taken: same-origin ones only. Pure. Threat F1. */

/**
 * `Sec-Fetch-Site: same-origin`, else `Origin` equal to the site's; both absent is refused.
 * @param siteOrigin from configuration, never from the Host header
 */
export function isSameOriginPost(
  headers: { readonly secFetchSite: string | undefined; readonly origin: string | undefined },
  siteOrigin: string,
): boolean {
  if (headers.secFetchSite !== undefined) return headers.secFetchSite === 'same-origin'
  return headers.origin === siteOrigin
}
