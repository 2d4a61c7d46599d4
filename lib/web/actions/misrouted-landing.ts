/**
 * A landing that meets no router: the SSO system leads to another page of the site, or the router stands behind the middleware, or is
 * not mounted. Another trip would end in the same place, so the page is served, and the operator is told what it is.
 */
import { LOG_LINES } from '../../decide/log-lines'
import { queryOf } from '../http/request-facts'
import type { RequestContext } from '../request-context'

/** Every token begins with these letters: nearly all requests are known by them to be no landing. */
const TOKEN_PREFIX = 't=eyJ'

/** Is this such a landing? Only a good token says so: nobody can make one up. */
export function isMisroutedLanding({ site, req, isMounted }: RequestContext): boolean {
  const target = req.originalUrl ?? req.url
  if (!target.includes(TOKEN_PREFIX)) return false
  try {
    site.client.readLanding(queryOf(req).get('t'))
  } catch {
    return false
  }
  const { landing } = site.config.routes
  if (landing !== false) logMisroutedLanding(site, (target.split('?', 1)[0] ?? '').slice(0, 200), isMounted, landing)
  return true
}

function logMisroutedLanding(
  { config }: RequestContext['site'],
  path: string,
  isMounted: boolean,
  landing: string,
): void {
  const own = (isMounted ? config.mountPath : '') + landing
  const { landingUnrouted, landingElsewhere } = LOG_LINES
  const found = `The SSO system redirects browsers to ${path}`
  const line =
    path === own
      ? { ...landingUnrouted, happened: `${found}, the landing page, but no router handles it` }
      : { ...landingElsewhere, happened: `${found}, but the landing page of this site is ${own}` }
  config.log.warn(path === own ? 'landing:router' : 'landing:path', line)
}
