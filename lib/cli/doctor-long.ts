/** Checks that the longest accepted address passes through Identify, because a proxy can limit URLs and response headers. */
import type { Config } from '../config'
import { DOCTOR_HEADER, makeDoctorSignature } from '../decide/doctor-protocol'
import { MAX_RETURN_LENGTH } from '../decide/return-to'
import { about, errorCode, type Finding } from './doctor-finding'
import { landingAddress } from './doctor-site'
import { requestPage } from './doctor-visit'

const ANSWER_MS = 5000
/** Part of a query with commas, which need three characters each when they are encoded. */
const UNIT = '1,'
/** Takes the place of the Session Token of a real callback. */
const TOKEN = 'x'.repeat(600)

const FOR_REQUESTS = 'nginx: large_client_header_buffers 4 16k;   in http, or in the default server'
const FOR_ANSWERS = 'nginx: proxy_buffer_size 16k; proxy_buffers 8 16k;'

const { ok, note } = about('long addresses')
const SAYS = `a page with an address of ${MAX_RETURN_LENGTH} characters`

/** Says that the check is left out. Without a proxy there is nothing to check. */
export const longUnasked = (isBehindProxy: boolean): Finding[] =>
  isBehindProxy
    ? [
        note(
          'not checked, because access logs would get lines of 5,000 characters',
          'express-sso2 doctor --long-addresses   once',
        ),
      ]
    : []

/** Yields no finding if the page does not redirect to Identify. */
export async function* longFindings(config: Config): AsyncGenerator<Finding> {
  try {
    const path = longPath(config)
    const { status, identify } = await requestPage(config, path)
    const problem = refusalFinding(status)
    if (problem) return yield problem
    if (!identify) return
    const back = await land(config, config.siteUrl + path)
    yield TOO_LONG.has(back)
      ? note(`${SAYS} gets HTTP ${back} when Identify redirects back to the site`, FOR_REQUESTS)
      : ok(`${SAYS} passes through Identify`)
  } catch (error) {
    yield note(`${SAYS}: no answer (${errorCode(error)})`, FOR_REQUESTS)
  }
}

function longPath({ identify, routes, siteUrl }: Config): string {
  const start = `${identify === 'always' ? '/' : routes.login || '/'}?doctor=`
  return start + UNIT.repeat(MAX_RETURN_LENGTH).slice(0, MAX_RETURN_LENGTH - siteUrl.length - start.length)
}

/** HTTP 414 URI Too Long and 431 Request Header Fields Too Large. */
const TOO_LONG = new Set([414, 431])

/**
 * Returns a finding if a proxy has limited the length.
 * A 502 means that the site's response headers were too long for the proxy. Other statuses have other causes.
 */
function refusalFinding(status: number): Finding | undefined {
  if (TOO_LONG.has(status)) return note(`${SAYS} gets HTTP ${status}`, FOR_REQUESTS)
  return status === 502
    ? note(`${SAYS} gets HTTP ${status} when the site redirects to Identify`, FOR_ANSWERS)
    : undefined
}

/**
 * Requests the landing page as Identify would, with a placeholder for the token.
 * The doctor's signature, made with `sessionSecret`, lets the landing page confirm that the request arrived.
 */
async function land(config: Config, page: string): Promise<number> {
  const url = `${landingAddress(config)}?doctor=${TOKEN}&r=${encodeURIComponent(page)}`
  const headers = { [DOCTOR_HEADER]: makeDoctorSignature(config.macKeys(), Math.floor(Date.now() / 1000)) }
  const { status, body } = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
  await body?.cancel()
  return status
}
