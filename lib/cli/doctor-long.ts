/** The longest address that goes through Identify: what stands in front may have no room for it, there or back. */
import type { Config } from '../config'
import { DOCTOR_HEADER, makeDoctorSignature } from '../decide/doctor-protocol'
import { MAX_RETURN_LENGTH } from '../decide/return-to'
import { about, codeOf, type Finding } from './doctor-finding'
import { visit } from './doctor-visit'

const ANSWER_MS = 5000
/** A list of numbers in a query: harmless, and twice as long once it is encoded. */
const UNIT = '1,'
/** In the place of the Session Token, which comes with a real landing. */
const TOKEN = 'x'.repeat(600)

const FOR_REQUESTS = 'nginx: large_client_header_buffers 4 16k;   in http, or in the default server'
const FOR_ANSWERS = 'nginx: proxy_buffer_size 16k; proxy_buffers 8 16k;'

const { ok, note } = about('long addresses')
const SAYS = `a page with an address of ${MAX_RETURN_LENGTH} characters`

/** Nothing is said where a short address does not go through Identify either. */
export async function* longFindings(config: Config): AsyncGenerator<Finding> {
  try {
    const path = longPath(config)
    const { status, identify } = await visit(config, path)
    const problem = refusal(status)
    if (problem) return yield problem
    if (!identify) return
    const back = await land(config, config.siteUrl + path)
    yield TOO_LONG.has(back)
      ? note(`${SAYS}, on its way back from Identify, is answered with HTTP ${back}`, FOR_REQUESTS)
      : ok(`${SAYS} goes through Identify`)
  } catch (error) {
    yield note(`${SAYS} gets no answer: ${codeOf(error)}`, FOR_REQUESTS)
  }
}

function longPath({ identify, routes, siteUrl }: Config): string {
  const start = `${identify === 'always' ? '/' : routes.login || '/'}?doctor=`
  return start + UNIT.repeat(MAX_RETURN_LENGTH).slice(0, MAX_RETURN_LENGTH - siteUrl.length - start.length)
}

/** URI Too Long, Request Header Fields Too Large. */
const TOO_LONG = new Set([414, 431])

/** A gateway that fails has met an answer which it has no room for. Any other status has to do with more than length. */
function refusal(status: number): Finding | undefined {
  if (TOO_LONG.has(status)) return note(`${SAYS} is answered with HTTP ${status}`, FOR_REQUESTS)
  return status === 502
    ? note(`${SAYS}, on its way to Identify, is answered with HTTP ${status}`, FOR_ANSWERS)
    : undefined
}

/** The landing page as Identify leads to it, but for the token: it tells who has the site's secret that it was reached. */
async function land({ siteUrl, routes, macKeys }: Config, page: string): Promise<number> {
  const url = `${siteUrl}${routes.landing || '/'}?doctor=${TOKEN}&r=${encodeURIComponent(page)}`
  const headers = { [DOCTOR_HEADER]: makeDoctorSignature(macKeys(), Math.floor(Date.now() / 1000)) }
  const { status, body } = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
  await body?.cancel()
  return status
}
