/**
 * Follows a redirect to Identify and reads the landing page (the callback URL) that the platform uses.
 * Leaves an anonymous session in the SSO system.
 */
import type { Config } from '../config'
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../errors'
import { type Answer, sendCall } from '../remote/http'
import type { Sso2Client } from '../remote/sso2'
import { about, type Finding, ofFailedCall } from './doctor-finding'

const ANSWER_MS = 5000
const { ok, note, wrong } = about('landing page')

/** Compares the platform's landing page with the site's. */
export async function identifyFinding(config: Config, client: Sso2Client): Promise<Finding> {
  const url = client.identifyUrl(`${config.siteUrl}/`)
  try {
    const headers = { accept: 'text/html' }
    const call = {
      operation: 'identify',
      url,
      method: 'GET',
      headers,
      timeoutMs: ANSWER_MS,
      takesRedirect: true,
    } as const
    return identifyResponseFinding(config, client, url, await sendCall(call))
  } catch (error) {
    const isKnown = error instanceof Sso2UnavailableError || error instanceof Sso2ResponseError
    return ofFailedCall(error, url, wrong(`Identify cannot be asked: ${isKnown ? error.message : 'failed'}`))
  }
}

function identifyResponseFinding(
  config: Config,
  client: Sso2Client,
  url: string,
  { status, headers }: Answer,
): Finding {
  const location = headers.get('location') ?? ''
  if (status < 300 || status > 399 || !URL.canParse(location, url))
    return wrong(
      `Identify answers HTTP ${status} and leads nowhere`,
      headers.has('x-sso2-emulator') && status === 404
        ? `SSO2_URL=${new URL(url).origin}/sso   is the emulator's`
        : 'ssoUrl (SSO2_URL), client ID, secret and clock: see above',
    )
  const landing = new URL(location, url)
  const place = landing.origin + landing.pathname
  const leads = `HTTP ${status} to ${place}`
  return compare(config, place, leads, headers) ?? sessionTokenFinding(client, landing.searchParams.get('t'), leads)
}

/** @returns undefined if the platform and the site use the same landing page */
function compare(config: Config, place: string, leads: string, headers: Answer['headers']): Finding | undefined {
  const { siteUrl, routes, clientId } = config
  if (routes.landing === false)
    return note(`Identify leads by ${leads}; routes.landing is false, so the site must serve it itself`)
  const own = siteUrl + routes.landing
  if (place === own) return undefined
  const isEmulator = headers.has('x-sso2-emulator')
  const portal = isEmulator
    ? `express-sso2 emulator --site ${siteUrl}   sets it`
    : `admin portal, API client "${clientId}", landing page: ${own}`
  return wrong(
    `Identify leads by ${leads}, but the site's landing page is ${own}: nobody comes back`,
    `${portal}   or, where the platform is right, ${setting(siteUrl, routes.landing, place)}`,
  )
}

/** Returns the setting that changes the site's landing page to the platform's. */
function setting(siteUrl: string, landing: string, place: string): string {
  if (place.startsWith(`${siteUrl}/`)) return `sso2({ routes: { landing: '${place.slice(siteUrl.length)}' } })`
  const isSameRoute = place.endsWith(landing)
  return `SSO2_SITE_URL=${isSameRoute ? place.slice(0, -landing.length) : new URL(place).origin}`
}

function sessionTokenFinding(client: Sso2Client, token: string | null, leads: string): Finding {
  try {
    const { err } = client.readLanding(token)
    return err === undefined
      ? ok(`Identify leads to the site's: ${leads}`)
      : wrong(`Identify leads to the site's (${leads}), with the error ${err}`)
  } catch (error) {
    const reason = error instanceof TokenError ? error.reason : 'malformed'
    const line = reason === 'expired' || reason === 'not_yet_valid' ? 'see clock' : 'see client'
    return wrong(`Identify leads to the site's (${leads}), whose token is refused there (${reason}): ${line}`)
  }
}
