/**
 * Follows a redirect to Identify and reads the landing page (the callback URL) that the platform uses.
 * Leaves an anonymous session in the SSO system.
 */
import type { Config } from '../config'
import type { TokenError } from '../errors'
import { operationUrl } from '../protocol/requests'
import { type Answer, sendCall } from '../remote/http'
import type { Sso2Client } from '../remote/sso2-client'
import { about, callFailure, emulatorHelp, type Finding, ofFailedCall } from './doctor-finding'

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
      agent: config.agent,
    } as const
    return identifyResponseFinding(config, client, url, await sendCall(call))
  } catch (error) {
    const says = `GET ${operationUrl(config.ssoUrl, 'identify')}: ${callFailure(error)}`
    return ofFailedCall(error, url, wrong(says, emulatorHelp(error)))
  }
}

function identifyResponseFinding(
  config: Config,
  client: Sso2Client,
  url: string,
  { status, headers }: Answer,
): Finding {
  const location = headers.location ?? ''
  if (status < 300 || status > 399 || !URL.canParse(location, url))
    return wrong(
      `Identify answers HTTP ${status} without a redirect`,
      headers['x-sso2-emulator'] !== undefined && status === 404
        ? `SSO2_URL=${new URL(url).origin}/sso   for the emulator`
        : 'check ssoUrl (SSO2_URL), client ID, secret and clock in the lines above',
    )
  const landing = new URL(location, url)
  const place = landing.origin + landing.pathname
  const redirect = `HTTP ${status} to ${place}`
  return (
    compare(config, place, redirect, headers) ?? sessionTokenFinding(client, landing.searchParams.get('t'), redirect)
  )
}

/** @returns undefined if the platform and the site use the same landing page */
function compare(config: Config, place: string, redirect: string, headers: Answer['headers']): Finding | undefined {
  const { siteUrl, routes, clientId } = config
  if (routes.landing === false)
    return note(`Identify redirects with ${redirect}; routes.landing is false, so the site must serve this page itself`)
  const own = siteUrl + routes.landing
  if (place === own) return undefined
  const isEmulator = headers['x-sso2-emulator'] !== undefined
  const portal = isEmulator
    ? `express-sso2 emulator --site ${siteUrl}`
    : `set the landing page of API client "${clientId}" in the admin portal to ${own}`
  return wrong(
    `Identify redirects with ${redirect}, but the landing page of the site is ${own}: browsers do not return to it`,
    `${portal}   or, if the platform is right, ${setting(siteUrl, routes.landing, place)}`,
  )
}

/** Returns the setting that changes the site's landing page to the platform's. */
function setting(siteUrl: string, landing: string, place: string): string {
  if (place.startsWith(`${siteUrl}/`)) return `sso2({ routes: { landing: '${place.slice(siteUrl.length)}' } })`
  const isSameRoute = place.endsWith(landing)
  return `SSO2_SITE_URL=${isSameRoute ? place.slice(0, -landing.length) : new URL(place).origin}`
}

function sessionTokenFinding(client: Sso2Client, token: string | null, redirect: string): Finding {
  try {
    const { err } = client.readLanding(token)
    return err === undefined
      ? ok(`Identify redirects to the landing page of the site: ${redirect}`)
      : wrong(`Identify redirects to the landing page of the site (${redirect}) with the error ${err}`)
  } catch (error) {
    const { reason } = error as TokenError // readLanding throws no other error
    const subject = reason === 'expired' || reason === 'not_yet_valid' ? 'clock' : 'client'
    return wrong(
      `Identify redirects to the landing page of the site (${redirect}) with a token that the site refuses (${reason})`,
      `see ${subject}`,
    )
  }
}
